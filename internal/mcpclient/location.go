package mcpclient

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cordon-sandbox/cordon/internal/newfile"
)

// location is a configuration file by its name below a directory, out of which no
// link leads.
type location struct {
	root *os.Root
	name string
}

// open finds the location of a configuration. A project's directory may have been
// written by a guest: a link in it that leads elsewhere would have us read and
// copy, or write, any file of the user's. The user's own configuration may lie
// elsewhere, with a link to it: that is followed, and survives.
func open(c client, how How) (location, error) {
	dir, name := how.Project, filepath.FromSlash(c.project)
	if dir == "" {
		path := c.path(how)
		if real, err := filepath.EvalSymlinks(path); err == nil {
			path = real
		}
		dir, name = filepath.Split(path)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return location{}, err
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return location{}, err
	}
	if info, err := root.Lstat(name); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return location{}, errors.Join(fmt.Errorf("%s is a symbolic link, which anybody who writes to %s may have put there: replace it by a file", name, dir), root.Close())
	}
	return location{root, name}, nil
}

// replace writes the file as a whole, and keeps a copy of what was there.
func (at location) replace(before, after []byte) (backup string, err error) {
	mode := fs.FileMode(0o600)
	if before != nil {
		info, err := at.root.Stat(at.name)
		if err != nil {
			return "", err
		}
		mode, backup = info.Mode().Perm(), at.name+".cordon-backup"
		if err := newfile.WriteIn(at.root, backup, before, mode); err != nil {
			return "", fmt.Errorf("backup: %w", err)
		}
		backup = filepath.Join(at.root.Name(), backup)
	}
	dir := filepath.Dir(at.name)
	if err := at.root.MkdirAll(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	return backup, newfile.WriteIn(at.root, at.name, after, mode)
}
