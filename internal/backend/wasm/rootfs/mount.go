package rootfs

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/tetratelabs/wazero/experimental/sys"
	wazerosys "github.com/tetratelabs/wazero/sys"

	"github.com/cordon-sandbox/cordon/internal/backend/wasm/guestfs"
)

// mount is a mount point of one guest. wazero compares mounts with ==.
type mount struct {
	sys.UnimplementedFS
	*mountPoint
	set     *Set
	device  uint64
	handles *guestfs.Handles
}

// location is what a guest's path refers to, before any access to the file.
type location struct {
	root *os.Root
	name string // in root
	path string // the guest's path
	// write says that the grant allows changes.
	write bool
	// alone is a single granted file. A link at its name must not be followed, because
	// it could lead to the other files of the directory.
	alone bool
}

// find returns the location of a path, or an error if the guest has no access.
func (m *mount) find(op, name string) (location, sys.Errno) {
	if m.set.ended() {
		return location{}, sys.EBADF
	}
	rel, errno := inside(name)
	if errno != 0 {
		return location{}, errno
	}
	s := location{root: m.directory, name: rel, path: path.Join(m.guest, rel), write: m.write}
	clean := path.Clean(rel)
	first, _, _ := strings.Cut(clean, "/")
	file, granted := m.files[first]
	switch {
	case granted && (first != clean || strings.HasSuffix(rel, "/")):
		return s, sys.ENOTDIR
	case granted:
		return location{root: file.root, name: file.name, path: s.path, write: file.write, alone: true}, 0
	case m.directory != nil:
		return s, 0
	case first == "..", clean == ".":
		return s, m.deny(op, s, sys.EPERM)
	case op == "stat":
		return s, sys.ENOENT // not reported: libraries look for files at many paths
	}
	return s, m.deny(op, s, sys.ENOENT)
}

// findToWrite is find for changes of a file.
func (m *mount) findToWrite(op, name string) (location, sys.Errno) {
	s, errno := m.find(op, name)
	if errno == 0 && !s.write {
		errno = m.deny(op, s, sys.EROFS)
	}
	return s, errno
}

// findToChange is find for changes of a directory, which a single granted file does not allow.
func (m *mount) findToChange(op, name string) (location, sys.Errno) {
	s, errno := m.findToWrite(op, name)
	if errno == 0 && s.alone {
		errno = m.deny(op, s, sys.EPERM)
	}
	return s, errno
}

func (m *mount) deny(op string, s location, errno sys.Errno) sys.Errno {
	m.set.denied(op, s.path)
	return errno
}

// failed returns the guest's error number for an error of os.Root.
func (m *mount) failed(op string, s location, err error) sys.Errno {
	switch {
	case err == nil:
		return 0
	case errors.Is(err, m.set.escapes):
		return m.deny(op, s, sys.EPERM)
	}
	return m.set.reportLimit(errnoOf(err))
}

// stat returns information about the file. It does not follow a link at a single granted file.
func (s location) stat(follow bool) (fs.FileInfo, error) {
	if follow && !s.alone {
		return s.root.Stat(s.name)
	}
	info, err := s.root.Lstat(s.name)
	if err == nil && s.alone && info.Mode()&fs.ModeSymlink != 0 {
		return nil, sys.ELOOP
	}
	return info, err
}

// Stat implements sys.FS.
func (m *mount) Stat(name string) (wazerosys.Stat_t, sys.Errno) { return m.stat(name, true) }

// Lstat implements sys.FS.
func (m *mount) Lstat(name string) (wazerosys.Stat_t, sys.Errno) { return m.stat(name, false) }

func (m *mount) stat(name string, follow bool) (wazerosys.Stat_t, sys.Errno) {
	if m.isList(name) {
		return m.listStat(), 0
	}
	s, errno := m.find("stat", name)
	if errno != 0 {
		return wazerosys.Stat_t{}, errno
	}
	info, err := s.stat(follow)
	if err != nil {
		return wazerosys.Stat_t{}, m.failed("stat", s, err)
	}
	return m.statOf(info), 0
}

// statOf hides the host's device number.
func (m *mount) statOf(info fs.FileInfo) wazerosys.Stat_t {
	st := wazerosys.NewStat_t(info)
	st.Dev = m.device
	return st
}

// Readlink implements sys.FS.
func (m *mount) Readlink(name string) (string, sys.Errno) {
	s, errno := m.find("readlink", name)
	if errno != 0 {
		return "", errno
	}
	if s.alone {
		return "", sys.EINVAL // not a link, or a link that must not be read
	}
	text, err := s.root.Readlink(s.name)
	if err != nil {
		return "", m.failed("readlink", s, err)
	}
	text = filepath.ToSlash(text)
	if leaves(s.name, text) {
		return "", m.deny("readlink", s, sys.EPERM)
	}
	return text, 0
}
