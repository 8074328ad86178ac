package jail

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// setupCapabilities are held, inside the new user namespace only, while the
// walls go up; keptCapabilities are what the fork server needs to give each
// worker a mount and a pid namespace of its own.
var (
	setupCapabilities = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SYS_CHROOT, unix.CAP_SETPCAP, unix.CAP_SETUID, unix.CAP_SETGID}
	keptCapabilities  = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SYS_CHROOT}
)

// maxTrees is the kernel's SCM_MAX_FD.
const maxTrees = 253

// A re-executed binary never reaches main: the child's line starts here.
func init() {
	if len(os.Args) != 1 || os.Args[0] != childName {
		return
	}
	runtime.LockOSThread() // credentials and capabilities belong to a thread
	if failure := child(); failure != nil {
		message, _ := json.Marshal(struct{ Failure *SetupError }{failure})
		_ = unix.Send(ControlFD, message, unix.MSG_NOSIGNAL) // nobody else is there to be told
	}
	os.Exit(1)
}

// child walks from the first instruction after clone to execve. The order of
// the steps is the argument; each names what would go wrong elsewhere.
func child() *SetupError {
	spec, trees, err := receive()
	if err != nil {
		return &SetupError{Step: "receive the plan", Cause: cause(err)}
	}
	p := spec.Plan

	for _, step := range []struct {
		name string
		ns   bool // a refusal means that namespaces do not work here
		do   func() error
	}{
		// While /proc is still there: the root that follows has none.
		{"keep namespaces", true, func() error { return keepNamespaces(p) }},
		// While we may: changing the user gives up the right to drop it.
		{"bounding set", false, func() error { return dropBoundingSet(p) }},
		// Before the first mount: files in the new root must belong to an id
		// that exists inside. Root becomes nobody here and never comes back.
		{"switch user", false, func() error { return switchUser(p) }},
		{"private mounts", true, func() error { return privateMounts(p) }},
		{"build root", true, func() error { return buildRoot(p, trees) }},
		{"set host name", true, func() error { return hostName(p) }},
		// Descriptors: before the limit falls, and before the program could
		// see any that we, or whoever started us, left open.
		{"limits", false, func() error { return limits(p) }},
		{"descriptors", false, func() error { return descriptors(p) }},
		// Last, because every step above may need a capability.
		{"capabilities", false, func() error { return capabilities(p) }},
		{"no new privileges", false, func() error { return noNewPrivs(p) }},
	} {
		if err := step.do(); err != nil {
			return &SetupError{Step: step.name, Cause: cause(err), Namespace: step.ns}
		}
	}
	err = syscall.Exec(spec.Argv[0], spec.Argv, spec.Env)
	return &SetupError{Step: "execute " + spec.Argv[0], Cause: cause(err)}
}

// receive waits for the plan and the mount trees that come with it.
func receive() (spec Spec, trees []int, err error) {
	buffer, ancillary := make([]byte, 256<<10), make([]byte, unix.CmsgSpace(maxTrees*4))
	n, size, _, _, err := unix.Recvmsg(ControlFD, buffer, ancillary, unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		return spec, nil, err
	}
	if n == 0 {
		os.Exit(1) // the Runner is gone
	}
	parts, err := unix.ParseSocketControlMessage(ancillary[:size])
	if err != nil {
		return spec, nil, err
	}
	for _, part := range parts {
		if trees, err = unix.ParseUnixRights(&part); err != nil {
			return spec, nil, err
		}
	}
	return spec, trees, json.Unmarshal(buffer[:n], &spec)
}

func keepNamespaces(p Plan) error {
	for _, keep := range []struct {
		flag uintptr
		path string
		fd   int
	}{
		{CloneNewNS, "/proc/self/ns/mnt", MountNSFD},
		{CloneNewPID, "/proc/self/ns/pid", PIDNSFD},
	} {
		if p.Namespaces&keep.flag == 0 {
			continue
		}
		fd, err := unix.Open(keep.path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return err
		}
		if err := unix.Dup3(fd, keep.fd, 0); err != nil {
			return err
		}
	}
	return nil
}

// switchUser changes the ids of this thread alone: the others end at execve.
// The raw calls are deliberate, since the library's would stop all threads.
func switchUser(p Plan) error {
	if !p.SwitchID {
		return nil
	}
	uid, gid := uintptr(p.UID), uintptr(p.GID)
	if p.Namespaces != 0 {
		uid, gid = Nobody, Nobody // as they are called inside
	}
	if p.DropGroups {
		if _, _, errno := unix.RawSyscall(unix.SYS_SETGROUPS, 0, 0, 0); errno != 0 {
			return errno
		}
	}
	if _, _, errno := unix.RawSyscall(unix.SYS_SETRESGID, gid, gid, gid); errno != 0 {
		return errno
	}
	if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, uid, uid, uid); errno != 0 {
		return errno
	}
	return nil
}

// privateMounts: without it a mount below a shared one would appear outside.
func privateMounts(p Plan) error {
	if p.Namespaces&CloneNewNS == 0 {
		return nil
	}
	return unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
}

// staging is any folder that every host has; it is covered by the new root
// only after all binds have been opened.
const staging = "/dev"

