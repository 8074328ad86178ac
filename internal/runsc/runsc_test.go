package runsc

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/golden"
	"github.com/cordon-sandbox/cordon/internal/hostpath"
)

func TestBundle(t *testing.T) {
	s := Spec{
		ID: 1000, Dir: "/work", Program: 4, Passed: []Passed{{5, 3}, {6, 4}},
		Mounts: []Mount{
			{Path: "/tmp", Size: 16 << 20, NoExec: true},
			{Path: "/work", Source: Root + "/work"},
			{Path: "/data", Source: Root + "/data", ReadOnly: true},
		},
		Limits: map[string]uint64{"RLIMIT_NOFILE": 256, "RLIMIT_CORE": 0},
	}
	text, err := s.Configuration()
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/bundle.txt", strings.Join(s.Arguments(), "\n")+"\n\n"+text+"\n")
}

func TestFind(t *testing.T) {
	directory := t.TempDir()
	program := func(elements ...string) string {
		t.Helper()
		name := filepath.Join(append([]string{directory}, elements...)...)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, nil, 0o755)); err != nil {
			t.Fatal(err)
		}
		real, err := filepath.EvalSymlinks(name)
		if err != nil {
			t.Fatal(err)
		}
		return real
	}
	beside, onPath, named := program("bin", Name), program("path", Name), program("named")
	t.Setenv("PATH", filepath.Dir(onPath))
	cordon := filepath.Join(directory, "bin", "cordon")
	for _, tt := range []struct {
		name              string
		named, executable string
		guests            hostpath.Guests
		want, words       string
	}{
		{name: "named", named: named, executable: cordon, want: named},
		{name: "named, and not there", named: "/no/such/runsc", executable: cordon, words: Variable},
		{name: "named, and relative", named: "runsc", words: "write an absolute path"},
		{name: "beside cordon", executable: cordon, want: beside},
		{name: "on PATH", executable: "/nowhere/cordon", want: onPath},
		{name: "on PATH, where guests may write", executable: "/nowhere/cordon", guests: hostpath.Guests{filepath.Dir(onPath)}, words: "guests may write"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			found, err := find(tt.named, tt.executable, tt.guests)
			if tt.words != "" {
				if err == nil || !strings.Contains(err.Error(), tt.words) {
					t.Errorf("%s, %v", found.Path, err)
				}
				return
			}
			if err != nil || found.Path != tt.want {
				t.Errorf("%s, %v; want %s", found.Path, err, tt.want)
			}
		})
	}
	t.Setenv("PATH", "/nowhere")
	if _, err := find("", "/nowhere/cordon", nil); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "make runsc") {
		t.Error(err)
	}
}

func TestUnsupported(t *testing.T) {
	const log = `{"log":"compat.go:120] Unsupported syscall rseq(0x7ec7401e5be0,0x20). It is"}
{"log":"compat.go:120] Unsupported syscall perf_event_open(0x0,0x0). It is"}
{"log":"compat.go:120] Unsupported syscall ioctl(0x0,0x1). It is"}
{"log":"compat.go:120] Unsupported syscall ioctl(0x0,0x2). It is"}
{"log":"Unsupported syscall <b>(0x0)"} not JSON Unsupported syscall cut`
	if got := Unsupported([]byte(log)); !slices.Equal(got, []string{"perf_event_open", "ioctl"}) {
		t.Error(got)
	}
	if got := Unsupported(nil); got != nil {
		t.Error(got)
	}
}
