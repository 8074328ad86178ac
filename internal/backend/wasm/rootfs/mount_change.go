package rootfs

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/tetratelabs/wazero/experimental/sys"
	wazerosys "github.com/tetratelabs/wazero/sys"

	"github.com/cordon-sandbox/cordon/internal/backend/wasm/guestfs"
)

// reportLimit reports that our quota is exceeded, and returns the guest's error number.
func (s *Set) reportLimit(errno sys.Errno) sys.Errno {
	if errno == overQuota {
		if s.limits.Exceeded != nil {
			s.limits.Exceeded(DiskLimit)
		}
		return guestfs.ENOSPC
	}
	return errno
}

// create creates a new name, if the quota allows it.
func (m *mount) create(op string, s location, create func() error) sys.Errno {
	m.set.changing.Lock()
	var err error = overQuota
	if m.set.quota.take(EntryCost) {
		if err = create(); err != nil {
			m.set.quota.give(EntryCost)
		}
	}
	m.set.changing.Unlock()
	return m.failed(op, s, err)
}

// Mkdir implements sys.FS.
func (m *mount) Mkdir(name string, perm fs.FileMode) sys.Errno {
	s, errno := m.findToChange("mkdir", name)
	if errno != 0 {
		return errno
	}
	return m.create("mkdir", s, func() error { return s.root.Mkdir(s.name, perm&0o755) })
}

// Link implements sys.FS.
func (m *mount) Link(oldName, newName string) sys.Errno {
	from, errno := m.findToChange("link", oldName)
	if errno != 0 {
		return errno
	}
	to, errno := m.findToChange("link", newName)
	if errno != 0 {
		return errno
	}
	return m.create("link", to, func() error { return from.root.Link(from.name, to.name) })
}

// Symlink implements sys.FS.
func (m *mount) Symlink(text, name string) sys.Errno {
	s, errno := m.findToChange("symlink", name)
	if errno != 0 {
		return errno
	}
	if len(text) >= maxPath {
		return sys.ENAMETOOLONG
	}
	text = strings.Clone(text) // wazero's string is in the guest's memory, which may change
	if leaves(s.name, text) {
		return m.deny("symlink", s, sys.EPERM)
	}
	return m.create("symlink", s, func() error { return s.root.Symlink(filepath.FromSlash(text), s.name) })
}

// Unlink implements sys.FS.
func (m *mount) Unlink(name string) sys.Errno { return m.remove("unlink", name, false) }

// Rmdir implements sys.FS.
func (m *mount) Rmdir(name string) sys.Errno { return m.remove("rmdir", name, true) }

// remove checks the kind first, because os.Root removes both files and directories.
func (m *mount) remove(op, name string, directory bool) sys.Errno {
	s, errno := m.findToChange(op, name)
	if errno != 0 {
		return errno
	}
	if isTop(s.name) {
		return sys.EINVAL
	}
	m.set.changing.Lock()
	info, err := s.root.Lstat(s.name)
	switch {
	case err != nil:
	case directory && !info.IsDir():
		err = sys.ENOTDIR
	case !directory && info.IsDir():
		err = sys.EISDIR
	default:
		freed := m.set.freed(info)
		if err = s.root.Remove(s.name); err == nil {
			m.set.quota.give(freed)
		}
	}
	m.set.changing.Unlock()
	return m.failed(op, s, err)
}

// freed returns how much of the quota the removal of a name releases: for a file that still
// exists, because it is open or has another name, only the cost of the name.
func (s *Set) freed(info fs.FileInfo) int64 {
	if !info.Mode().IsRegular() || !countsNames || wazerosys.NewStat_t(info).Nlink != 1 || s.isOpen(info) {
		return EntryCost
	}
	return EntryCost + info.Size()
}

// Rename implements sys.FS.
func (m *mount) Rename(oldName, newName string) sys.Errno {
	from, errno := m.findToChange("rename", oldName)
	if errno != 0 {
		return errno
	}
	to, errno := m.findToChange("rename", newName)
	if errno != 0 {
		return errno
	}
	if isTop(from.name) || isTop(to.name) {
		return sys.EINVAL
	}
	m.set.changing.Lock()
	blame, err := m.rename(from, to)
	m.set.changing.Unlock()
	return m.failed("rename", blame, err)
}

// rename also returns which path an error is about.
func (m *mount) rename(from, to location) (blame location, err error) {
	source, err := from.root.Lstat(from.name)
	if err != nil {
		return from, err
	}
	target, err := to.root.Lstat(to.name)
	if err != nil {
		return to, from.root.Rename(from.name, to.name) // the target does not exist, or Rename returns the error
	}
	switch {
	case os.SameFile(source, target) && path.Clean(from.name) == path.Clean(to.name):
		return to, nil
	case os.SameFile(source, target):
		return to, from.root.Rename(from.name, to.name)
	case target.IsDir() && !source.IsDir():
		return to, sys.EISDIR
	case !target.IsDir() && source.IsDir():
		return to, sys.ENOTDIR
	}
	freed := m.set.freed(target)
	if target.IsDir() {
		// POSIX can replace an empty directory, os.Root cannot.
		if err := to.root.Remove(to.name); err != nil {
			return to, err
		}
	}
	if err := from.root.Rename(from.name, to.name); err != nil {
		return to, err
	}
	m.set.quota.give(freed)
	return to, nil
}

// Chmod implements sys.FS. WASI has no call for it.
func (m *mount) Chmod(name string, perm fs.FileMode) sys.Errno {
	s, errno := m.findToChange("chmod", name)
	if errno != 0 {
		return errno
	}
	return m.failed("chmod", s, s.root.Chmod(s.name, perm&0o755))
}

// Utimens implements sys.FS.
func (m *mount) Utimens(name string, atim, mtim int64) sys.Errno {
	s, errno := m.findToWrite("utimens", name)
	if errno != 0 {
		return errno
	}
	if s.alone {
		if _, err := s.stat(true); err != nil {
			return m.failed("utimens", s, err)
		}
	}
	return m.failed("utimens", s, s.root.Chtimes(s.name, timeOf(atim), timeOf(mtim)))
}

// timeOf returns the zero time for a time that does not change, as package os expects.
func timeOf(nanoseconds int64) time.Time {
	if nanoseconds == sys.UTIME_OMIT {
		return time.Time{}
	}
	return time.Unix(0, nanoseconds)
}
