package jail

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

func fileOf(t *testing.T, path string, size int) {
	t.Helper()
	if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
		t.Fatal(err)
	}
}

const megabyte = 1 << 20

// watchOf returns a watch that takes its file systems as shrunk from now on.
func watchOf(roots ...string) *diskWatch {
	pass() // existing files are older
	w := newDiskWatch(roots, policy.Limits{Disk: megabyte, Files: 1000}, processes{proc: -1}, -1)
	pass() // later files are younger
	w.shrunk = func() (space, inodes int64) { return 2 * megabyte, 0 }
	w.accounted = false
	return w
}

// pass waits until the file system's clock has advanced.
func pass() {
	for now := time.Now(); !fileTime().After(now); {
	}
}

func TestDiskWatch(t *testing.T) {
	root, other := t.TempDir(), t.TempDir()
	fileOf(t, filepath.Join(root, "before"), 4*megabyte)
	w := watchOf(root)
	wants := func(over bool, words string) {
		t.Helper()
		if w.finalWalk(0); (w.over != "") != over {
			t.Error(words)
		}
	}
	wants(false, "what was there before is counted")
	if err := os.Symlink(other, filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	fileOf(t, filepath.Join(other, "outside"), 4*megabyte)
	wants(false, "what a link leads to is counted")
	if err := os.Mkdir(filepath.Join(root, "deep"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "deep/b"} {
		fileOf(t, filepath.Join(root, name), megabyte/3)
	}
	if err := os.Link(filepath.Join(root, "a"), filepath.Join(root, "deep/a")); err != nil {
		t.Fatal(err)
	}
	wants(false, "a file with two names is counted twice")
	sparse := filepath.Join(root, "sparse")
	fileOf(t, sparse, 0)
	if err := os.Truncate(sparse, 100*megabyte); err != nil {
		t.Fatal(err)
	}
	wants(false, "a file that takes no space is counted")
	// An existing file that has changed.
	shrunk := w.shrunk
	w.shrunk = func() (space, inodes int64) { return 0, 0 }
	if err := os.Chmod(filepath.Join(root, "before"), 0o644); err != nil {
		t.Fatal(err)
	}
	wants(false, "the file system has not shrunk")
	fileOf(t, filepath.Join(root, "c"), megabyte/2)
	wants(true, "the limit is passed and nobody says so")
	w.over, w.shrunk = "", shrunk
	if err := os.Remove(filepath.Join(root, "c")); err != nil {
		t.Fatal(err)
	}
	wants(true, "a file has changed, and the file system has shrunk")
}

// A single file can be granted, and a missing one is not an error.
func TestDiskWatchOfFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	w := watchOf(file, file+"gone")
	if w.finalWalk(0); w.over != "" {
		t.Error("a missing file is counted")
	}
	fileOf(t, file, 2*megabyte)
	if w.finalWalk(0); w.over == "" {
		t.Error("a granted file is not counted")
	}
	none := watchOf()
	if none.startWalk(); none.walking {
		t.Error("a walk starts although nothing can be written")
	}
}

// Space in directories that cannot be walked, because they are too deep or closed, is still
// counted.
func TestDiskWatchCountsUnwalkableDirectories(t *testing.T) {
	root := t.TempDir()
	directory := root
	for i := range walkDepth + 2 {
		directory = filepath.Join(directory, fmt.Sprint(i))
	}
	if err := os.MkdirAll(directory, 0o700); err != nil {
		t.Fatal(err)
	}
	w := watchOf(root)
	if w.finalWalk(0); w.over == "" {
		t.Error("a deep tree is taken for an empty one")
	}
	w = watchOf(root)
	w.shrunk = func() (space, inodes int64) { return 0, 0 }
	if w.finalWalk(0); w.over != "" {
		t.Error("a deep tree alone is over the limit")
	}
}

// A deleted file takes space as long as it is open.
func TestDiskWatchOfDeletedFiles(t *testing.T) {
	root := t.TempDir()
	w := watchOf(root)
	name := filepath.Join(root, "deleted")
	fileOf(t, name, 2*megabyte)
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	if w.finalWalk(0); w.over != "" {
		t.Error("an empty directory without processes is over the limit")
	}
	proc, err := unix.Open("/proc", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(proc)
	w.processes = processes{proc: proc}
	if w.finalWalk(0); w.over == "" {
		t.Error("a deleted file that is open is not counted")
	}
}

// A walk does not block the clocks.
func TestDiskWatchWalksConcurrently(t *testing.T) {
	root := t.TempDir()
	w := watchOf(root)
	fileOf(t, filepath.Join(root, "new"), 2*megabyte)
	w.startWalk()
	w.startWalk() // one at a time
	w.finishWalk(<-w.walked)
	if w.over == "" || w.walking {
		t.Errorf("over %q, walking %v", w.over, w.walking)
	}
}

// Another program may have used the file system's space. Lost space counts only together with
// what the command has written.
func TestDiskWatchIgnoresOtherPrograms(t *testing.T) {
	root := t.TempDir()
	name := filepath.Join(root, "before")
	fileOf(t, name, 4*megabyte)
	w := watchOf(root)
	w.accounted = true
	if err := os.Chmod(name, 0o644); err != nil {
		t.Fatal(err)
	}
	if w.finalWalk(megabyte / 2); w.over != "" {
		t.Error("another program wrote, and the command is blamed")
	}
	if w.finalWalk(2 * megabyte); w.over != overSpace {
		t.Error("the command wrote, and is not blamed")
	}
}

// Attributes of old files take space that the kernel does not count as written.
func TestDiskWatchOfAttributes(t *testing.T) {
	root := t.TempDir()
	for i := range 300 {
		fileOf(t, filepath.Join(root, fmt.Sprint(i)), 8192)
	}
	w := watchOf(root)
	w.accounted = true
	for i := range 300 {
		if err := os.Chmod(filepath.Join(root, fmt.Sprint(i)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if w.finalWalk(0); w.over != overSpace {
		t.Error("300 files have changed, the file system has shrunk, and the command is not blamed")
	}
}

func TestDiskWatchCountsNames(t *testing.T) {
	root := t.TempDir()
	w := watchOf(root)
	w.files = 10
	fileOf(t, filepath.Join(root, "name"), 0)
	for i := range 8 {
		if err := os.Link(filepath.Join(root, "name"), filepath.Join(root, fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	if w.finalWalk(0); w.over != "" {
		t.Errorf("9 names are over a limit of 10: %s", w.over)
	}
	for i := range 4 {
		if err := os.Symlink("nowhere", filepath.Join(root, fmt.Sprint("link", i))); err != nil {
			t.Fatal(err)
		}
	}
	if w.finalWalk(0); w.over != overFiles {
		t.Error("13 names are not over a limit of 10")
	}
}

// Files that a command creates at its start have the same time as files from just before.
// Their names are counted all the same; their space is known from what the command wrote,
// also if another program frees as much meanwhile.
func TestDiskWatchAtTheFirstTick(t *testing.T) {
	for range 20 {
		root := t.TempDir()
		pass()
		w := newDiskWatch([]string{root}, policy.Limits{Disk: megabyte, Files: 3}, processes{proc: -1}, -1)
		w.shrunk = func() (space, inodes int64) { return 0, 0 }
		w.accounted = true
		fileOf(t, filepath.Join(root, "file"), 4*megabyte)
		w.began = time.Now() // however late this test runs
		if w.finalWalk(0); w.over != "" {
			t.Fatal("a file that another program created just before is counted")
		}
		if w.finalWalk(4 * megabyte); w.over != overSpace {
			t.Fatal("a file that the command created at its start is not counted")
		}
		w.over = ""
		for i := range 4 {
			fileOf(t, filepath.Join(root, fmt.Sprint("empty", i)), 0)
		}
		w.began = time.Now()
		if w.finalWalk(0); w.over != overFiles {
			t.Fatal("names that the command created at its start are not counted")
		}
	}
}

// TestFinalWalkOnABusyHost checks how long the last walk goes on when its time passes while
// other programs run.
func TestFinalWalkOnABusyHost(t *testing.T) {
	for _, tt := range []struct {
		name       string
		lasted     time.Duration // the command
		needs      time.Duration // a whole walk
		near       bool
		suspicious bool
		over       exceeded
	}{
		{"a short command, and nothing is suspicious", time.Second, time.Second, false, false, ""},
		{"a long command", 20 * time.Second, time.Second, false, false, overFiles},
		{"a long command with very many files", 20 * time.Second, 3 * time.Second, false, false, ""},
		{"half of a limit was found", time.Second, 3 * time.Second, true, false, overFiles},
		{"the disk has lost as much", time.Second, 3 * time.Second, false, true, overFiles},
		{"it never ends", time.Second, time.Hour, true, true, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newDiskWatch([]string{t.TempDir()}, policy.Limits{Disk: megabyte, Files: 1000}, processes{proc: -1}, -1)
			w.began = time.Now().Add(-tt.lasted)
			w.shrunk = func() (space, inodes int64) {
				if tt.suspicious {
					return 2 * megabyte, 0
				}
				return 0, 0
			}
			w.scan = func(most time.Duration) answer {
				if most < tt.needs {
					return answer{timedOut: true, near: tt.near}
				}
				return answer{over: overFiles}
			}
			if w.finalWalk(0); w.over != tt.over {
				t.Errorf("%q is over, want %q", w.over, tt.over)
			}
		})
	}
}

// A command may end before its Runner runs again: its files are counted as well.
func TestFilesOfShortCommandAreCounted(t *testing.T) {
	b := openJail(t, policy.Policy{})
	var busy sync.WaitGroup
	var enough atomic.Bool
	for range 4 * runtime.NumCPU() {
		busy.Go(func() {
			for !enough.Load() {
				runtime.Gosched()
			}
		})
	}
	defer busy.Wait()
	defer enough.Store(true)
	limits := b.options.Policy.Limits
	limits.Files = 10
	for range 20 {
		workspace := t.TempDir()
		command := []string{"touch"}
		for i := range 40 {
			command = append(command, fmt.Sprint("f", i))
		}
		r, err := attemptOnce(t.Context(), b, backend.Job{Request: run.Request{Command: run.Command{Args: command, Workspace: workspace}}, Limits: limits})
		if err != nil || r.Outcome != run.OutOfDisk {
			t.Fatalf("%s %q, %v", r.Outcome, r.Error, err)
		}
	}
}
