package wasm

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/cordon-sandbox/cordon/internal/hostpath"
)

// cacheMost bounds what compiled modules may take of the disk.
const cacheMost = 1 << 30

// cacheDirectory is where compiled code is kept: machine code that will be run without
// another look, so that nobody else may write there, and no guest: XDG_CACHE_HOME may
// lie in a workspace. Granted are the paths that commands may write to.
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
		return "", fmt.Errorf("%s is not ours alone: guests may write to %s", directory, dir)
	}
	// A home may be a link. What it leads to by now is looked at, and used.
	if caches, err = filepath.EvalSymlinks(caches); err != nil {
		return "", err
	}
	directory = filepath.Join(caches, "cordon", "wasm")
	if err := ownAlone(directory); err != nil {
		return "", err
	}
	return directory, prune(directory, cacheMost)
}

// Facts are what an operator may want to know of the tier on this host.
type Facts struct {
	// Engine is "compiled" or "interpreted".
	Engine string
	// Cache is the directory in which compiled code is kept; where that cannot be, NoCache
	// says why.
	Cache   string
	NoCache error
}

// Facts looks.
func (b *Backend) Facts() Facts {
	f := Facts{Engine: b.engines.words()}
	if f.Cache, f.NoCache = b.engines.directory(); f.NoCache == nil {
		f.NoCache = writable(f.Cache)
	}
	return f
}

// writable tries.
func writable(directory string) error {
	file, err := os.CreateTemp(directory, ".try-")
	if err != nil {
		return err
	}
	return errors.Join(file.Close(), os.Remove(file.Name()))
}

// prune removes what was used least recently. Others may be doing the same.
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
