package confine

import (
	"cmp"
	"iter"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// setupCapabilities are held, only inside the new user namespace, while the walls are set
// up. keptCapabilities are what the fork server needs to give each worker its own mount
// and pid namespace.
var (
	setupCapabilities = []uintptr{
		unix.CAP_SYS_ADMIN, unix.CAP_SYS_CHROOT, unix.CAP_SETPCAP, unix.CAP_SETUID, unix.CAP_SETGID,
		unix.CAP_NET_ADMIN, // to bring up a loopback
		unix.CAP_SETFCAP,   // to map root's id in a namespace inside ours
	}
	keptCapabilities = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SYS_CHROOT}
)

// belongings are the descriptors that a child inherits on purpose.
type belongings struct {
	null    int    // /dev/null
	control int    // the child's end of the control socket
	trees   []int  // a mount tree for each bind of the private root, or none
	streams [3]int // of a command
	init    int    // the program of a command's init
	kept    []int  // what a command gets besides its streams
	groups  []int  // cgroup files to which a process writes itself
	parting int    // where the child reports that it has closed all others
}

// compile lists the calls from the first instruction after clone to execve. The order of
// the steps matters; each step says what would go wrong elsewhere.
func compile(spec Spec, have belongings) *program {
	plan := spec.Plan
	p := newProgram(have.control)
	p.step("session", false)
	p.call(unix.SYS_SETSID)

	// Before any wait: a process that holds a copy of another child's control socket
	// would keep that child from noticing our end.
	p.step("descriptors", false)
	if spec.Command != nil {
		p.commandDescriptors(plan, have)
	} else {
		p.descriptors(plan, have)
	}
	p.part(have.parting)

	// The Runner maps ids in our user namespace, and sends a message.
	p.step("wait for ids", true)
	p.call(unix.SYS_RECVFROM, ControlFD, keep(p, new(byte)), 1).positive = true

	if spec.Command == nil {
		// While /proc is still visible: the root that follows has none.
		p.step("keep namespaces", true)
		p.keepNamespaces(plan)
	}

	// While we may: changing the user gives up the right to drop it.
	p.step("bounding set", false)
	p.dropBoundingSet(spec)

	// Before the first mount: files in the new root must belong to an id that exists
	// inside. Root becomes nobody here, for good.
	p.step("switch user", false)
	p.switchUser(plan)

	if plan.Namespaces&CloneNewNS != 0 {
		// Otherwise a mount below a shared one would appear outside.
		p.step("private mounts", true)
		p.call(unix.SYS_MOUNT, 0, p.text("/"), 0, unix.MS_REC|unix.MS_PRIVATE)
	}
	if plan.Root != nil {
		p.buildRoot(plan, have.trees)
	}
	if plan.Namespaces&CloneNewUTS != 0 {
		p.step("set host name", true)
		p.call(unix.SYS_SETHOSTNAME, p.text("cordon"), uintptr(len("cordon")))
	}
	if spec.Command != nil {
		p.command(spec, have)
		return p
	}
	p.step("limits", false)
	p.limits(plan)
	p.dropPrivileges(spec)
	p.execute(spec)
	return p
}

// dropPrivileges comes last, because every step before it may need a capability.
func (p *program) dropPrivileges(spec Spec) {
	p.step("capabilities", false)
	p.capabilities(spec)
	p.step("no new privileges", false)
	if spec.Plan.NoNewPrivs {
		p.call(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1)
	}
}

func (p *program) execute(spec Spec) {
	p.step("execute "+spec.Argv[0], false)
	p.call(unix.SYS_EXECVE, p.text(spec.Argv[0]), p.texts(spec.Argv), p.texts(spec.Env))
}

