// Package newfile writes complete files, and follows no planted links.
//
// A file is written under a random name that must not exist, and renamed when it is
// complete. So a symbolic link or a hard link at its path is replaced and never written
// through, and readers see all of the old file or all of the new one.
//
//	f, err := newfile.Create(path, 0o600)   // beside path
//	defer f.Discard()                        // if it was not committed
//	…write to f…
//	err = f.Commit()                         // now it is path
//
// Create is for a path that the user names: the directories on the way are the user's
// choice. CreateIn is for names in a directory that others write to, such as a project's:
// no link may lead out of it.
package newfile

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// File is a file that is being written.
type File struct {
	*os.File
	root      *os.Root
	owned     bool // the root is ours to close
	temporary string
	name      string
	plain     bool // written directly, without renaming
	done      bool
}

// Create begins a file. If path exists, it must be a regular file. It refuses a link, which
// may be planted, and whose owner would not expect it to be replaced. It writes directly to
// a device below /dev, which only root can create.
func Create(path string, mode fs.FileMode) (*File, error) {
	info, err := os.Lstat(path)
	switch {
	case err == nil && !info.Mode().IsRegular() && isDevice(path):
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		return &File{File: f, plain: true}, err
	case err == nil && info.Mode()&fs.ModeSymlink != 0:
		return nil, fmt.Errorf("%s is a symbolic link: name the file itself", path)
	case err == nil && !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a file", path)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	f, err := CreateIn(root, filepath.Base(path), mode)
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	f.owned = true
	return f, nil
}

func isDevice(path string) bool {
	abs, err := filepath.Abs(path)
	return err == nil && strings.HasPrefix(abs, "/dev/")
}

// CreateIn begins a file below a directory.
func CreateIn(root *os.Root, name string, mode fs.FileMode) (*File, error) {
	temporary := filepath.Join(filepath.Dir(name), "."+filepath.Base(name)+"."+rand.Text()+".tmp")
	f, err := root.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	made := &File{File: f, root: root, temporary: temporary, name: name}
	// Through the descriptor, so that neither the umask nor a changed name matters.
	if err := f.Chmod(mode); err != nil {
		made.Discard()
		return nil, err
	}
	return made, nil
}

// Commit syncs the file and gives it its name.
func (f *File) Commit() error {
	if f.plain {
		f.done = true
		return f.File.Close()
	}
	err := errors.Join(f.File.Sync(), f.File.Close())
	if err == nil {
		err = f.root.Rename(f.temporary, f.name)
	}
	if err != nil {
		f.Discard()
		return err
	}
	f.done = true
	return f.release()
}

// Discard removes a file that was not committed.
func (f *File) Discard() {
	if f.done {
		return
	}
	f.done = true
	f.File.Close()
	if !f.plain {
		// There is no caller to report an error to, and the name shows what the file is.
		_ = errors.Join(f.root.Remove(f.temporary), f.release())
	}
}

func (f *File) release() error {
	if f.owned {
		return f.root.Close()
	}
	return nil
}

// Write writes a whole file at a path that the user names.
func Write(path string, text []byte, mode fs.FileMode) error {
	f, err := Create(path, mode)
	if err != nil {
		return err
	}
	return f.fill(text)
}

// WriteIn writes a whole file below a directory.
func WriteIn(root *os.Root, name string, text []byte, mode fs.FileMode) error {
	f, err := CreateIn(root, name, mode)
	if err != nil {
		return err
	}
	return f.fill(text)
}

func (f *File) fill(text []byte) error {
	defer f.Discard()
	if _, err := f.File.Write(text); err != nil {
		return err
	}
	return f.Commit()
}
