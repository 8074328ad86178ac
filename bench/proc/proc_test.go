package proc

import (
	"os"
	"os/exec"
	"runtime"
	"slices"
	"testing"
)

func TestParseStat(t *testing.T) {
	for _, tt := range []struct {
		line        string
		pid, parent int
		ok          bool
	}{
		{"7 (cat) R 1 7 7", 7, 1, true},
		{"8 (a) b) S) S 2 8", 8, 2, true}, // a name that tries to look like fields
		{"9 cat R 1", 0, 0, false},
		{"", 0, 0, false},
		{"x (cat) R 1 7", 0, 0, false},
	} {
		pid, parent, err := parseStat(tt.line)
		if pid != tt.pid || parent != tt.parent || (err == nil) != tt.ok {
			t.Errorf("parseStat(%q) = %d, %d, %v", tt.line, pid, parent, err)
		}
	}
}

// The leak checks must see a leak.
func TestSeesWhatIsThere(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there is no /proc")
	}
	before, err := Files()
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if after, err := Files(); err != nil || after != before+2 {
		t.Errorf("a pipe makes %d descriptors of %d, %v", after, before, err)
	}

	// cat waits for input, so it still runs when we look.
	cmd := exec.Command("cat")
	cmd.Stdin = r
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for _, list := range []func(int) ([]int, error){Descendants, Leaves} {
		if pids, err := list(os.Getpid()); err != nil || !slices.Contains(pids, cmd.Process.Pid) {
			t.Errorf("%d is not in %v, %v", cmd.Process.Pid, pids, err)
		}
	}
	w.Close()
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if pids, err := Descendants(os.Getpid()); err != nil || slices.Contains(pids, cmd.Process.Pid) {
		t.Errorf("%d is still in %v, %v", cmd.Process.Pid, pids, err)
	}

	for name, read := range map[string]func() (int64, error){"RSS": RSS, "PSS": func() (int64, error) { return PSS(os.Getpid()) }} {
		if n, err := read(); err != nil || n < 1<<20 {
			t.Errorf("%s = %d, %v", name, n, err)
		}
	}
	if mounts, err := Mounts(); err != nil || mounts == "" {
		t.Errorf("no mounts: %v", err)
	}
	if _, err := Groups("cordon-"); err != nil {
		t.Error(err)
	}
}
