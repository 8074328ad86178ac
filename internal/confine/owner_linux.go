package confine

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// A Runner that is root starts its guests as nobody, who cannot change files in a
// workspace that belongs to root. The kernel can translate the owners of a mount: an id
// inside a user namespace is taken for its id outside.

// translation uses the user namespace of the guest itself. While the sandbox is built,
// the guest has the id of the owner of its first directory there. Then it enters another
// user namespace inside, in which it has its own id.
type translation struct {
	owner  *ids
	trees  []int
	mounts []Mount
}

// add adds a directory. A directory with another owner needs another namespace.
func (t *translation) add(tree int, m Mount, spec Spec) error {
	var stat unix.Stat_t
	if err := unix.Fstat(tree, &stat); err != nil {
		return setupError("open "+m.Path, err, false)
	}
	owner := ids{int(stat.Uid), int(stat.Gid)}
	switch {
	case owner.uid == spec.Plan.UID:
		return nil
	// A test that lets a guest keep its capabilities needs them in the namespace that
	// owns the others.
	case t.owner == nil && spec.Plan.Capabilities:
		t.owner = &owner
	case t.owner == nil || *t.owner != owner:
		return spec.Command.Owners.apply(tree, m, owner, spec.Plan)
	}
	t.trees, t.mounts = append(t.trees, tree), append(t.mounts, m)
	return nil
}

// apply runs when the namespace exists and before the trees are used.
func (t *translation) apply(p *Process, plan Plan) error {
	if t.owner == nil {
		return nil
	}
	namespace, err := unix.Open("/proc/"+strconv.Itoa(p.Pid)+"/ns/user", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return setupError("clone", err, true)
	}
	defer unix.Close(namespace)
	for i, tree := range t.trees {
		if err := translate(tree, namespace, t.mounts[i]); err != nil {
			return &OwnerError{Path: t.mounts[i].source(), UID: t.owner.uid, GID: t.owner.gid, GuestUID: plan.UID, Cause: err}
		}
	}
	return nil
}

// translate maps the owners of a mount. A file system that cannot do that (tmpfs before
// Linux 6.3, ramfs, most network file systems) is mounted unchanged if a guest that owns
// nothing there can still do what it needs: read, or write where everybody may.
func translate(tree, namespace int, m Mount) error {
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_IDMAP, Userns_fd: uint64(namespace)}
	err := unix.MountSetattr(tree, "", unix.AT_EMPTY_PATH, &attr)
	if !errors.Is(err, unix.EINVAL) {
		return err
	}
	var stat unix.Stat_t
	if statErr := unix.Fstat(tree, &stat); statErr != nil {
		return errors.Join(err, statErr)
	}
	need := uint32(0o7)
	switch m.Kind {
	case BindDir:
		need = 0o5
	case BindFile:
		need = 0o4
	case WritableFile:
		need = 0o6
	}
	if stat.Mode&need == need {
		return nil
	}
	return err
}

// enterOwnUserNamespace gives the child its own id. In the new namespace it has all
// capabilities and a full bounding set.
func (p *program) enterOwnUserNamespace(plan Plan) {
	p.call(unix.SYS_UNSHARE, CloneNewUser)
	for _, file := range []struct{ name, text string }{
		{"/proc/self/setgroups", "deny"},
		{"/proc/self/uid_map", fmt.Sprintf("%d %d 1\n", plan.Inside, plan.first.uid)},
		{"/proc/self/gid_map", fmt.Sprintf("%d %d 1\n", plan.Inside, plan.first.gid)},
	} {
		// The child owns its files in /proc only while it is dumpable, and with shared
		// memory another child may end that at any time. No process has rights in its
		// namespaces that could exploit this.
		p.call(unix.SYS_PRCTL, unix.PR_SET_DUMPABLE, 1)
		p.open(file.name, unix.O_WRONLY, 0)
		opened := p.last()
		p.calls[opened].again, p.calls[opened].tries = unix.EACCES, 1000
		p.call(unix.SYS_WRITE, 0, p.text(file.text), uintptr(len(file.text))).borrow(opened, 0)
		p.call(unix.SYS_CLOSE, 0).borrow(opened, 0)
	}
	if plan.Capabilities {
		p.emptyBoundingSet()
	}
}

// OwnerMaps serve directories of further owners. They keep one namespace for each pair of
// users. The zero value is ready for use.
type OwnerMaps struct {
	mu     sync.Mutex
	fds    map[ownerMap]int
	closed bool
}

type ownerMap struct{ uid, gid, toUID, toGID int }

// apply makes the files of the mounted directory's owner belong to the guest.
func (o *OwnerMaps) apply(tree int, m Mount, owner ids, p Plan) error {
	fd, err := o.namespace(ownerMap{uid: owner.uid, gid: owner.gid, toUID: p.UID, toGID: p.GID})
	if err == nil {
		err = translate(tree, fd, m)
	}
	if err != nil {
		return &OwnerError{Path: m.source(), UID: owner.uid, GID: owner.gid, GuestUID: p.UID, Cause: err}
	}
	return nil
}

// OwnerError says that the guest could not become the owner of a directory.
type OwnerError struct {
	Path     string
	UID, GID int // the owner's
	GuestUID int
	Cause    error
}

func (e *OwnerError) Error() string {
	return fmt.Sprintf("%s belongs to uid %d, which cannot be translated to the guest's uid %d: %v", e.Path, e.UID, e.GuestUID, e.Cause)
}

func (e *OwnerError) Unwrap() error { return e.Cause }

// AsOwner returns a plan whose guest runs as the owner of a directory whose owner cannot
// be translated, if that is an ordinary user. Such a guest has no more rights than the
// owner running cordon. A guest never gets root's id, which opens files of the kernel
// without any capability.
func (e *OwnerError) AsOwner(p Plan) (Plan, bool) {
	if e.UID == 0 || e.GID == 0 || !errors.Is(e.Cause, unix.EINVAL) {
		return p, false
	}
	p.UID, p.GID = e.UID, e.GID
	return p, true
}

// namespace returns the user namespace of a map, which stays open until Close.
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

// Close closes the namespaces.
func (o *OwnerMaps) Close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, fd := range o.fds {
		unix.Close(fd)
	}
	o.fds, o.closed = nil, true
}

// newOwnerMap starts a process in a new user namespace, opens the namespace, and ends the
// process: a namespace lives as long as it is open.
func newOwnerMap(m ownerMap) (int, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	process, err := cloneAndWatch(CloneNewUser, func(parting int) *program {
		p := newProgram(pair[1])
		p.step("wait", false)
		p.closeAllBut(0, pair[1], parting)
		p.part(parting)
		p.call(unix.SYS_RECVFROM, uintptr(pair[1]), keep(p, new(byte)), 1).positive = true
		return p
	}, func() {})
	unix.Close(pair[1])
	if err != nil {
		unix.Close(pair[0])
		return -1, err
	}
	defer process.Wait()
	defer unix.Close(pair[0]) // ends the process
	directory := "/proc/" + strconv.Itoa(process.Pid)
	err = errors.Join(
		os.WriteFile(directory+"/uid_map", fmt.Appendf(nil, "%d %d 1\n", m.uid, m.toUID), 0),
		os.WriteFile(directory+"/gid_map", fmt.Appendf(nil, "%d %d 1\n", m.gid, m.toGID), 0),
	)
	if err != nil {
		return -1, err
	}
	return unix.Open(directory+"/ns/user", unix.O_RDONLY|unix.O_CLOEXEC, 0)
}