func buildRoot(p Plan, passed []int) error {
	if p.Root == nil {
		return nil
	}
	trees, err := rootTrees(p, passed)
	if err != nil {
		return err
	}
	if err := unix.Mount("cordon", staging, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "mode=0755,size=1m"); err != nil {
		return fmt.Errorf("tmpfs: %w", err)
	}
	for _, m := range p.Root {
		if err := place(m, filepath.Join(staging, m.Path), trees); err != nil {
			return fmt.Errorf("%s: %w", m.Path, err)
		}
	}
	// The root itself is read-only: nobody, not even we, adds to it later.
	readOnly := &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV | unix.MOUNT_ATTR_NOEXEC}
	if err := unix.MountSetattr(unix.AT_FDCWD, staging, 0, readOnly); err != nil {
		return fmt.Errorf("read-only root: %w", err)
	}
	if err := unix.Chdir(staging); err != nil {
		return err
	}
	// pivot_root onto itself stacks the old root on top of the new one, where
	// it can be detached without a folder to put it in. chroot would leave
	// the old root reachable through any open directory.
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("pivot_root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("detach the old root: %w", err)
	}
	return unix.Chdir("/")
}

// rootTrees gives a mount tree for each bind: those that the parent opened,
// or our own.
func rootTrees(p Plan, passed []int) (map[string]int, error) {
	trees := map[string]int{}
	for _, m := range p.Root {
		if !m.bind() {
			continue
		}
		if len(passed) > len(trees) {
			trees[m.Path] = passed[len(trees)]
			continue
		}
		fd, err := openTree(m.Path)
		if err != nil {
			return nil, fmt.Errorf("open %s: %w", m.Path, err)
		}
		trees[m.Path] = fd
	}
	return trees, nil
}

func place(m Mount, target string, trees map[string]int) error {
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	switch m.Kind {
	case Symlink:
		return os.Symlink(m.Target, target)
	case TextFile:
		return os.WriteFile(target, []byte(m.Target), 0o444)
	case EmptyDir:
		return os.MkdirAll(target, 0o755)
	case BindDir:
		if err := os.MkdirAll(target, 0o755); err != nil {
			return err
		}
	case BindFile, BindDevice:
		if err := os.WriteFile(target, nil, 0o444); err != nil {
			return err
		}
	}
	if err := unix.MoveMount(trees[m.Path], "", unix.AT_FDCWD, target, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return fmt.Errorf("move_mount: %w", err)
	}
	attr := &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV}
	if m.Kind == BindDevice {
		attr.Attr_set = unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NOEXEC // a device must stay one
	}
	if err := unix.MountSetattr(unix.AT_FDCWD, target, unix.AT_RECURSIVE, attr); err != nil {
		return fmt.Errorf("mount_setattr: %w", err)
	}
	return nil
}

func hostName(p Plan) error {
	if p.Namespaces&CloneNewUTS == 0 {
		return nil
	}
	return unix.Sethostname([]byte("cordon"))
}

// limits sets those that are the same for every run; the Runner narrows the
// rest from outside, for each worker. The fork server needs more descriptors
// than a guest: its own are numbered above what a guest may have.
func limits(p Plan) error {
	if err := syscall.Setrlimit(unix.RLIMIT_NOFILE, &syscall.Rlimit{Cur: descriptorLimit, Max: descriptorLimit}); err != nil {
		return fmt.Errorf("open files: %w", err)
	}
	if !p.Rlimits {
		return nil
	}
	for _, l := range []struct {
		name     string
		resource int
		value    uint64
	}{
		{"core", unix.RLIMIT_CORE, 0},         // a core file holds the guest's memory, and is written by the kernel
		{"memlock", unix.RLIMIT_MEMLOCK, 0},   // locked pages cannot be reclaimed
		{"msgqueue", unix.RLIMIT_MSGQUEUE, 0}, // kernel memory outside every other limit
		{"rtprio", unix.RLIMIT_RTPRIO, 0},     // a real-time loop starves the host
		{"nice", unix.RLIMIT_NICE, 0},
		{"sigpending", unix.RLIMIT_SIGPENDING, 256},
	} {
		if err := unix.Setrlimit(l.resource, &unix.Rlimit{Cur: l.value, Max: l.value}); err != nil {
			return fmt.Errorf("%s: %w", l.name, err)
		}
	}
	return nil
}

// descriptors leaves the standard streams (all /dev/null), the control socket
// and the namespaces, and marks everything else to be closed by execve:
// whoever leaked it, the program does not get it.
func descriptors(p Plan) error {
	if !p.Environment {
		return nil
	}
	if err := unix.CloseRange(3, ControlFD-1, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return err
	}
	return unix.CloseRange(PIDNSFD+1, 1<<31-1, unix.CLOSE_RANGE_CLOEXEC)
}

// capabilities leaves the fork server the two that it needs inside its own
// namespace. Without a namespace it keeps none.
func capabilities(p Plan) error {
	if !p.Capabilities {
		return nil
	}
	var keep []uintptr
	if p.Namespaces != 0 {
		keep = keptCapabilities
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("ambient set: %w", err)
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	for _, c := range keep {
		data[c/32].Permitted |= 1 << (c % 32)
	}
	for i := range data {
		data[i].Effective, data[i].Inheritable = data[i].Permitted, data[i].Permitted
	}
	if err := unix.Capset(&header, &data[0]); err != nil {
		return fmt.Errorf("capset: %w", err)
	}
	for _, c := range keep {
		if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_RAISE, c, 0, 0); err != nil {
			return fmt.Errorf("raise %d: %w", c, err)
		}
	}
	return nil
}

// dropBoundingSet sees to it that nothing executed later can gain any
// capability. It goes on without the right to drop: a process that lacks it
// holds no others either, and no-new-privs keeps it so.
func dropBoundingSet(p Plan) error {
	if !p.Capabilities {
		return nil
	}
	for c := uintptr(0); c <= 63; c++ {
		err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
		switch err {
		case nil, unix.EPERM:
		case unix.EINVAL:
			return nil // past the last one that this kernel knows
		default:
			return fmt.Errorf("bounding set: %w", err)
		}
	}
	return nil
}

func noNewPrivs(p Plan) error {
	if !p.NoNewPrivs {
		return nil
	}
	return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
}
