package mcpclient

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cordon-sandbox/cordon/internal/newfile"
)

// location is a configuration file: its directory, and its name below it. No symbolic link
// leads out of the directory.
type location struct {
	root *os.Root
	name string
}

// open returns the location of a client's configuration. A guest may have written to a
// project's directory: a link in it that leads elsewhere would make cordon read, copy or
// write any file of the user, so such links are refused. The user's own configuration may
// be a link to a file elsewhere: open follows it, and the link stays.
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
		return location{}, errors.Join(fmt.Errorf("%s is a symbolic link, and anyone who can write to %s may have created it: replace it with a file", name, dir), root.Close())
	}
	return location{root, name}, nil
}

// replace writes the whole file. It first copies the old one to a backup.
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
