package scratch

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
	"time"

	"github.com/tetratelabs/wazero/experimental/sys"

	"github.com/cordon-sandbox/cordon/internal/backend/wasm/guestfs"
	"github.com/cordon-sandbox/cordon/internal/workdir"
)

// hostTree is the host's side of a directory. It may be used while the guest runs.
type hostTree struct {
	fs     *FS
	base   *node
	now    func() time.Time
	closed bool // guarded by fs.mu
}

// Tree returns a directory at the top for the host. The times of what it changes come from now,
// because the guest's clock is the guest's alone.
func (f *FS) Tree(directory string, now func() time.Time) (workdir.Tree, error) {
	t := &hostTree{fs: f, now: now, base: &f.top}
	return t, t.do("open", directory, func() (errno sys.Errno) {
		if errno = f.makeOnce(directory); errno != 0 {
			return errno
		}
		t.base, errno = f.find(directory, never)
		if errno == 0 && !t.base.isDirectory() {
			errno = sys.ENOTDIR
		}
		return errno
	})
}

// do calls work with the lock held and the host's clock. An exceeded size is not the guest's doing.
func (t *hostTree) do(op, name string, work func() sys.Errno) error {
	t.fs.mu.Lock()
	defer t.fs.mu.Unlock()
	t.fs.host = t.now
	defer func() { t.fs.host = nil }()
	t.fs.begin()
	if t.closed {
		return os.ErrClosed
	}
	return asError(op, name, work())
}

var errEscapes = errors.New("path escapes from the directory")

// asError returns an error of the os package.
func asError(op, name string, errno sys.Errno) error {
	var why error
	switch errno {
	case 0:
		return nil
	case sys.ENOENT:
		why = fs.ErrNotExist
	case sys.EPERM:
		why = errEscapes
	case guestfs.ENOSPC:
		why = syscall.ENOSPC
	default:
		why = errno
	}
	return &fs.PathError{Op: op, Path: name, Err: why}
}

// find returns the node with a name.
func (t *hostTree) find(name string, follow following) (*node, sys.Errno) {
	s, errno := t.fs.walkFrom(t.base, "", name, follow)
	switch {
	case errno != 0:
		return nil, errno
	case s.node == nil:
		return nil, sys.ENOENT
	}
	return s.node, 0
}

// Lstat implements workdir.Tree.
func (t *hostTree) Lstat(name string) (info fs.FileInfo, err error) {
	err = t.do("lstat", name, func() sys.Errno {
		n, errno := t.find(name, never)
		if errno == 0 {
			info = describe(path.Base(name), n)
		}
		return errno
	})
	return info, err
}

// Entries implements workdir.Tree.
func (t *hostTree) Entries(name string, most int) (found []fs.FileInfo, err error) {
	err = t.do("readdir", name, func() sys.Errno {
		n, errno := t.find(name, always)
		switch {
		case errno != 0:
			return errno
		case !n.isDirectory():
			return sys.ENOTDIR
		}
		for _, e := range n.names.order {
			if e.node != nil && len(found) < most {
				found = append(found, describe(e.name, e.node))
			}
		}
		return 0
	})
	return found, err
}

// Open implements workdir.Tree.
func (t *hostTree) Open(name string) (f workdir.File, err error) {
	err = t.do("open", name, func() sys.Errno {
		n, errno := t.find(name, always)
		if errno == 0 {
			n.opens++
			f = &hostFile{fs: t.fs, node: n, name: path.Base(name)}
		}
		return errno
	})
	return f, err
}

// Create implements workdir.Tree.
func (t *hostTree) Create(name string) (f workdir.NewFile, err error) {
	err = t.do("create", name, func() sys.Errno {
		_, errno := t.parent(name)
		if errno == 0 {
			_, errno = t.fs.walkFrom(t.base, "", name, never) // which checks the name itself
		}
		if errno == 0 {
			made := t.fs.newNode(0o644)
			made.opens++
			f = &newFile{tree: t, node: made, name: name}
		}
		return errno
	})
	return f, err
}

// parent returns the directory for a name. It makes the directories that are missing.
func (t *hostTree) parent(name string) (*node, sys.Errno) {
	if t.base.links == 0 {
		return nil, sys.ENOENT // the guest has removed it
	}
	at := t.base
	for end := 0; ; end++ {
		length := strings.IndexByte(name[end:], '/')
		if length < 0 {
			return at, 0
		}
		end += length
		s, errno := t.fs.walkFrom(t.base, "", name[:end], always)
		switch {
		case errno != 0:
			return nil, errno
		case s.node == nil:
			made := &node{}
			t.fs.makeDirectory(made, s.directory, 0o755)
			if errno := t.fs.create(s, made); errno != 0 {
				return nil, errno
			}
			s.node = made
		case !s.node.isDirectory():
			return nil, sys.ENOTDIR
		}
		at = s.node
	}
}

