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

// mount is a place as one guest has it. wazero compares mounts with ==.
type mount struct {
	sys.UnimplementedFS
	*place
	set     *Set
	device  uint64
	handles *guestfs.Handles
}

// spot is where a path of the guest leads, before anything was looked at.
type spot struct {
	root *os.Root
	name string // in root
	path string // as the guest would say it
	// write is whether the grant is to change.
	write bool
	// alone is a granted file in a directory that is not: its name must not be
	// followed, for the directory's other files are near.
	alone bool
}

// find gives the spot of a path, or says why the guest has none there.
func (m *mount) find(op, name string) (spot, sys.Errno) {
	if m.set.ended() {
		return spot{}, sys.EBADF
	}
	rel, errno := inside(name)
	if errno != 0 {
		return spot{}, errno
	}
	s := spot{root: m.directory, name: rel, path: path.Join(m.guest, rel), write: m.write}
	clean := path.Clean(rel)
	first, _, _ := strings.Cut(clean, "/")
	file, granted := m.files[first]
	switch {
	case granted && (first != clean || strings.HasSuffix(rel, "/")):
		return s, sys.ENOTDIR
	case granted:
		return spot{root: file.root, name: file.name, path: s.path, write: file.write, alone: true}, 0
	case m.directory != nil:
		return s, 0
	case first == "..", clean == ".":
		return s, m.deny(op, s, sys.EPERM)
	case op == "stat":
		return s, sys.ENOENT // libraries look for files in many places: no attempt
	}
	return s, m.deny(op, s, sys.ENOENT)
}

// findToWrite is find for what changes a file.
func (m *mount) findToWrite(op, name string) (spot, sys.Errno) {
	s, errno := m.find(op, name)
	if errno == 0 && !s.write {
		errno = m.deny(op, s, sys.EROFS)
	}
	return s, errno
}

// findToChange is find for what changes a directory: a file that is granted alone
// has none.
func (m *mount) findToChange(op, name string) (spot, sys.Errno) {
	s, errno := m.findToWrite(op, name)
	if errno == 0 && s.alone {
		errno = m.deny(op, s, sys.EPERM)
	}
	return s, errno
}

func (m *mount) deny(op string, s spot, errno sys.Errno) sys.Errno {
	m.set.denied(op, s.path)
	return errno
}

// failed is the guest's word for an error of os.Root.
func (m *mount) failed(op string, s spot, err error) sys.Errno {
	switch {
	case err == nil:
		return 0
	case errors.Is(err, m.set.escapes):
		return m.deny(op, s, sys.EPERM)
	}
	return m.set.tell(errnoOf(err))
}

// stat gives what is at the spot. A link is not followed where the grant is a single file.
func (s spot) stat(follow bool) (fs.FileInfo, error) {
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

// statOf hides the device's number, which is the host's business.
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
		return "", sys.EINVAL // not a link, or we do not say
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
