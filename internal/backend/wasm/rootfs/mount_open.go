package rootfs

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/tetratelabs/wazero/experimental/sys"
)

// accessMode are the two bits of an Oflag that are no flags.
const accessMode = sys.O_RDWR | sys.O_WRONLY

// wish is what a guest wants of an open, once it makes sense.
type wish struct {
	read, write, create, exclusive, truncate, appends, folder, follow, sync bool
	perm                                                                    fs.FileMode
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
		sync:      has(sys.O_SYNC | sys.O_DSYNC | sys.O_RSYNC),
		perm:      perm & 0o644,
	}
	switch {
	case access == accessMode, w.truncate && !w.write, w.folder && (w.create || w.truncate):
		return w, sys.EINVAL
	case w.folder:
		w.read, w.write = true, false // some libraries ask for all rights to a folder
	}
	return w, 0
}

// accepts says whether the thing may be opened like that. It is asked before the
// open, whose effects on a device nobody knows, and after it.
func (w wish) accepts(info fs.FileInfo) sys.Errno {
	mode := info.Mode()
	switch {
	case mode&fs.ModeSymlink != 0:
		return sys.ELOOP
	case mode.IsDir() && (w.write || w.create):
		return sys.EISDIR
	case mode.IsDir():
		return 0
	case w.folder:
		return sys.ENOTDIR
	case !mode.IsRegular():
		return sys.EPERM
	case w.write && mode&(fs.ModeSetuid|fs.ModeSetgid) != 0:
		return sys.EPERM
	}
	return 0
}

// flags are those of package os. Truncating and appending are not among them:
// what is opened is looked at first, and each growth is measured.
func (w wish) flags() int {
	flags := os.O_RDONLY
	if w.write {
		flags = os.O_WRONLY
		if w.read {
			flags = os.O_RDWR
		}
	}
	if w.sync {
		flags |= os.O_SYNC
	}
	return flags | openNonblock
}

// OpenFile implements sys.FS.
func (m *mount) OpenFile(name string, flag sys.Oflag, perm fs.FileMode) (sys.File, sys.Errno) {
	rel, errno := inside(name)
	if errno != 0 {
		return nil, errno
	}
	own := isTop(rel) && m.handed.CompareAndSwap(false, true)
	f, errno := m.open(rel, flag, perm, own)
	if errno != 0 && isTop(rel) && flag == sys.O_RDONLY {
		// wazero opens a mount like this when the guest first uses it, and panics
		// if it gets any other error.
		return nil, sys.ENOENT
	}
	return f, errno
}

func (m *mount) open(name string, flag sys.Oflag, perm fs.FileMode, own bool) (sys.File, sys.Errno) {
	w, errno := wishOf(flag, perm)
	if errno != 0 {
		return nil, errno
	}
	counted := func() {}
	if !own {
		if errno := m.set.Reserve(); errno != 0 {
			return nil, errno
		}
		counted = m.set.Unreserve
	}
	f, errno := m.openCounted(name, w, counted)
	if errno != 0 {
		counted()
		return nil, errno
	}
	return f, 0
}

// openCounted calls release when the file is closed, not when it is not opened.
func (m *mount) openCounted(name string, w wish, release func()) (sys.File, sys.Errno) {
	find := m.find
	if w.write || w.create {
		find = m.findToWrite
	}
	if m.isList(name) {
		return m.newList(w, release)
	}
	s, errno := find("open", name)
	if errno != 0 {
		return nil, errno
	}

	m.set.changing.Lock()
	f, info, err := m.openSpot(s, w)
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

	h := handle{mount: m, set: m.set, spot: s, file: f, release: release}
	if info.IsDir() {
		return &folder{handle: h}, 0
	}
	return &file{handle: h, readable: w.read, writable: w.write, appends: w.appends}, 0
}

// errSpecial is for what is neither a file nor a folder, or must not be written.
var errSpecial = errors.New("no plain file")

// openSpot opens what passes both looks.
func (m *mount) openSpot(s spot, w wish) (*os.File, fs.FileInfo, error) {
	before, err := s.look(w.follow)
	created := errors.Is(err, fs.ErrNotExist) && w.create && !s.alone
	switch {
	case created:
		if strings.HasSuffix(s.name, "/") {
			return nil, nil, sys.EISDIR
		}
	case err != nil:
		return nil, nil, err
	case w.exclusive:
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
		flags |= os.O_CREATE
		if w.exclusive || !w.follow {
			flags |= os.O_EXCL // a link that came meanwhile is not followed
		}
	}
	f, err := s.root.OpenFile(s.name, flags, w.perm)
	if err != nil {
		if created {
			m.set.quota.give(EntryCost)
		}
		return nil, nil, err
	}
	info, err := m.lookAgain(f, before, s, w)
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

// lookAgain is the second look, at what was really opened.
func (m *mount) lookAgain(f *os.File, before fs.FileInfo, s spot, w wish) (fs.FileInfo, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if err := refusal(w.accepts(info)); err != nil {
		return nil, err
	}
	if before != nil && (s.alone || !w.follow) && !os.SameFile(before, info) {
		return nil, sys.ELOOP // os.Root followed a link that came meanwhile
	}
	if w.truncate && info.Size() > 0 {
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
