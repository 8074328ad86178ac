package containtest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

const fileWall = "files"

// fileAttempts try to reach files of the host.
func fileAttempts() []attempt {
	all := []attempt{
		{name: "shadow", sh: `must_fail grep -q root: /etc/shadow; held`, proof: nakedRoot},
		{name: "passwd of the host", sh: `must_fail grep -q '^root:' /etc/passwd; held`, proof: naked},
		{name: "groups of the host", sh: `must_fail grep -q '^root:' /etc/group; held`, proof: naked},
		{name: "world-readable canary", act: "read", params: map[string]any{"key": "canary_file"}, proof: naked},
		{name: "private canary of the caller", act: "read", params: map[string]any{"key": "private_file"}, proof: naked},
		{name: "key in the caller's home", act: "read", params: map[string]any{"key": "home_key"}, plant: plantHomeKey, proof: naked},
		{name: "private file of root in the workspace", act: "read", params: map[string]any{"key": "foreign_file"}, plant: plantForeignFile, root: true, proof: naked},
		{name: "host's temporary directory", act: "read", params: map[string]any{"key": "in_tmp"}, plant: plantIn("in_tmp", os.TempDir()), proof: naked},
		{name: "host's shared memory directory", act: "read", params: map[string]any{"key": "in_shm"}, plant: plantIn("in_shm", "/dev/shm"), proof: naked},
		{name: "above the workspace", act: "read", params: map[string]any{"path": "../secret"}, plant: plantBeside, proof: naked},
		{name: "far above the workspace", act: "climb", params: map[string]any{"key": "canary_file"}, proof: naked},
		{name: "existing symlink", act: "read", params: map[string]any{"path": "link"}, plant: plantLink, proof: naked},
		{name: "new symlink", act: "link and read", params: map[string]any{"key": "canary_file"}, proof: naked},
		{name: "symlink through /proc/self/root", sh: `ln -s /proc/self/root"$canary_file" l; must_fail cat l; held`, proof: naked},
		{name: "symlink to a directory of the host", sh: `ln -s "$directory" l; must_fail cat l/secret; held`, plant: plantBeside, proof: naked},
		{name: "rename out of the workspace", act: "rename out", plant: plantBeside, touched: besideTouched, proof: naked},
		{name: "hard link into the workspace", act: "hard link in", plant: plantGranted, proof: naked},
		{name: "write to a world-writable file", act: "write", params: map[string]any{"key": "writable_file"}, canary: true, proof: naked},
		{name: "write to a world-writable directory", sh: `must_fail touch "$writable_dir/x"; held`, canary: true, proof: naked},
		{name: "write beside the workspace", sh: `touch ../x; held`, plant: plantBeside, touched: besideTouched, proof: naked},
		{name: "overwrite a program", act: "open to write", params: map[string]any{"path": "/usr/bin/env"}, proof: nakedRoot},
		{name: "change the mode of a program", act: "chmod", params: map[string]any{"path": "/usr/bin/env"}, proof: nakedRoot},
		{name: "overwrite the attempt's own program", act: "write over itself", plant: plantVictim, proof: naked},
		{name: "handle of a file", act: "open by handle", plant: plantBeside, proof: nakedRoot},
		{name: "leaked descriptor", act: "descriptors", proof: naked},
		{name: "descriptor numbers up to 4096", act: "use descriptors", proof: naked},
		{name: "environment of the host", sh: `
must_fail sh -c 'env | grep -q "$env_name="'
for file in /proc/[0-9]*/environ; do must_fail sh -c 'tr "\0" "\n" < "$1" 2>&- | grep -q "^$env_name="' - "$file"; done; held`, proof: naked},
		{name: "watch a directory of the host", act: "watch", params: map[string]any{"key": "canary_file"}, proof: naked},
		{name: "only its own environment", act: "environment", proof: naked},
		{name: "working directory of the host", act: "read", params: map[string]any{"path": "contain_canary"}, plant: plantInCWD,
			proof: proof{relaxed: func(s *scene) { s.request.Command.Workspace = s.params["cwd"].(string) }}},
		{name: "symlinked workspace gives access only to its target", act: "read", params: map[string]any{"key": "canary_file"}, plant: plantLinkedWorkspace, proof: naked},
		{name: "no workspace", act: "read", params: map[string]any{"path": "secret"},
			plant: func(t *testing.T, s *scene) {
				s.write(t, filepath.Join(s.workspace, "secret"), s.secret, 0o644)
				s.request.Command.Workspace = ""
			}, proof: naked},
		{name: "socket without a grant", act: "dial", params: map[string]any{"network": "unix", "key": "unix_path"}, proof: naked},
	}
	for _, directory := range []string{"/", "/usr", "/usr/bin", "/bin", "/etc", "/etc/alternatives", "/dev", "/run", "/var", "/lib", "/sbin", "/home", "/root", "/opt"} {
		all = append(all, attempt{name: "new file in " + directory, act: "create", params: map[string]any{"path": directory}, proof: nakedRoot})
	}
	return inWall(fileWall, append(all, usrAttempts()...))
}

