package portable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/cordon-sandbox/cordon/run"
)

// scratch is the private directory of a run. All that is done in it goes by its root, so
// that no link that a guest puts there leads us out.
type scratch struct {
	// dir has no links in it: walls that go by paths compare real ones (on macOS, /tmp
	// is a link, and so is /var).
	dir  string
	root *os.Root
}

func makeScratch() (s scratch, err error) {
	if s.dir, err = os.MkdirTemp("", "cordon-"); err == nil {
		s.dir, err = filepath.EvalSymlinks(s.dir)
	}
	if err == nil {
		s.root, err = os.OpenRoot(s.dir)
	}
	if err != nil {
		return s, run.Errorf(run.Internal, "the private directory of the run: %w", err)
	}
	return s, nil
}

// remove removes it, also what its guest has made hard to remove.
func (s scratch) remove() error {
	if os.RemoveAll(s.dir) != nil {
		s.size() // which opens what was closed
		s.empty()
	}
	if err := errors.Join(s.root.Close(), os.RemoveAll(s.dir)); err != nil {
		return run.Errorf(run.Internal, "the private directory of the run cannot be removed: %w", err)
	}
	return nil
}

// empty removes each name by itself, from the innermost: Wine can do no more. The guest is
// dead, so that nobody puts a link where a directory was.
func (s scratch) empty() {
	var names []string
	_ = fs.WalkDir(s.root.FS(), ".", func(name string, _ fs.DirEntry, _ error) error {
		names = append(names, name)
		return nil
	})
	for _, name := range slices.Backward(names) {
		_ = os.Remove(filepath.Join(s.dir, filepath.FromSlash(name)))
	}
}

// size adds up its files. A directory that its guest has closed to everybody is opened: what
// is in there counts, too.
func (s scratch) size() int64 {
	return sizeIn(s.root.FS(), func(name string, info fs.FileInfo) {
		if info.IsDir() && info.Mode().Perm()&0o500 != 0o500 {
			_ = s.root.Chmod(filepath.FromSlash(name), info.Mode().Perm()|0o700) // else it counts nothing
		}
	})
}

// contents are what some directories of the host have in them.
type contents struct {
	size  int64
	files int // directories and links, too
}

// measure adds up what is below some directories. What is closed to us there is not counted.
func measure(directories []string) (c contents) {
	for _, directory := range directories {
		c.size += sizeIn(os.DirFS(directory), func(string, fs.FileInfo) { c.files++ })
	}
	return c
}

// sizeIn adds up files; each thing is shown before it is entered. What vanishes meanwhile
// counts nothing.
func sizeIn(fsys fs.FS, show func(name string, info fs.FileInfo)) (size int64) {
	_ = fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil // closed, or gone; the walk goes on beside it
		}
		info, err := entry.Info()
		if err != nil {
			return nil
		}
		show(name, info)
		if info.Mode().IsRegular() {
			size += info.Size()
		}
		return nil
	})
	return size
}
