package containtest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/confine"
)

// usrAttempts try to change system files whose modes allow it: the guest is the user nobody,
// and restrictive modes would hide a writable mount.
func usrAttempts() []attempt {
	asGuest := proof{naked: true, uid: confine.Nobody}
	return []attempt{
		{name: "new file in an open directory of /usr", act: "create", params: map[string]any{"key": "open_directory"}, plant: plantInUsr, root: true, proof: asGuest},
		{name: "overwrite an open file of /usr", act: "open to write", params: map[string]any{"key": "open_file"}, plant: plantInUsr, root: true, proof: asGuest},
		{name: "writable mounts", act: "writable mounts", proof: naked},
	}
}

func plantInUsr(t *testing.T, s *scene) {
	directory, err := os.MkdirTemp("/usr/local", "cdn")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { removeAll(t, directory) })
	if err := os.Chmod(directory, 0o777); err != nil {
		t.Fatal(err)
	}
	s.params["open_directory"] = directory
	s.params["open_file"] = s.write(t, filepath.Join(directory, "file"), "the host's", 0o666)
}

// writableMounts looks for writable mounts other than those that a command may write to. Other
// attempts cover /proc and devices.
func writableMounts(p params) error {
	known := []string{p.text("workspace"), "/tmp", "/dev/shm", "/dev/pts", "/dev/tty", "/dev/console", "/proc"}
	known = append(known, confine.Devices...)
	data, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return broken("%v", err)
	}
	var seen, writable []string
	for line := range strings.Lines(string(data)) {
		fields := strings.Fields(line)
		if len(fields) < 6 {
			return broken("what is %q?", line)
		}
		path, options := fields[4], strings.Split(fields[5], ",")
		seen = append(seen, path)
		if !slices.Contains(options, "ro") && !slices.Contains(known, path) {
			writable = append(writable, path)
		}
	}
	switch {
	case !slices.Contains(seen, "/"):
		return broken("no root among %v", seen)
	case len(writable) > 0:
		fmt.Println(writable)
		return nil
	}
	return errors.New("none but its own")
}
