package jail

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func fileOf(t *testing.T, path string, size int) {
	t.Helper()
	if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
		t.Fatal(err)
	}
}

// due makes the next look a walk.
func (w *diskWatch) due() *diskWatch {
	w.next = time.Time{}
	return w
}

func TestDiskWatch(t *testing.T) {
	const limit = 1 << 20
	root, other := t.TempDir(), t.TempDir()
	fileOf(t, filepath.Join(root, "before"), 4*limit)
	w := newDiskWatch([]string{root}, limit)
	w.began = time.Now() // no slack: what was there before is just before
	if w.due().look(); w.over {
		t.Error("what was there before is counted")
	}
	if err := os.Symlink(other, filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	fileOf(t, filepath.Join(other, "outside"), 4*limit)
	if w.due().look(); w.over {
		t.Error("what a link leads to is counted")
	}
	if err := os.Mkdir(filepath.Join(root, "deep"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "deep/b"} {
		fileOf(t, filepath.Join(root, name), limit/3)
	}
	if err := os.Link(filepath.Join(root, "a"), filepath.Join(root, "deep/a")); err != nil {
		t.Fatal(err)
	}
	if w.due().look(); w.over {
		t.Error("a file with two names is counted twice")
	}
	sparse := filepath.Join(root, "sparse")
	fileOf(t, sparse, 0)
	if err := os.Truncate(sparse, 100*limit); err != nil {
		t.Fatal(err)
	}
	if w.due().look(); w.over {
		t.Error("a file that takes no space is counted")
	}
	fileOf(t, filepath.Join(root, "c"), limit/2)
	if w.due().look(); !w.over {
		t.Error("the limit is passed and nobody says so")
	}
}

// A single file can be granted, and one that is not there is no reason to fail.
func TestDiskWatchOfFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	w := newDiskWatch([]string{file, file + "gone"}, 1000)
	if w.due().look(); w.over {
		t.Error("nothing is there")
	}
	fileOf(t, file, 100_000)
	if w.due().look(); !w.over {
		t.Error("a granted file is not counted")
	}
	if none := newDiskWatch(nil, 0); none.over {
		t.Error("nothing can be written, and it is too much")
	}
}