// descriptors leaves the standard streams (all /dev/null) and the control socket, and
// closes everything else except for what is still needed. The program does not get a
// descriptor that anybody leaked.
func (p *program) descriptors(plan Plan, have belongings) {
	null, control := uintptr(have.null), uintptr(have.control)
	p.call(unix.SYS_DUP3, control, ControlFD, 0)
	for fd := range uintptr(3) {
		p.call(unix.SYS_DUP3, null, fd, 0)
	}
	// Descriptors that are opened from here on must not get the numbers of the
	// namespaces.
	p.call(unix.SYS_DUP3, null, MountNSFD, unix.O_CLOEXEC)
	p.call(unix.SYS_DUP3, null, PIDNSFD, unix.O_CLOEXEC)
	if !plan.Environment {
		return
	}
	p.closeAllBut(3, append([]int{ControlFD, MountNSFD, PIDNSFD, have.control, have.parting}, have.trees...)...)
}

// part reports that the child has none of our descriptors except those it was given.
func (p *program) part(fd int) {
	p.call(unix.SYS_WRITE, uintptr(fd), keep(p, new(byte)), 1)
	p.call(unix.SYS_CLOSE, uintptr(fd))
}

// closeAllBut closes all other descriptors from the first number on.
func (p *program) closeAllBut(first int, stay ...int) {
	slices.Sort(stay)
	next := first
	for _, fd := range stay {
		if fd > next {
			p.call(unix.SYS_CLOSE_RANGE, uintptr(next), uintptr(fd-1), 0)
		}
		next = max(next, fd+1)
	}
	p.call(unix.SYS_CLOSE_RANGE, uintptr(next), 1<<31-1, 0)
}

func (p *program) keepNamespaces(plan Plan) {
	for _, ns := range []struct {
		flag uintptr
		path string
		fd   uintptr
	}{
		{CloneNewNS, "/proc/self/ns/mnt", MountNSFD},
		{CloneNewPID, "/proc/self/ns/pid", PIDNSFD},
	} {
		if plan.Namespaces&ns.flag != 0 {
			p.open(ns.path, unix.O_RDONLY, 0)
			p.call(unix.SYS_DUP3, 0, ns.fd, 0).borrow(p.last()-1, 0)
		}
	}
}

func (p *program) open(name string, flags, mode uintptr) {
	p.call(unix.SYS_OPENAT, atCWD, p.text(name), flags|unix.O_CLOEXEC, mode)
}

// atCWD is AT_FDCWD as an argument.
const atCWD = ^uintptr(99)

// dropBoundingSet ensures that nothing executed later can gain a capability. It continues
// without the right to drop: a process that lacks it holds no other capabilities either,
// and no-new-privs keeps it so. The numbers go past the last one that the kernel knows.
func (p *program) dropBoundingSet(spec Spec) {
	if spec.Plan.Namespaces != 0 {
		// Capabilities that survive execve must be marked while the set still has them.
		p.setCapabilities(setupCapabilities, kept(spec))
	}
	if spec.Plan.Capabilities {
		p.emptyBoundingSet()
	}
}

func (p *program) emptyBoundingSet() {
	for c := range uintptr(64) {
		p.call(unix.SYS_PRCTL, unix.PR_CAPBSET_DROP, c).accept(unix.EPERM, unix.EINVAL)
	}
}

func (p *program) switchUser(plan Plan) {
	if !plan.SwitchID {
		return
	}
	// Other processes of that user could trace the child, unless it has its own user
	// namespace.
	if plan.Namespaces&CloneNewUser == 0 {
		p.shared = false
	}
	if !p.shared {
		p.hide()
	}
	uid, gid := uintptr(plan.UID), uintptr(plan.GID)
	if plan.Namespaces != 0 {
		uid, gid = uintptr(plan.building().uid), uintptr(plan.building().gid)
	}
	if plan.DropGroups {
		p.call(unix.SYS_SETGROUPS, 0, 0)
	}
	p.call(unix.SYS_SETRESGID, gid, gid, gid)
	p.call(unix.SYS_SETRESUID, uid, uid, uid)
}

// hide hides our copy of the host's memory from other processes of our user. Memory that is
// shared is out of their reach.
func (p *program) hide() { p.call(unix.SYS_PRCTL, unix.PR_SET_DUMPABLE, 0) }