func inWall(wall string, all []attempt) []attempt {
	for i := range all {
		all[i].wall = wall
	}
	return all
}

func plantHomeKey(t *testing.T, s *scene) {
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp(home, ".cordon-canary-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { removeAll(t, dir) })
	s.params["home_key"] = s.write(t, filepath.Join(dir, ".ssh", "id_ed25519"), s.secret, 0o600)
}

// plantForeignFile creates a file in the workspace that belongs to another user.
func plantForeignFile(t *testing.T, s *scene) {
	name := s.write(t, filepath.Join(s.workspace, "foreign"), s.secret, 0o600)
	if err := os.Chown(name, 4321, 4321); err != nil {
		t.Fatal(err)
	}
	s.params["foreign_file"] = name
}

func plantIn(key, dir string) func(*testing.T, *scene) {
	return func(t *testing.T, s *scene) {
		name := filepath.Join(dir, "cdn-"+filepath.Base(s.directory)+"-"+filepath.Base(s.suite.directory))
		s.params[key] = s.write(t, name, s.secret, 0o644)
		t.Cleanup(func() { os.Remove(name) })
	}
}

func plantBeside(t *testing.T, s *scene) {
	s.write(t, "secret", s.secret, 0o644)
	s.write(t, filepath.Join(s.workspace, "mine"), "mine", 0o644)
	if err := os.Chmod(s.directory, 0o777); err != nil { // the mode must not act as a wall
		t.Fatal(err)
	}
}

func besideTouched(t *testing.T, s *scene, _ run.Result) string {
	entries, err := os.ReadDir(s.directory)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 2 {
		return fmt.Sprintf("there is something new beside the workspace: %v", entries)
	}
	return ""
}

func plantLink(t *testing.T, s *scene) {
	if err := os.Symlink(s.params["canary_file"].(string), filepath.Join(s.workspace, "link")); err != nil {
		t.Fatal(err)
	}
}

// plantGranted creates a file that may be read, on the workspace's file system.
func plantGranted(t *testing.T, s *scene) {
	s.params["granted"] = s.write(t, "granted/file", "granted", 0o644)
	s.grant(func(p *policy.Policy) { p.Read = append(p.Read, filepath.Join(s.directory, "granted")) })
}

func plantVictim(t *testing.T, s *scene) {
	victim := filepath.Join(s.directory, "victim")
	copyProgram(t, victim)
	s.params["victim"] = victim
	s.grant(func(p *policy.Policy) { p.Read = append(p.Read, victim) })
}

func plantInCWD(t *testing.T, s *scene) {
	dir := filepath.Join(s.directory, "cwd")
	s.write(t, filepath.Join(dir, "contain_canary"), s.secret, 0o644)
	s.params["cwd"] = dir
}

func plantLinkedWorkspace(t *testing.T, s *scene) {
	link := filepath.Join(s.directory, "linked")
	if err := os.Symlink(s.workspace, link); err != nil {
		t.Fatal(err)
	}
	s.request.Command.Workspace = link
}

var fileActs = map[string]act{
	"read":          func(p params) error { return readSecret(p.path()) },
	"climb":         climb,
	"link and read": linkAndRead,
	"rename out":    func(p params) error { return os.Rename("mine", "../taken") },
	"hard link in":  hardLinkIn,
	"write":         func(p params) error { return os.WriteFile(p.path(), []byte("owned"), 0o666) },
	"open to write": openToWrite,
	"chmod":         chmodSame,
	"write over itself": func(p params) error {
		return anyOf(map[string]error{
			"its path": overwrite(p.text("victim")), "its path in /proc": overwrite("/proc/self/root" + p.text("victim")),
		})
	},
	"open by handle":  openByHandle,
	"descriptors":     descriptors,
	"use descriptors": useDescriptors,
	"watch": func(p params) error {
		fd, err := unix.InotifyInit1(unix.IN_CLOEXEC)
		if err == nil {
			_, err = unix.InotifyAddWatch(fd, filepath.Dir(p.path()), unix.IN_ALL_EVENTS)
		}
		return err
	},
	"environment":     environment,
	"create":          create,
	"dial":            dial,
	"writable mounts": writableMounts,
}

// path returns the parameter "path", or else the parameter that "key" names.
func (p params) path() string {
	if key := p.text("key"); key != "" {
		return p.text(key)
	}
	return p.text("path")
}

func climb(p params) error {
	return readSecret(strings.Repeat("../", 40) + p.path())
}

func linkAndRead(p params) error {
	if err := os.Symlink(p.path(), "own"); err != nil {
		return broken("%v", err)
	}
	return readSecret("own")
}

// hardLinkIn links a read-only file into a writable directory.
func hardLinkIn(p params) error {
	if _, err := os.ReadFile(p.text("granted")); err != nil {
		return broken("%v", err)
	}
	if err := os.Link(p.text("granted"), "stolen"); err != nil {
		return err
	}
	return os.WriteFile("stolen", []byte("changed"), 0o644)
}

// openToWrite counts ETXTBSY as a success: the kernel checks for a running program after all
// walls, and on a busy host the program often runs.
func openToWrite(p params) error {
	file, err := os.OpenFile(p.path(), os.O_WRONLY, 0)
	if errors.Is(err, unix.ETXTBSY) {
		return nil
	}
	if err != nil {
		return err
	}
	return file.Close()
}

func chmodSame(p params) error {
	info, err := os.Stat(p.path())
	if err != nil {
		return broken("%v", err)
	}
	return os.Chmod(p.path(), info.Mode())
}

func overwrite(path string) error {
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = file.WriteAt([]byte{0x7f}, 0)
	return err
}

// openByHandle opens a file by handle, which bypasses all mounts.
func openByHandle(p params) error {
	handle, mount, err := unix.NameToHandleAt(unix.AT_FDCWD, "mine", 0)
	if err != nil {
		return err
	}
	_ = mount
	here, err := unix.Open(".", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return broken("%v", err)
	}
	fd, err := unix.OpenByHandleAt(here, handle, unix.O_RDONLY)
	if err != nil {
		return err
	}
	return unix.Close(fd)
}

// descriptors lists all inherited descriptors except the standard streams.
func descriptors(params) error {
	directory, err := os.Open("/proc/self/fd")
	if err != nil {
		return broken("%v", err)
	}
	names, err := directory.Readdirnames(-1)
	if err != nil {
		return broken("%v", err)
	}
	var inherited []string
	for _, name := range names {
		target, err := os.Readlink("/proc/self/fd/" + name)
		// The runtime of this program has an epoll and an event descriptor.
		if slices.Contains([]string{"0", "1", "2"}, name) || err != nil ||
			strings.HasPrefix(target, "anon_inode:[event") || strings.HasSuffix(target, "/fd") {
			continue
		}
		inherited = append(inherited, name+" → "+target)
	}
	if len(inherited) == 0 {
		return errors.New("nothing but the standard streams")
	}
	fmt.Println(inherited)
	return nil
}

// useDescriptors finds leaked descriptors without /proc.
func useDescriptors(p params) error {
	for fd := 3; fd < 4096; fd++ {
		var stat unix.Stat_t
		if unix.Fstat(fd, &stat) != nil {
			continue
		}
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0); err != nil {
			continue
		}
		if stat.Mode&unix.S_IFMT == unix.S_IFREG || stat.Mode&unix.S_IFMT == unix.S_IFDIR || stat.Mode&unix.S_IFMT == unix.S_IFSOCK {
			return nil
		}
	}
	return errors.New("no file, directory or socket among them")
}

// environment looks for variables that cordon does not set for a command: they come from the
// host.
func environment(p params) error {
	known := []string{"PATH", "HOME", "TMPDIR", "PWD", "USER", "LOGNAME", "SHELL", "LANG", "GIT_CONFIG_NOSYSTEM", actVariable, paramsVariable}
	var others []string
	for _, setting := range os.Environ() {
		if name, _, _ := strings.Cut(setting, "="); !slices.Contains(known, name) {
			others = append(others, name)
		}
	}
	if len(others) == 0 {
		return errors.New("nothing else is there")
	}
	fmt.Println(others)
	return nil
}

// create removes its file when it succeeds. The name is unique: other attempts do the same
// concurrently.
func create(p params) error {
	name := filepath.Join(p.path(), fmt.Sprintf("cordon-contain-canary-%d", os.Getpid()))
	file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(file.Close(), os.Remove(name))
}
