package scratch

import (
	"io/fs"
	"strings"

	"github.com/tetratelabs/wazero/experimental/sys"

	"github.com/cordon-sandbox/cordon/internal/backend/wasm/guestfs"
)

// create adds a new node at a location, if the size allows it.
func (f *FS) create(s location, n *node) sys.Errno {
	if !f.take(cost(n) + int64(len(n.text))) {
		return guestfs.ENOSPC
	}
	f.trim()
	f.attach(s.directory, strings.Clone(s.name), n) // the clone does not keep the whole path in memory
	f.touch(s.directory)
	return 0
}

// Mkdir implements sys.FS.
func (f *FS) Mkdir(path string, perm fs.FileMode) sys.Errno {
	return f.do(func() sys.Errno {
		s, errno := f.findFree(path, true)
		if errno != 0 {
			return errno
		}
		n := &node{}
		f.makeDirectory(n, s.directory, perm)
		return f.create(s, n)
	})
}

// Symlink implements sys.FS.
func (f *FS) Symlink(text, path string) sys.Errno {
	switch {
	case text == "":
		return sys.ENOENT
	case len(text) >= maxPath:
		return sys.ENAMETOOLONG
	}
	text = strings.Clone(text) // wazero's string is in the guest's memory, which may change
	if strings.ContainsRune(text, 0) {
		return sys.EINVAL
	}
	return f.do(func() sys.Errno {
		s, errno := f.findFree(path, false)
		if errno != 0 {
			return errno
		}
		n := f.newNode(linkMode)
		n.text = text
		return f.create(s, n)
	})
}

// Link implements sys.FS.
func (f *FS) Link(from, to string) sys.Errno {
	return f.do(func() sys.Errno {
		n, errno := f.find(from, ifSlash)
		if errno != 0 {
			return errno
		}
		s, errno := f.findFree(to, false)
		switch {
		case errno != 0:
			return errno
		case n.isDirectory():
			return sys.EPERM
		case !f.take(EntryCost):
			return guestfs.ENOSPC
		}
		f.trim()
		f.attach(s.directory, strings.Clone(s.name), n)
		f.touch(s.directory)
		n.changed = f.now()
		return 0
	})
}

// Unlink implements sys.FS.
func (f *FS) Unlink(path string) sys.Errno {
	return f.do(func() sys.Errno {
		s, errno := f.walk(path, never)
		switch {
		case errno != 0:
			return errno
		case s.node == nil:
			return sys.ENOENT
		case s.node.isDirectory():
			return sys.EISDIR
		case s.slash:
			return sys.ENOTDIR
		}
		f.remove(s.directory, s.name, s.node)
		f.touch(s.directory)
		return 0
	})
}

// Rmdir implements sys.FS.
func (f *FS) Rmdir(path string) sys.Errno {
	return f.do(func() sys.Errno {
		s, errno := f.walk(path, never)
		switch {
		case errno != 0:
			return errno
		case s.node == nil:
			return sys.ENOENT
		case s.directory == nil:
			return sys.EINVAL
		case !s.node.isDirectory():
			return sys.ENOTDIR
		case s.node.names.count() > 0:
			return sys.ENOTEMPTY
		}
		f.remove(s.directory, s.name, s.node)
		f.touch(s.directory)
		return 0
	})
}