// staging is any directory that every host has. The new root is mounted over it after all
// binds are opened.
const staging = "/dev"

func (p *program) buildRoot(plan Plan, passed []int) {
	tree := p.openTrees(plan, passed)
	base := cmp.Or(plan.Stage, staging)
	p.step("new root", true)
	p.call(unix.SYS_UMASK, 0o022)
	p.call(unix.SYS_MOUNT, p.text("cordon"), p.text(base), p.text("tmpfs"),
		unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, p.text("mode=0755,size=1m"))
	made := map[string]bool{base: true}
	binds := map[string]bool{} // directories of the host that are mounted already
	for _, m := range plan.Root {
		p.step("mount "+m.Path, true)
		switch below := belowAny(binds, m.Path); {
		case !below:
			p.mountEntry(m, base, tree, made)
		case m.bind():
			p.mountInBind(m, base, tree)
		default:
			// Nothing is created in a granted directory: it belongs to the host.
		}
		if m.bind() && m.Path != "/" {
			binds[m.Path] = true
		}
	}
	if plan.Stage != "" {
		// This /proc shows the new pid namespace: a program that builds a root looks
		// for itself in it.
		p.newFileSystem(Mount{Kind: Proc}, p.text("/proc"))
		return
	}
	// The root itself is read-only: nobody can add to it later, not even we.
	p.step("read-only root", true)
	const readOnly = unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV | unix.MOUNT_ATTR_NOEXEC
	p.setAttributes(staging, 0, readOnly)
	for _, m := range plan.Root {
		if m.Kind == ParentDir {
			p.setAttributes(path.Join(staging, m.Path), 0, readOnly)
		}
	}
	// pivot_root onto itself stacks the old root on top of the new one, where it can be
	// detached without a directory for it. chroot would leave the old root reachable
	// through any open directory.
	p.step("change root", true)
	here := p.text(".")
	p.call(unix.SYS_CHDIR, p.text(staging))
	p.call(unix.SYS_PIVOT_ROOT, here, here)
	p.call(unix.SYS_UMOUNT2, here, unix.MNT_DETACH)
	p.call(unix.SYS_CHDIR, p.text("/"))
}

// openTrees opens a mount tree for each bind that the Runner has not opened. It returns a
// function that makes a call take the tree of a path as its first argument.
func (p *program) openTrees(plan Plan, passed []int) func(path string, c *call) {
	given, opened := map[string]uintptr{}, map[string]int{}
	for _, m := range plan.Root {
		if !m.bind() {
			continue
		}
		if len(given) < len(passed) {
			given[m.Path] = uintptr(passed[len(given)])
			continue
		}
		p.step("open "+m.Path, true)
		if m.Exact {
			source := p.openExactly(m.source())
			p.call(unix.SYS_OPEN_TREE, 0, p.text(""), treeFlags|unix.AT_EMPTY_PATH).borrow(source, 0)
		} else {
			p.call(unix.SYS_OPEN_TREE, atCWD, p.text(m.source()), treeFlags)
		}
		opened[m.Path] = p.last()
	}
	return func(path string, c *call) {
		if fd, ok := given[path]; ok {
			c.args[0] = fd
			return
		}
		c.borrow(opened[path], 0)
	}
}

