package rootfs

import (
	"io"
	"io/fs"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/tetratelabs/wazero/experimental/sys"
	wazerosys "github.com/tetratelabs/wazero/sys"
)

// list is the directory in which a guest sees files that were granted one by one. It does not
// exist on the host and has no descriptor.
type list struct {
	sys.DirFile
	futureMethods
	mount   *mount
	release func()
	closed  atomic.Bool
	next    int
}

// futureMethods implements methods that future versions of wazero may add. It is nested one
// level deeper, so that the methods of DirFile take precedence.
type futureMethods struct{ sys.UnimplementedFile }

// isList reports whether name is such a directory.
func (m *mount) isList(name string) bool {
	rel, errno := inside(name)
	return errno == 0 && m.directory == nil && isTop(rel)
}

func (m *mount) newList(w openMode, release func()) (sys.File, sys.Errno) {
	if w.Write || w.Create {
		return nil, sys.EISDIR
	}
	return &list{mount: m, release: release}, 0
}

func (m *mount) listStat() wazerosys.Stat_t {
	return wazerosys.Stat_t{Dev: m.device, Ino: 1, Mode: fs.ModeDir | 0o555, Nlink: 1}
}

// Readdir implements sys.File.
func (l *list) Readdir(n int) ([]sys.Dirent, sys.Errno) {
	if l.closed.Load() {
		return nil, sys.EBADF
	}
	var entries []sys.Dirent
	for _, name := range slices.Sorted(maps.Keys(l.mount.files))[l.next:] {
		if n > 0 && len(entries) == n {
			break
		}
		l.next++
		if st, errno := l.mount.Lstat(name); errno == 0 {
			entries = append(entries, sys.Dirent{Ino: st.Ino, Name: name, Type: st.Mode.Type()})
		}
	}
	return entries, 0
}

// Seek implements sys.File.
func (l *list) Seek(offset position, whence int) (position, sys.Errno) {
	if offset != 0 || whence != io.SeekStart {
		return 0, sys.EINVAL
	}
	l.next = 0
	return 0, 0
}

// Stat implements sys.File.
func (l *list) Stat() (wazerosys.Stat_t, sys.Errno) { return l.mount.listStat(), 0 }

// Dev implements sys.File.
func (l *list) Dev() (uint64, sys.Errno) { return l.mount.device, 0 }

// Ino implements sys.File.
func (l *list) Ino() (wazerosys.Inode, sys.Errno) { return l.mount.listStat().Ino, 0 }

// Utimens implements sys.File.
func (l *list) Utimens(int64, int64) sys.Errno { return sys.EROFS }

// Close implements sys.File.
func (l *list) Close() sys.Errno {
	if l.closed.CompareAndSwap(false, true) {
		l.release()
	}
	return 0
}
