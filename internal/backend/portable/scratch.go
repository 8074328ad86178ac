package portable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/cordon-sandbox/cordon/run"
)

// makeScratch makes the private folder of a run. Its path has no links: walls that go
// by paths compare real ones (on macOS, /tmp is a link, and so is /var).
func makeScratch() (string, error) {
	dir, err := os.MkdirTemp("", "cordon-")
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return "", run.Errorf(run.Internal, "the private folder of the run: %w", err)
	}
	return dir, nil
}

// removeScratch removes it, also what its guest has made hard to remove. The second road
// asks for less: folders are made writable first, and each name is removed by itself,
// which is all that Wine can do.
func removeScratch(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	var all []string
	_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		all = append(all, path)
		if entry != nil && entry.IsDir() {
			return os.Chmod(path, 0o700) // before it is read
		}
		return nil
	})
	for _, path := range slices.Backward(all) {
		_ = os.Remove(path)
	}
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := os.RemoveAll(dir); err != nil {
		return run.Errorf(run.Internal, "the private folder of the run cannot be removed: %w", err)
	}
	return nil
}

// sizeOf adds up the files below some folders. What vanishes meanwhile counts nothing.
func sizeOf(folders []string) (size int64) {
	for _, folder := range folders {
		_ = filepath.WalkDir(folder, func(_ string, entry fs.DirEntry, err error) error {
			if err != nil {
				if entry != nil && entry.IsDir() && !errors.Is(err, fs.ErrNotExist) {
					return fs.SkipDir
				}
				return nil
			}
			if info, err := entry.Info(); err == nil && entry.Type().IsRegular() {
				size += info.Size()
			}
			return nil
		})
	}
	return size
}