func (p *program) mountEntry(m Mount, base string, tree func(string, *call), made map[string]bool) {
	target := path.Join(base, m.Path)
	p.makeDirectory(path.Dir(target), made)
	name := p.text(target)
	switch m.Kind {
	case Symlink:
		p.call(unix.SYS_SYMLINKAT, p.text(m.Target), atCWD, name)
		return
	case TextFile:
		p.open(target, unix.O_WRONLY|unix.O_CREAT, 0o444)
		opened := p.last()
		p.call(unix.SYS_WRITE, 0, p.text(m.Target), uintptr(len(m.Target))).borrow(opened, 0)
		p.call(unix.SYS_CLOSE).borrow(opened, 0)
		return
	case MaskedFile:
		// A device on a mount without devices cannot be opened.
		p.cover(path.Join(base, nullDevice), target)
		return
	case MaskedDir:
		p.call(unix.SYS_MOUNT, p.text("cordon"), name, p.text(string(Tmpfs)),
			unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, p.text("mode=0555,size=4k,nr_inodes=1"))
		return
	case ReadOnlyDir:
		p.cover(target, target)
		return
	case EmptyDir, BindDir, WritableDir, Tmpfs, Proc, DevPTS, ScratchView, ParentDir:
		p.makeDirectory(target, made)
	case BindFile, BindDevice, WritableFile:
		// It exists already if it came with a directory around it.
		p.call(unix.SYS_MKNODAT, atCWD, name, unix.S_IFREG|0o444).accept(unix.EEXIST)
	}
	switch m.Kind {
	case Tmpfs, Proc, DevPTS, ParentDir:
		p.newFileSystem(m, name)
		return
	case ScratchView:
		p.call(unix.SYS_MOUNT, p.text(path.Join(base, Scratch)), name, 0, unix.MS_BIND)
		return
	case EmptyDir:
		return
	}
	tree(m.Path, p.call(unix.SYS_MOVE_MOUNT, 0, p.text(""), atCWD, name, unix.MOVE_MOUNT_F_EMPTY_PATH))
	p.setAttributes(target, unix.AT_RECURSIVE, m.attributes())
}

// nullDevice is in every root, mounted before what it covers.
const nullDevice = "/dev/null"

// cover mounts one part of the new root over another, or over itself, read-only.
func (p *program) cover(source, target string) {
	p.call(unix.SYS_MOUNT, p.text(source), p.text(target), 0, unix.MS_BIND)
	p.setAttributes(target, 0, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV|unix.MOUNT_ATTR_NOEXEC)
}

// mountInBind mounts onto an existing file or directory below a directory of the host
// that guests may have changed: it creates nothing and follows no symlink.
func (p *program) mountInBind(m Mount, base string, tree func(string, *call)) {
	attr := &unix.MountAttr{Attr_set: m.attributes()}
	tree(m.Path, p.call(unix.SYS_MOUNT_SETATTR, 0, p.text(""), unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, keep(p, attr), unix.MOUNT_ATTR_SIZE_VER0))
	opened := p.openExactly(path.Join(base, m.Path))
	tree(m.Path, p.call(unix.SYS_MOVE_MOUNT, 0, p.text(""), 0, p.text(""), unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH))
	p.calls[p.last()].alsoBorrow(opened, 2)
	p.call(unix.SYS_CLOSE, 0).borrow(opened, 0)
}

// openExactly opens an absolute path if no directory in it is a symlink, and returns the
// index of the call. If its last part is one, it opens the symlink itself. openat2 could do
// that in one call, but systemd refuses it in units with DynamicUser= or RestrictSUIDSGID=.
func (p *program) openExactly(name string) (opened int) {
	p.call(unix.SYS_OPENAT, atCWD, p.text("/"), exactDirectory)
	opened = p.last()
	for part, flags := range exactParts(name) {
		p.call(unix.SYS_OPENAT, 0, p.text(part), flags).borrow(opened, 0)
		next := p.last()
		p.call(unix.SYS_CLOSE, 0).borrow(opened, 0)
		opened = next
	}
	return opened
}

const exactDirectory = unix.O_PATH | unix.O_CLOEXEC | unix.O_NOFOLLOW | unix.O_DIRECTORY

// exactParts yields the parts of an absolute path, each with the flags that open it.
func exactParts(name string) iter.Seq2[string, uintptr] {
	return func(yield func(string, uintptr) bool) {
		rest := strings.Trim(path.Clean(name), "/")
		for part, more := "", rest != ""; more; {
			flags := uintptr(exactDirectory)
			if part, rest, more = strings.Cut(rest, "/"); !more {
				flags &^= unix.O_DIRECTORY
			}
			if !yield(part, flags) {
				return
			}
		}
	}
}

