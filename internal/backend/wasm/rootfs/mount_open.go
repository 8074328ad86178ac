package rootfs

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/tetratelabs/wazero/experimental/sys"

	"github.com/cordon-sandbox/cordon/internal/backend/wasm/guestfs"
)

// openMode is the parsed flags and mode of an open.
type openMode struct {
	guestfs.OpenMode
	perm fs.FileMode
}

func parseOpenMode(flag sys.Oflag, perm fs.FileMode) (openMode, sys.Errno) {
	w, errno := guestfs.ParseOpenMode(flag)
	return openMode{w, perm & 0o644}, errno
}

// accepts checks whether a file may be opened in this mode. It is called before the open,
// which could have side effects on a device, and after it.
func (w openMode) accepts(info fs.FileInfo) sys.Errno {
	mode := info.Mode()
	switch {
	case mode&fs.ModeSymlink != 0:
		return sys.ELOOP
	case mode.IsDir() && (w.Write || w.Create):
		return sys.EISDIR
	case mode.IsDir():
		return 0
	case w.Directory:
		return sys.ENOTDIR
	case !mode.IsRegular():
		return sys.EPERM
	case w.Write && mode&(fs.ModeSetuid|fs.ModeSetgid) != 0:
		return sys.EPERM
	}
	return 0
}

// flags returns the flags for package os, without truncating and appending: the open file is
// checked first, and growth is charged.
func (w openMode) flags() int {
	flags := os.O_RDONLY
	if w.Write {
		flags = os.O_WRONLY
		if w.Read {
			flags = os.O_RDWR
		}
	}
	if w.Sync {
		flags |= os.O_SYNC
	}
	return flags | openNonblock
}

// flagsToMake returns the flags to create a file that did not exist at the check. A link that
// appeared in the meantime is not followed where links must not be.
func (w openMode) flagsToMake() int {
	flags := w.flags() | os.O_CREATE
	if w.Exclusive || !w.Follow {
		flags |= os.O_EXCL
	}
	return flags
}

// OpenFile implements sys.FS.
func (m *mount) OpenFile(name string, flag sys.Oflag, perm fs.FileMode) (sys.File, sys.Errno) {
	return m.handles.Open(name, flag, func(release func()) (sys.File, sys.Errno) {
		w, errno := parseOpenMode(flag, perm)
		if errno != 0 {
			return nil, errno
		}
		return m.open(name, w, release)
	})
}

// open makes the file call release when it is closed. If the open fails, release is not
// called.
func (m *mount) open(name string, w openMode, release func()) (sys.File, sys.Errno) {
	if m.set.ended() {
		return nil, sys.EBADF
	}
	if m.isList(name) {
		return m.newList(w, release)
	}
	find := m.find
	if w.Write || w.Create {
		find = m.findToWrite
	}
	s, errno := find("open", name)
	if errno != 0 {
		return nil, errno
	}

	m.set.changing.Lock()
	f, info, err := m.openLocation(s, w)
	if err == nil {
		if errno := m.set.keep(f, info); errno != 0 {
			err = errors.Join(errno, f.Close())
		}
	}
	m.set.changing.Unlock()
	if errors.Is(err, errSpecial) {
		return nil, m.deny("open", s, sys.EPERM)
	}
	if err != nil {
		return nil, m.failed("open", s, err)
	}

	h := handle{mount: m, set: m.set, location: s, file: f, release: release}
	if info.IsDir() {
		return &directory{handle: h}, 0
	}
	return &file{handle: h, readable: w.Read, writable: w.Write, appends: w.Append}, 0
}

// errSpecial means that a file is neither regular nor a directory, or must not be written.
var errSpecial = errors.New("not a plain file")

// openLocation opens a file that passes both checks.
func (m *mount) openLocation(s location, w openMode) (*os.File, fs.FileInfo, error) {
	before, err := s.stat(w.Follow)
	created := errors.Is(err, fs.ErrNotExist) && w.Create && !s.alone
	switch {
	case created:
		if strings.HasSuffix(s.name, "/") {
			return nil, nil, sys.EISDIR
		}
	case err != nil:
		return nil, nil, err
	case w.Exclusive:
		return nil, nil, sys.EEXIST
	default:
		if err := refusal(w.accepts(before)); err != nil {
			return nil, nil, err
		}
	}

	flags := w.flags()
	if created {
		if !m.set.quota.take(EntryCost) {
			return nil, nil, overQuota
		}
		flags = w.flagsToMake()
	}
	f, err := s.root.OpenFile(s.name, flags, w.perm)
	if err != nil {
		if created {
			m.set.quota.give(EntryCost)
		}
		return nil, nil, err
	}
	info, err := m.recheck(f, before, s, w)
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

// recheck is the second check, of the file that was really opened.
func (m *mount) recheck(f *os.File, before fs.FileInfo, s location, w openMode) (fs.FileInfo, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if err := refusal(w.accepts(info)); err != nil {
		return nil, err
	}
	if before != nil && (s.alone || !w.Follow) && !os.SameFile(before, info) {
		return nil, sys.ELOOP // os.Root followed a link that appeared in the meantime
	}
	if w.Truncate && info.Size() > 0 {
		if err := f.Truncate(0); err != nil {
			return nil, err
		}
		m.set.quota.give(info.Size())
	}
	return info, nil
}

func refusal(errno sys.Errno) error {
	switch errno {
	case 0:
		return nil
	case sys.EPERM:
		return errSpecial
	}
	return errno
}
