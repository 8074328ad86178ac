package scratch

import (
	"io/fs"
	"strings"

	"github.com/tetratelabs/wazero/experimental/sys"
)

// accessMode are the two bits of an Oflag that are no flags.
const accessMode = sys.O_RDWR | sys.O_WRONLY

// wish is what a guest wants of an open, once it makes sense.
type wish struct {
	read, write, create, exclusive, truncate, appends, folder, follow bool
	perm                                                              fs.FileMode
}

func wishOf(flag sys.Oflag, perm fs.FileMode) (wish, sys.Errno) {
	has := func(f sys.Oflag) bool { return flag&f != 0 }
	access := flag & accessMode
	w := wish{
		read:      access == sys.O_RDONLY || access == sys.O_RDWR,
		write:     access == sys.O_WRONLY || access == sys.O_RDWR,
		create:    has(sys.O_CREAT),
		exclusive: has(sys.O_CREAT) && has(sys.O_EXCL),
		truncate:  has(sys.O_TRUNC),
		appends:   has(sys.O_APPEND),
		folder:    has(sys.O_DIRECTORY),
		follow:    !has(sys.O_NOFOLLOW),
		perm:      perm.Perm(),
	}
	switch {
	case access == accessMode, w.truncate && !w.write, w.folder && (w.create || w.truncate):
		return w, sys.EINVAL
	case w.folder:
		w.read, w.write = true, false // some libraries ask for all rights to a folder
	}
	return w, 0
}

// accepts says whether the node may be opened like that.
func (w wish) accepts(s spot) sys.Errno {
	n := s.node
	switch {
	case w.exclusive:
		return sys.EEXIST
	case n.isFolder() && (w.write || w.create):
		return sys.EISDIR
	case n.isFolder():
		return 0
	case w.folder || s.slash:
		return sys.ENOTDIR
	case n.isLink():
		return sys.ELOOP
	}
	return 0
}

// OpenFile implements sys.FS.
func (f *FS) OpenFile(path string, flag sys.Oflag, perm fs.FileMode) (sys.File, sys.Errno) {
	w, errno := wishOf(flag, perm)
	if errno != 0 {
		return nil, errno
	}
	top := path == "." && flag == sys.O_RDONLY
	counted := !top || !f.handed.CompareAndSwap(false, true)
	if counted && f.limits.Files != nil {
		errno = f.limits.Files.Reserve()
	}
	if errno != 0 {
		if top {
			// wazero opens a mount like this when the guest first uses it, and panics if
			// it gets any other error.
			return nil, sys.ENOENT
		}
		return nil, errno
	}
	h := handle{fs: f, counted: counted}
	errno = f.do(func() sys.Errno {
		h.node, errno = f.open(path, w)
		return errno
	})
	switch {
	case errno != 0:
		h.unreserve()
		return nil, errno
	case h.node.isFolder():
		return &folder{handle: h}, 0
	}
	return &file{handle: h, readable: w.read, writable: w.write, appends: w.appends}, 0
}

// open finds or makes the node, and counts its handle.
func (f *FS) open(path string, w wish) (*node, sys.Errno) {
	follow := always
	switch {
	case w.create && strings.HasSuffix(path, "/"):
		follow = never
	case w.exclusive || !w.follow:
		follow = ifSlash
	}
	s, errno := f.walk(path, follow)
	switch {
	case errno != 0:
		return nil, errno
	case s.slash && w.create:
		return nil, sys.EISDIR
	case s.node != nil:
		if errno := w.accepts(s); errno != 0 {
			return nil, errno
		}
		if w.truncate {
			f.cut(s.node, 0)
			f.touch(s.node)
		}
	case !w.create:
		return nil, sys.ENOENT
	default:
		s.node = f.newNode(w.perm)
		if errno := f.create(s, s.node); errno != 0 {
			return nil, errno
		}
	}
	s.node.opens++
	return s.node, 0
}
