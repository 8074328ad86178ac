package jail

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// OwnerMaps makes the files of one user belong to another in a mount. A Runner
// that is root starts its guests as nobody, who could not change what is in a
// workspace of root's. The kernel translates the owners through a user namespace,
// of which there is one for each pair of users. The zero value is ready for use.
type OwnerMaps struct {
	mu     sync.Mutex
	fds    map[ownerMap]int
	closed bool
}

type ownerMap struct{ uid, gid, toUID, toGID int }

// apply makes what belongs to the owner of the mounted folder or file the guest's.
func (o *OwnerMaps) apply(tree int, m Mount, p Plan) error {
	var stat unix.Stat_t
	if err := unix.Fstat(tree, &stat); err != nil {
		return &SetupError{Step: "open " + m.Path, Cause: cause(err)}
	}
	if int(stat.Uid) == p.UID {
		return nil
	}
	fd, err := o.namespace(ownerMap{uid: int(stat.Uid), gid: int(stat.Gid), toUID: p.UID, toGID: p.GID})
	if err == nil {
		attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_IDMAP, Userns_fd: uint64(fd)}
		err = unix.MountSetattr(tree, "", unix.AT_EMPTY_PATH, &attr)
	}
	if err != nil {
		return &OwnerError{Path: m.source(), UID: int(stat.Uid), GuestUID: p.UID, Cause: err}
	}
	return nil
}

// OwnerError says that a guest could not be made the owner of a folder.
type OwnerError struct {
	Path          string
	UID, GuestUID int
	Cause         error
}

func (e *OwnerError) Error() string {
	return fmt.Sprintf("%s belongs to uid %d, and cannot be given to the guest's uid %d: %v", e.Path, e.UID, e.GuestUID, e.Cause)
}

func (e *OwnerError) Unwrap() error { return e.Cause }

// namespace gives the user namespace of a map, which stays open until Close.
func (o *OwnerMaps) namespace(m ownerMap) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if fd, ok := o.fds[m]; ok {
		return fd, nil
	}
	if o.closed {
		return -1, os.ErrClosed
	}
	fd, err := newOwnerMap(m)
	if err != nil {
		return -1, err
	}
	if o.fds == nil {
		o.fds = map[ownerMap]int{}
	}
	o.fds[m] = fd
	return fd, nil
}

// Close lets go of the namespaces.
func (o *OwnerMaps) Close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, fd := range o.fds {
		unix.Close(fd)
	}
	o.fds, o.closed = nil, true
}

// Prepare makes what the folders of the Runner's own user will need, while there
// is time. An error will come again, when there is a folder to name with it.
func (o *OwnerMaps) Prepare() {
	if os.Geteuid() == 0 {
		_, _ = o.namespace(ownerMap{uid: 0, gid: os.Getegid(), toUID: Nobody, toGID: Nobody})
	}
}

// newOwnerMap starts a process in a new user namespace, opens that, and ends the
// process: a namespace lives as long as it is open.
func newOwnerMap(m ownerMap) (int, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	p := newProgram(pair[1])
	p.step("wait", false)
	p.closeAllBut(0, pair[1])
	p.call(unix.SYS_RECVFROM, uintptr(pair[1]), keep(p, new(byte)), 1).positive = true
	process, err := cloneAndWatch(CloneNewUser, p)
	unix.Close(pair[1])
	if err != nil {
		unix.Close(pair[0])
		return -1, err
	}
	defer process.Wait()
	defer unix.Close(pair[0]) // it ends
	folder := "/proc/" + strconv.Itoa(process.Pid)
	err = errors.Join(
		os.WriteFile(folder+"/uid_map", fmt.Appendf(nil, "%d %d 1\n", m.uid, m.toUID), 0),
		os.WriteFile(folder+"/gid_map", fmt.Appendf(nil, "%d %d 1\n", m.gid, m.toGID), 0),
	)
	if err != nil {
		return -1, err
	}
	return unix.Open(folder+"/ns/user", unix.O_RDONLY|unix.O_CLOEXEC, 0)
}