// Remove implements workdir.Tree.
func (t *hostTree) Remove(name string) error {
	return t.do("remove", name, func() sys.Errno {
		s, errno := t.fs.walkFrom(t.base, "", name, never)
		switch {
		case errno != 0:
			return errno
		case s.node == nil:
			return sys.ENOENT
		case s.name == "":
			return sys.EINVAL
		}
		t.fs.removeAll(s.directory, s.name, s.node)
		t.fs.touch(s.directory)
		return 0
	})
}

// removeAll removes a node and, before it, everything in it.
func (f *FS) removeAll(directory *node, name string, n *node) {
	type named struct {
		directory *node
		name      string
		node      *node
	}
	all := []named{{directory, name, n}}
	for i := 0; i < len(all); i++ {
		if below := all[i].node; below.isDirectory() {
			for inside, child := range below.names.by {
				all = append(all, named{below, inside, child.node})
			}
		}
	}
	for len(all) > 0 {
		last := all[len(all)-1]
		all = all[:len(all)-1]
		f.remove(last.directory, last.name, last.node)
	}
}

// Close implements workdir.Tree.
func (t *hostTree) Close() error {
	t.fs.mu.Lock()
	defer t.fs.mu.Unlock()
	t.closed = true
	return nil
}

// hostFile is a file that the host reads.
type hostFile struct {
	fs     *FS
	node   *node
	name   string
	at     int64
	closed bool
}

// Stat implements workdir.File.
func (f *hostFile) Stat() (fs.FileInfo, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	return describe(f.name, f.node), nil
}

// Read implements io.Reader.
func (f *hostFile) Read(to []byte) (int, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	switch left := f.node.size - f.at; {
	case f.closed:
		return 0, os.ErrClosed
	case len(to) == 0:
		return 0, nil
	case left <= 0:
		return 0, io.EOF
	default:
		to = to[:min(int64(len(to)), left, maxPiece)]
	}
	f.node.pages.read(to, f.at)
	f.at += int64(len(to))
	return len(to), nil
}

// Seek implements io.Seeker.
func (f *hostFile) Seek(offset int64, whence int) (int64, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if f.closed {
		return 0, os.ErrClosed
	}
	at, errno := guestfs.Seek(f.at, f.node.size, offset, whence)
	if errno != 0 {
		return 0, asError("seek", f.name, errno)
	}
	f.at = at
	return at, nil
}

// Close implements io.Closer.
func (f *hostFile) Close() error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if f.closed {
		return os.ErrClosed
	}
	f.closed = true
	f.fs.letGo(f.node)
	return nil
}

// letGo frees a node that the host had open, unless it is in use elsewhere.
func (f *FS) letGo(n *node) {
	n.opens--
	f.release(n)
}

// newFile is a file that the host writes.
type newFile struct {
	tree *hostTree
	node *node
	name string
	over bool
}

// Write implements io.Writer.
func (f *newFile) Write(data []byte) (n int, err error) {
	err = f.tree.do("write", f.name, func() sys.Errno {
		for n < len(data) {
			piece := data[n:min(len(data), n+maxPiece)]
			if errno := f.tree.fs.write(f.node, piece, f.node.size); errno != 0 {
				return errno
			}
			n += len(piece)
		}
		return 0
	})
	return n, err
}

// Stat implements workdir.NewFile.
func (f *newFile) Stat() (info fs.FileInfo, err error) {
	err = f.tree.do("stat", f.name, func() sys.Errno {
		info = describe(path.Base(f.name), f.node)
		return 0
	})
	return info, err
}

// Commit implements workdir.NewFile. The guest may have moved directories meanwhile.
func (f *newFile) Commit() error {
	return f.tree.do("rename", f.name, func() sys.Errno {
		name := path.Base(f.name)
		directory, errno := f.tree.parent(f.name)
		if errno != 0 {
			return errno
		}
		there := directory.names.get(name)
		switch {
		case there == nil:
		case there.isDirectory():
			return sys.EISDIR
		default:
			f.tree.fs.remove(directory, name, there)
		}
		if errno := f.tree.fs.create(location{directory: directory, name: name}, f.node); errno != 0 {
			return errno
		}
		f.over = true
		f.tree.fs.letGo(f.node)
		return 0
	})
}

// Discard implements workdir.NewFile.
func (f *newFile) Discard() {
	f.tree.fs.mu.Lock()
	defer f.tree.fs.mu.Unlock()
	if !f.over {
		f.over = true
		f.tree.fs.letGo(f.node)
	}
}

// fileInfo describes a node as it was.
type fileInfo struct {
	name     string
	size     int64
	mode     fs.FileMode
	modified time.Time
}

func describe(name string, n *node) fs.FileInfo {
	return fileInfo{name, n.stat().Size, n.mode, time.Unix(0, n.modified)}
}

func (i fileInfo) Name() string       { return i.name }
func (i fileInfo) Size() int64        { return i.size }
func (i fileInfo) Mode() fs.FileMode  { return i.mode }
func (i fileInfo) ModTime() time.Time { return i.modified }
func (i fileInfo) IsDir() bool        { return i.mode.IsDir() }
func (i fileInfo) Sys() any           { return nil }
