package portable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/workdir"
	"github.com/cordon-sandbox/cordon/run"
)

// scratch is the private directory of a run. It is only accessed through an os.Root, so
// that a guest's symlinks cannot lead outside.
type scratch struct {
	// dir contains no symlinks: walls that use paths compare resolved ones (on macOS,
	// /tmp and /var are symlinks).
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

// workName is the directory of a script's files, below its private directory.
const workName = "work"

// giveFiles puts the files of a job into a directory of their own. It returns nil for a job
// without files.
func (s scratch) giveFiles(job backend.Job) (*workdir.Dir, error) {
	if !job.HasFiles() {
		return nil, nil
	}
	err := s.root.Mkdir(workName, 0o755)
	var root *os.Root
	if err == nil {
		root, err = s.root.OpenRoot(workName)
	}
	if err != nil {
		return nil, run.Errorf(run.Internal, "the directory of the script's files: %w", err)
	}
	work := workdir.New(workdir.OnHost(root, workdir.Self()))
	if err := work.Give(job.Script, job.Limits.Scratch); err != nil {
		return nil, errors.Join(err, work.Close())
	}
	return work, nil
}

// remove removes the directory, also what its guest made hard to remove.
func (s scratch) remove() error {
	if s.root == nil {
		return nil // the launcher's
	}
	if os.RemoveAll(s.dir) != nil {
		s.size() // makes directories accessible again
		s.empty()
	}
	if err := errors.Join(s.root.Close(), os.RemoveAll(s.dir)); err != nil {
		return run.Errorf(run.Internal, "the private directory of the run cannot be removed: %w", err)
	}
	return nil
}

// empty removes each file separately, the innermost first, because Wine cannot do more.
// The guest is dead, so a directory cannot be replaced by a symlink.
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

// size adds up its files. A directory that its guest made inaccessible is made accessible
// again: its files count too.
func (s scratch) size() int64 {
	if s.root == nil {
		return 0 // the launcher limits it
	}
	return sizeIn(s.root.FS(), func(name string, info fs.FileInfo) {
		if info.IsDir() && info.Mode().Perm()&0o500 != 0o500 {
			_ = s.root.Chmod(filepath.FromSlash(name), info.Mode().Perm()|0o700) // otherwise its files are not counted
		}
	})
}

// contents is the total size and number of files in some directories of the host.
type contents struct {
	size  int64
	files int // including directories and symlinks
}

// measure adds up the files below some directories. Inaccessible ones are not counted.
func measure(directories []string) (c contents) {
	for _, directory := range directories {
		c.size += sizeIn(os.DirFS(directory), func(string, fs.FileInfo) { c.files++ })
	}
	return c
}

// sizeIn adds up files, and calls show for each entry before entering it. Files that
// vanish meanwhile do not count.
func sizeIn(fsys fs.FS, show func(name string, info fs.FileInfo)) (size int64) {
	_ = fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil // inaccessible or deleted; the walk continues
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
