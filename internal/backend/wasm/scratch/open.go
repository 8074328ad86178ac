package scratch

import (
	"io/fs"
	"strings"

	"github.com/tetratelabs/wazero/experimental/sys"

	"github.com/cordon-sandbox/cordon/internal/backend/wasm/guestfs"
)

// accepts checks whether a node may be opened in this mode.
func accepts(w guestfs.OpenMode, s location) sys.Errno {
	n := s.node
	switch {
	case w.Exclusive:
		return sys.EEXIST
	case n.isDirectory() && (w.Write || w.Create):
		return sys.EISDIR
	case n.isDirectory():
		return 0
	case w.Directory || s.slash:
		return sys.ENOTDIR
	case n.isLink():
		return sys.ELOOP
	}
	return 0
}

// OpenFile implements sys.FS.
func (f *FS) OpenFile(path string, flag sys.Oflag, perm fs.FileMode) (sys.File, sys.Errno) {
	return f.openAs(f.handles, path, path, flag, perm)
}

// openAs opens a path that the mount of these handles knows by a name.
func (f *FS) openAs(handles *guestfs.Handles, name, path string, flag sys.Oflag, perm fs.FileMode) (sys.File, sys.Errno) {
	w, errno := guestfs.ParseOpenMode(flag)
	if errno != 0 {
		return nil, errno
	}
	return handles.Open(name, flag, func(release func()) (sys.File, sys.Errno) {
		h := handle{fs: f, release: release}
		errno := f.do(func() (errno sys.Errno) {
			h.node, errno = f.open(path, w, perm.Perm())
			return errno
		})
		switch {
		case errno != 0:
			return nil, errno
		case h.node.isDirectory():
			return &directory{handle: h}, 0
		}
		return &file{handle: h, readable: w.Read, writable: w.Write, appends: w.Append}, 0
	})
}

// open finds or creates the node, and counts its handle.
func (f *FS) open(path string, w guestfs.OpenMode, perm fs.FileMode) (*node, sys.Errno) {
	follow := always
	switch {
	case w.Create && strings.HasSuffix(path, "/"):
		follow = never
	case w.Exclusive || !w.Follow:
		follow = ifSlash
	}
	s, errno := f.walk(path, follow)
	switch {
	case errno != 0:
		return nil, errno
	case s.slash && w.Create:
		return nil, sys.EISDIR
	case s.node != nil:
		if errno := accepts(w, s); errno != 0 {
			return nil, errno
		}
		if w.Truncate {
			f.cut(s.node, 0)
			f.touch(s.node)
		}
	case !w.Create:
		return nil, sys.ENOENT
	default:
		s.node = f.newNode(perm)
		if errno := f.create(s, s.node); errno != 0 {
			return nil, errno
		}
	}
	s.node.opens++
	return s.node, 0
}
