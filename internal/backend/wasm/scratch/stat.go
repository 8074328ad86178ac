package scratch

import (
	"io/fs"

	"github.com/tetratelabs/wazero/experimental/sys"
	wazerosys "github.com/tetratelabs/wazero/sys"
)

// withNode calls work with the node at a path, with the lock held.
func (f *FS) withNode(path string, follow following, work func(*node) sys.Errno) sys.Errno {
	return f.do(func() sys.Errno {
		n, errno := f.find(path, follow)
		if errno != 0 {
			return errno
		}
		return work(n)
	})
}

// Stat implements sys.FS.
func (f *FS) Stat(path string) (wazerosys.Stat_t, sys.Errno) { return f.stat(path, always) }

// Lstat implements sys.FS.
func (f *FS) Lstat(path string) (wazerosys.Stat_t, sys.Errno) { return f.stat(path, ifSlash) }

func (f *FS) stat(path string, follow following) (st wazerosys.Stat_t, errno sys.Errno) {
	errno = f.withNode(path, follow, func(n *node) sys.Errno {
		st = n.stat()
		return 0
	})
	return st, errno
}

// Readlink implements sys.FS.
func (f *FS) Readlink(path string) (text string, errno sys.Errno) {
	errno = f.withNode(path, ifSlash, func(n *node) sys.Errno {
		if !n.isLink() {
			return sys.EINVAL
		}
		text = n.text
		return 0
	})
	return text, errno
}

// Chmod implements sys.FS. WASI has no call for it.
func (f *FS) Chmod(path string, perm fs.FileMode) sys.Errno {
	return f.withNode(path, always, func(n *node) sys.Errno {
		n.mode, n.changed = n.mode.Type()|perm.Perm(), f.now()
		return 0
	})
}

// Utimens implements sys.FS.
func (f *FS) Utimens(path string, accessed, modified int64) sys.Errno {
	return f.withNode(path, always, func(n *node) sys.Errno {
		f.setTimes(n, accessed, modified)
		return 0
	})
}