// attributes are the mount attributes of a bind.
func (m Mount) attributes() uint64 {
	attributes := uint64(unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV)
	switch m.Kind {
	case BindDevice:
		attributes = unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NOEXEC // a device must stay one
	case WritableDir, WritableFile:
		attributes = unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV
	}
	return attributes
}

// newFileSystem mounts a new file system that has nothing of the host.
func (p *program) newFileSystem(m Mount, target uintptr) {
	flags, name := uintptr(unix.MS_NOSUID|unix.MS_NODEV), m.Kind
	switch m.Kind {
	case Proc:
		flags |= unix.MS_NOEXEC
	case DevPTS:
		flags = unix.MS_NOSUID | unix.MS_NOEXEC // terminals are devices
	case ParentDir:
		name = Tmpfs
	}
	p.call(unix.SYS_MOUNT, p.text("cordon"), target, p.text(string(name)), flags, p.text(m.Target))
}

// makeDirectory makes a directory with all its parents. Directories that came with a
// mount above already exist.
func (p *program) makeDirectory(name string, made map[string]bool) {
	if made[name] {
		return
	}
	p.makeDirectory(path.Dir(name), made)
	made[name] = true
	p.call(unix.SYS_MKDIRAT, atCWD, p.text(name), 0o755).accept(unix.EEXIST)
}

func (p *program) setAttributes(target string, flags uintptr, attributes uint64) {
	attr := &unix.MountAttr{Attr_set: attributes}
	p.call(unix.SYS_MOUNT_SETATTR, atCWD, p.text(target), flags, keep(p, attr), unix.MOUNT_ATTR_SIZE_VER0)
}

// limits sets the limits that are the same for every run; the Runner sets the others for
// each worker. The fork server needs more descriptors than a guest: its own are numbered
// above what a guest may have.
func (p *program) limits(plan Plan) {
	p.limit(unix.RLIMIT_NOFILE, descriptorLimit)
	if !plan.Rlimits {
		return
	}
	p.limit(unix.RLIMIT_CORE, 0)     // a core file holds the guest's memory, and is written by the kernel
	p.limit(unix.RLIMIT_MEMLOCK, 0)  // locked pages cannot be reclaimed
	p.limit(unix.RLIMIT_MSGQUEUE, 0) // kernel memory outside every other limit
	p.limit(unix.RLIMIT_RTPRIO, 0)   // a real-time loop starves the host
	p.limit(unix.RLIMIT_NICE, 0)
	p.limit(unix.RLIMIT_SIGPENDING, 256)
}

func (p *program) limit(resource uintptr, value uint64) {
	p.call(unix.SYS_PRLIMIT64, 0, resource, keep(p, &unix.Rlimit{Cur: value, Max: value}), 0)
}

// capabilities leaves the fork server the capabilities that it needs, and no others.
func (p *program) capabilities(spec Spec) {
	if spec.Plan.Namespaces == 0 && !spec.Plan.Capabilities {
		return
	}
	p.call(unix.SYS_PRCTL, unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL)
	p.setCapabilities(kept(spec), kept(spec))
	for _, c := range kept(spec) {
		p.call(unix.SYS_PRCTL, unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_RAISE, c)
	}
}

// kept are the capabilities of the executed program, all in its own user namespace.
func kept(spec Spec) []uintptr {
	switch {
	case spec.Plan.Namespaces == 0:
		return nil
	case !spec.Plan.Capabilities:
		return setupCapabilities
	case spec.Command != nil:
		return nil
	}
	return keptCapabilities
}

func (p *program) setCapabilities(held, inheritable []uintptr) {
	header := &unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	data := new([2]unix.CapUserData)
	for _, c := range held {
		data[c/32].Permitted |= 1 << (c % 32)
		data[c/32].Effective |= 1 << (c % 32)
	}
	for _, c := range inheritable {
		data[c/32].Inheritable |= 1 << (c % 32)
	}
	p.call(unix.SYS_CAPSET, keep(p, header), keep(p, data))
}
