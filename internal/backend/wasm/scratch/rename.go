package scratch

import (
	"strings"

	"github.com/tetratelabs/wazero/experimental/sys"
)

// Rename implements sys.FS.
func (f *FS) Rename(from, to string) sys.Errno {
	return f.do(func() sys.Errno {
		source, errno := f.walk(from, never)
		if errno != 0 {
			return errno
		}
		target, errno := f.walk(to, never)
		if errno != 0 {
			return errno
		}
		if source.name == "" || target.name == "" {
			return sys.EINVAL // the top directory, or dots
		}
		if source.node == target.node && source.node != nil {
			if (source.slash || target.slash) && !source.node.isDirectory() {
				return sys.ENOTDIR
			}
			return 0 // two names of one file: POSIX keeps both
		}
		if errno := f.mayRename(source, target); errno != 0 {
			return errno
		}
		if target.node != nil {
			f.remove(target.directory, target.name, target.node)
		}
		f.detach(source.directory, source.name, source.node)
		f.attach(target.directory, strings.Clone(target.name), source.node)
		f.touch(source.directory, target.directory)
		source.node.changed = source.directory.changed
		return 0
	})
}

// mayRename checks in the order of Linux.
func (f *FS) mayRename(source, target location) sys.Errno {
	switch {
	case source.node == nil:
		return sys.ENOENT
	case !source.node.isDirectory() && (source.slash || target.slash):
		return sys.ENOTDIR
	case f.isIn(target.directory, source.node):
		return sys.EINVAL
	case target.node == nil:
		return 0
	case f.isIn(source.directory, target.node):
		return sys.ENOTEMPTY
	case source.node.isDirectory() && !target.node.isDirectory():
		return sys.ENOTDIR
	case !source.node.isDirectory() && target.node.isDirectory():
		return sys.EISDIR
	case target.node.isDirectory() && target.node.names.count() > 0:
		return sys.ENOTEMPTY
	}
	return 0
}

// isIn reports whether directory is other, or is below it.
func (f *FS) isIn(directory, other *node) bool {
	for ; directory != other; directory = directory.names.parent {
		if directory == &f.top {
			return false
		}
	}
	return true
}
