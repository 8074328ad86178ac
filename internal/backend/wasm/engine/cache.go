package engine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/cordon-sandbox/cordon/internal/hostpath"
)

// maxCache bounds the disk space for compiled modules.
const maxCache = 1 << 30

// cacheDirectory returns the directory of compiled code. It contains machine code that runs
// without another check, so no other user and no guest may write there: XDG_CACHE_HOME may be
// in a workspace. Granted are the paths that commands may write to.
func cacheDirectory(granted ...string) (string, error) {
	caches, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	directory := filepath.Join(caches, "cordon", "wasm")
	if err := os.MkdirAll(directory, 0o700); err != nil {
		return "", err
	}
	if dir, held := hostpath.Writable(granted...).HoldPath(directory); held {
		return "", fmt.Errorf("%s cannot be the cache: guests may write to %s", directory, dir)
	}
	// A home may be a link. Check the same directory that is used.
	if caches, err = filepath.EvalSymlinks(caches); err != nil {
		return "", err
	}
	directory = filepath.Join(caches, "cordon", "wasm")
	if err := OwnAlone(directory); err != nil {
		return "", err
	}
	return directory, prune(directory, maxCache)
}

// Usable returns the directory of compiled code after a test write.
func (e *Engine) Usable() (directory string, err error) {
	if directory, err = e.Directory(); err != nil {
		return directory, err
	}
	return directory, checkWritable(directory)
}

func checkWritable(directory string) error {
	file, err := os.CreateTemp(directory, ".try-")
	if err != nil {
		return err
	}
	return errors.Join(file.Close(), os.Remove(file.Name()))
}

// prune removes the least recently used files. Other processes may do the same.
func prune(directory string, most int64) error {
	entries, err := os.ReadDir(directory)
	if err != nil {
		return err
	}
	type file struct {
		path string
		size int64
		used time.Time
	}
	var files []file
	var total int64
	var walk func(dir string, entries []os.DirEntry)
	walk = func(dir string, entries []os.DirEntry) {
		for _, entry := range entries {
			path := filepath.Join(dir, entry.Name())
			if entry.IsDir() {
				if below, err := os.ReadDir(path); err == nil {
					walk(path, below)
				}
				continue
			}
			if info, err := entry.Info(); err == nil {
				files = append(files, file{path, info.Size(), info.ModTime()})
				total += info.Size()
			}
		}
	}
	walk(directory, entries)
	slices.SortFunc(files, func(a, b file) int { return a.used.Compare(b.used) })
	for _, f := range files {
		if total <= most {
			break
		}
		if err := os.Remove(f.path); err == nil {
			total -= f.size
		}
	}
	return nil
}
