package workdir

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"syscall"

	"github.com/cordon-sandbox/cordon/internal/newfile"
)

// dontWait keeps an open from waiting for the other end of a pipe.
const dontWait = syscall.O_NONBLOCK

// hostTree is a directory of the host. Files that are written to it belong to the owner.
type hostTree struct {
	root  *os.Root
	owner Owner
}

// OnHost returns the tree below a root, which it closes.
func OnHost(root *os.Root, owner Owner) Tree { return &hostTree{root, owner} }

func (t *hostTree) Lstat(name string) (fs.FileInfo, error) { return t.root.Lstat(name) }

func (t *hostTree) Open(name string) (File, error) {
	f, err := t.root.OpenFile(name, os.O_RDONLY|dontWait, 0)
	if err != nil {
		return nil, err // and no nil file in an interface
	}
	return f, nil
}

func (t *hostTree) Entries(name string, most int) (found []fs.FileInfo, err error) {
	f, err := t.root.OpenFile(name, os.O_RDONLY|dontWait, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.ReadDir(most)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	for _, entry := range entries {
		// Not entry.Info, which would look it up by its path.
		if stat, err := t.root.Lstat(path.Join(name, entry.Name())); err == nil {
			found = append(found, stat)
		}
	}
	return found, err
}

func (t *hostTree) Create(name string) (NewFile, error) {
	made := &newHostFile{owner: t.owner}
	err := t.owner.Do(func() (err error) {
		if parent := path.Dir(name); parent != "." {
			if err := t.root.MkdirAll(parent, 0o755); err != nil {
				return err
			}
		}
		made.File, err = newfile.CreateIn(t.root, name, 0o644)
		return err
	})
	if err != nil {
		return nil, err
	}
	return made, nil
}

func (t *hostTree) Remove(name string) error {
	return t.owner.Do(func() error { return t.root.RemoveAll(name) })
}

func (t *hostTree) Close() error { return t.root.Close() }

// newHostFile gets its name from the owner.
type newHostFile struct {
	*newfile.File
	owner Owner
}

func (f *newHostFile) Commit() error { return f.owner.Do(f.File.Commit) }

func (f *newHostFile) Discard() {
	_ = f.owner.Do(func() error { f.File.Discard(); return nil })
}
