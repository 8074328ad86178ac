package confine

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cordon-sandbox/cordon/internal/hostfeature"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Plan says, step by step, how one sandbox is confined. It is a plain value, made from a
// policy and the host's features, and compared with what the kernel reports of each
// worker.
type Plan struct {
	// Namespaces are the clone(2) flags of the namespaces around the sandbox.
	Namespaces uintptr
	// UID and GID are the ids on the host. Inside is the value of both in the user
	// namespace.
	UID, GID, Inside int
	// first are the ids in the user namespace while the sandbox is built; nil means
	// Inside. See translation.
	first *ids
	// SwitchID says that the child must change to UID and GID itself.
	SwitchID bool
	// DropGroups says that supplementary groups can be and are dropped.
	DropGroups bool
	// Root is what the private root contains; nil means no private root.
	Root []Mount
	// Stage, if not empty, is where the mounts of Root are put instead, for another
	// program that builds a root from them.
	Stage string
	// Readable are the host paths that stay readable. Without a private root Landlock
	// enforces them; with one it repeats them.
	Readable []string
	// Landlock is the ABI to use, 0 for none.
	Landlock int
	// LandlockGaps says what that ABI lacks, and which wall covers it.
	LandlockGaps string
	// Seccomp says how denials are answered.
	Seccomp SeccompMode
	// NoNewPrivs, Capabilities, Rlimits and Environment are on except in tests that
	// remove one wall.
	NoNewPrivs, Capabilities, Rlimits, Environment bool
	// Cgroup says that each worker gets a memory cgroup.
	Cgroup bool
	// Walls reports every wall of the tier.
	Walls map[policy.Wall]policy.WallStatus
	// Missing has the reason and the remedy for each missing wall.
	Missing map[policy.Wall]hostfeature.Support
}

// ids are a user and a group.
type ids struct{ uid, gid int }

// building returns the ids of the child while it builds the sandbox.
func (p Plan) building() ids {
	if p.first != nil {
		return *p.first
	}
	return ids{p.Inside, p.Inside}
}

// SeccompMode says who answers a denied system call.
type SeccompMode string

// With SeccompNotify the Runner answers and counts; with SeccompErrno the kernel answers
// EPERM, and nobody is notified.
const (
	SeccompOff    SeccompMode = ""
	SeccompNotify SeccompMode = "notify"
	SeccompErrno  SeccompMode = "errno"
)

// Mount is one entry of the private root.
type Mount struct {
	Path   string
	Source string // of a bind; empty means the same path
	Kind   MountKind
	Target string // of a symlink, the text of a file, or the options of a file system
	// Exact opens the source without following symlinks: its path is canonical, and
	// guests may change directories on the path.
	Exact bool
	// MapOwner makes the files of the directory's owner belong to the guest, if the
	// guest has another user than the Runner.
	MapOwner bool
}

// MountKind says how an entry is made.
type MountKind string

// The kinds of mounts.
const (
	BindDir    MountKind = "dir"     // the host's directory, read-only
	BindFile   MountKind = "file"    // the host's file, read-only
	BindDevice MountKind = "device"  // a harmless device node
	Symlink    MountKind = "symlink" // a new symlink
	TextFile   MountKind = "text"    // a new file
	EmptyDir   MountKind = "empty"   // a mount point

	// Only commands have these.
	WritableDir  MountKind = "writable dir"  // the host's directory, writable
	WritableFile MountKind = "writable file" // the host's file, writable
	Tmpfs        MountKind = "tmpfs"         // a new, empty file system
	Proc         MountKind = "proc"          // of its own pid namespace
	DevPTS       MountKind = "devpts"        // its own terminals
	MaskedFile   MountKind = "masked file"   // exists, cannot be opened
	MaskedDir    MountKind = "masked dir"    // exists, is empty
	ReadOnlyDir  MountKind = "read-only dir" // of a new file system, read-only
	ScratchView  MountKind = "scratch view"  // the scratch space at another path
	ParentDir    MountKind = "parent dir"    // a new read-only directory for mounts in it
)

// SharedMemory is where the C library keeps semaphores and shared memory.
const SharedMemory = "/dev/shm"

// Devices are those that a guest gets: sources and sinks without state.
var Devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}

// Nobody is the id of a script inside the sandbox, and of every guest outside if cordon
// runs as root. CommandID is the id of a command inside. It differs from Nobody, because
// the kernel shows all unmapped owners as Nobody.
const (
	Nobody    = 65534
	CommandID = 1000
)

// Inputs are what a plan is made from.
type Inputs struct {
	Policy   policy.Policy
	Features hostfeature.Features
	// Files lists the files of the host that a guest needs: those of an interpreter, or
	// of the system.
	Files []Mount
	// Command says that the guest is a command, which may start others. Shared says that
	// it gets no namespaces: a filter made for that, Landlock and the Runner replace them.
	Command, Shared bool
	// Masks hide what /proc of a command reveals about the host.
	Masks []Mount
	// Without removes walls. Tests use it to show that each wall matters.
	Without []policy.Wall
}

// Make decides which walls stand. It is a pure function. A wall that the policy requires
// and the host cannot provide is an error that names the wall, the reason and the remedy.
func Make(in Inputs) (Plan, error) {
	f := in.Features
	if in.Shared && f.UserNS.OK {
		f.UserNS = hostfeature.No("jail: landlock uses no namespaces", "jail: native")
	}
	without := func(w policy.Wall) bool { return slices.Contains(in.Without, w) }
	p := Plan{
		UID: f.UID, GID: f.GID, Inside: Nobody,
		NoNewPrivs: !without(policy.WallNoNewPrivs), Capabilities: !without(policy.WallCapabilities),
		Rlimits: !without(policy.WallRlimit), Environment: !without(policy.WallEnvironment),
		Walls: map[policy.Wall]policy.WallStatus{}, Missing: map[policy.Wall]hostfeature.Support{},
	}
	wall := func(w policy.Wall, s hostfeature.Support, apply func()) {
		if without(w) {
			s = hostfeature.Support{Reason: "removed by a test"}
		}
		if !s.OK {
			p.Missing[w] = s
			p.Walls[w] = policy.MissingWall(s.Reason)
			return
		}
		apply()
		p.Walls[w] = policy.EnforcedWall(s.Detail)
	}

	wall(policy.WallNoNewPrivs, hostfeature.Yes(""), func() {})
	wall(policy.WallCapabilities, hostfeature.Yes("none held, none to be had"), func() {})
	wall(policy.WallEnvironment, hostfeature.Yes("built, no inherited descriptors"), func() {})
	wall(policy.WallRlimit, hostfeature.Yes(""), func() {})

	if !without(policy.WallUser) && f.UserNS.OK {
		p.Namespaces = CloneNewUser
	}
	ns := func(w policy.Wall, flag uintptr, detail string) {
		s := f.UserNS
		if s.OK {
			s.Detail = detail
		}
		wall(w, s, func() { p.Namespaces |= flag })
	}
	ns(policy.WallUser, CloneNewUser, "")
	ns(policy.WallMount, CloneNewNS, "private root and "+Scratch)
	ns(policy.WallPID, CloneNewPID, "a namespace for each run")
	if in.hostNetwork() && !in.Shared {
		wall(policy.WallNet, hostfeature.No("the policy leaves commands the host's network (egress: "+string(in.Policy.Egress)+")", "egress: strict"), func() {})
	} else {
		ns(policy.WallNet, CloneNewNet, networkDetail(in))
	}
	ns(policy.WallIPC, CloneNewIPC, "")
	ns(policy.WallUTS, CloneNewUTS, "")
	ns(policy.WallCgroupNS, CloneNewCgroup, "")
	if p.Namespaces&CloneNewUser == 0 {
		p.Namespaces = 0 // the others need the user namespace
	}

	wall(policy.WallUID, p.planID(f, without(policy.WallUID)), func() {})
	if in.Command {
		p.Inside = CommandID
	}
	if p.Namespaces&CloneNewNS != 0 {
		p.Root = rootOf(in, p.Inside)
	}
	if !in.Command {
		p.Readable = readable(in)
	}
	wall(policy.WallLandlock, f.Landlock, func() { p.Landlock = f.LandlockABI })
	if in.Shared && !f.SeccompNotify.OK {
		f.Seccomp = f.SeccompNotify
	}
	wall(policy.WallSeccomp, f.Seccomp, func() {
		p.Seccomp = SeccompErrno
		if f.SeccompNotify.OK {
			p.Seccomp = SeccompNotify
		}
	})
	if gaps := p.unlimited(f); len(gaps) > 0 && p.Rlimits && !in.Command {
		p.Walls[policy.WallRlimit] = policy.EnforcedWall(strings.Join(gaps, "; "))
	}
	p.weighLandlock(in)
	wall(policy.WallCgroup, f.Cgroup, func() { p.Cgroup = true })

	if len(in.Without) > 0 {
		return p, nil // a test removed walls on purpose
	}
	return p, refuse(in.required(), p.Missing)
}

// unlimited lists the limits of a script that do not hold on this host, and why.
func (p Plan) unlimited(f hostfeature.Features) (gaps []string) {
	// The Runner counts the threads, which needs notifications.
	if p.Seccomp != SeccompNotify {
		gaps = append(gaps, "threads are not limited: "+f.SeccompNotify.Reason)
	}
	// A script could change its CPUs back without a filter. The Runner owns the user
	// namespace of its guests; without one, it needs a capability.
	if p.Seccomp == SeccompOff {
		gaps = append(gaps, "CPUs are not limited: "+f.Seccomp.Reason)
	} else if p.Namespaces == 0 && p.SwitchID && !f.SetCPUs.OK {
		gaps = append(gaps, "CPUs are not limited: "+f.SetCPUs.Reason)
	}
	return gaps
}

// hostNetwork reports whether the policy gives commands the host's network.
func (in Inputs) hostNetwork() bool {
	return in.Command && in.Policy.Egress != "" && in.Policy.Egress != policy.EgressStrict
}

func networkDetail(in Inputs) string {
	switch {
	case !in.Command:
		return "no interface is up"
	case len(in.Policy.AllowNet) == 0:
		return "nothing but a loopback of its own"
	}
	return "nothing but a loopback of its own, and a proxy to " + strings.Join(in.Policy.AllowNet, ", ")
}

// required lists the walls that must stand. A command may start processes and use
// sockets, so seccomp and Landlock do not replace its namespaces, unless it is a shared
// one.
func (in Inputs) required() []policy.Wall {
	if !in.Command {
		return in.Policy.Required()
	}
	if in.Shared {
		return append([]policy.Wall{policy.WallLandlock}, in.Policy.Required()...)
	}
	required := append([]policy.Wall{policy.WallUser, policy.WallMount, policy.WallPID}, in.Policy.Required()...)
	for i, w := range required {
		if w == policy.WallNetwork {
			required[i] = policy.WallNet
		}
	}
	// A policy that gives commands the host's network needs no network wall, unless it
	// asks for one.
	if in.hostNetwork() && !slices.Contains(in.Policy.Require, policy.WallNet) {
		required = slices.DeleteFunc(required, func(w policy.Wall) bool { return w == policy.WallNet })
	}
	slices.Sort(required)
	return slices.Compact(required)
}

// planID decides how the guest becomes an unprivileged user.
func (p *Plan) planID(f hostfeature.Features, keepRoot bool) hostfeature.Support {
	switch {
	case keepRoot:
		return hostfeature.Support{}
	case f.UID != 0:
		return hostfeature.Yes(fmt.Sprintf("uid %d, the caller's own", f.UID))
	case !f.SetUID.OK:
		return f.SetUID
	}
	p.UID, p.GID, p.SwitchID, p.DropGroups = Nobody, Nobody, true, true
	return hostfeature.Yes(fmt.Sprintf("uid %d", Nobody))
}

// refuse returns an error if a required wall is missing.
func refuse(required []policy.Wall, missing map[policy.Wall]hostfeature.Support) error {
	var lines []string
	reported := map[hostfeature.Support]policy.Wall{} // several walls often have the same cause
	for _, need := range required {
		held := slices.ContainsFunc(need.Alternatives(), func(w policy.Wall) bool {
			_, gone := missing[w]
			return !gone
		})
		if held {
			continue
		}
		var why []string
		for _, w := range need.Alternatives() {
			s := missing[w]
			if first, ok := reported[s]; ok && first != w {
				why = append(why, fmt.Sprintf("%s: for the same reason as %s", w, first))
				continue
			}
			reported[s] = w
			why = append(why, strings.TrimSuffix(fmt.Sprintf("%s: %s; %s", w, s.Reason, s.Remedy), "; "))
		}
		lines = append(lines, fmt.Sprintf("%s (%s)", need, strings.Join(why, ", ")))
	}
	if len(lines) == 0 {
		return nil
	}
	return run.Errorf(run.Unsupported, "this host cannot give a wall that the policy requires: %s", strings.Join(lines, "; "))
}

// rootOf lists the contents of the private root: the files of the host that the guest
// needs, what the policy grants, and the few files that programs expect.
func rootOf(in Inputs, id int) []Mount {
	root := throughPrivate(in.Files, Scratch, SharedMemory)
	for _, path := range in.Policy.Read {
		root = append(root, Mount{Path: path, Kind: grantKind(in.Features, path, BindDir, BindFile)})
	}
	for _, dev := range Devices {
		root = append(root, Mount{Path: dev, Kind: BindDevice})
	}
	root = append(root,
		// The C library keeps semaphores here. multiprocessing creates one before it
		// tries to fork, which fails with a clear error.
		Mount{Path: SharedMemory, Kind: Symlink, Target: Scratch},
		// The guest must not see the host's user list, but getpass.getuser and
		// os.path.expanduser need an entry.
		Mount{Path: "/etc/passwd", Kind: TextFile, Target: fmt.Sprintf("guest:x:%d:%d::%s:%s\n", id, id, Scratch, loginShell(in))},
		Mount{Path: "/etc/group", Kind: TextFile, Target: fmt.Sprintf("guest:x:%d:\n", id)},
	)
	if !in.Command {
		return Arrange(append(root, Mount{Path: Scratch, Kind: EmptyDir}, Mount{Path: Work, Kind: Symlink, Target: Scratch + "/" + WorkName}))
	}
	for _, path := range in.Policy.Write {
		root = append(root, Mount{Path: path, Kind: grantKind(in.Features, path, WritableDir, WritableFile), MapOwner: true})
	}
	return append(root, commandMounts(in)...)
}

// loginShell is the shell for programs that start one. A script may have none.
func loginShell(in Inputs) string {
	if in.Command {
		return "/bin/sh"
	}
	return "/bin/false"
}

// commandMounts lists what commands expect besides files: their own processes, terminals
// and network.
func commandMounts(in Inputs) []Mount {
	mounts := []Mount{
		{Path: "/proc", Kind: Proc},
		{Path: "/dev/pts", Kind: DevPTS, Target: "newinstance,ptmxmode=0666,mode=0620"},
		{Path: "/dev/ptmx", Kind: Symlink, Target: "pts/ptmx"},
		{Path: "/dev/tty", Kind: BindDevice},
		{Path: "/dev/fd", Kind: Symlink, Target: "/proc/self/fd"},
		{Path: "/dev/stdin", Kind: Symlink, Target: "/proc/self/fd/0"},
		{Path: "/dev/stdout", Kind: Symlink, Target: "/proc/self/fd/1"},
		{Path: "/dev/stderr", Kind: Symlink, Target: "/proc/self/fd/2"},
		{Path: "/var/tmp", Kind: Symlink, Target: Scratch},
		{Path: "/run", Kind: EmptyDir},
	}
	mounts = append(mounts, in.Masks...)
	if in.hostNetwork() {
		for _, path := range []string{"/etc/resolv.conf", "/etc/hosts"} {
			mounts = append(mounts, Mount{Path: path, Kind: BindFile})
		}
		return mounts
	}
	// No name server: the proxy resolves names.
	return append(mounts,
		Mount{Path: "/etc/hosts", Kind: TextFile, Target: "127.0.0.1 localhost cordon\n::1 localhost\n"},
		Mount{Path: "/etc/host.conf", Kind: TextFile, Target: "multi on\n"}, // both addresses of localhost
	)
}

func grantKind(f hostfeature.Features, path string, directory, file MountKind) MountKind {
	if slices.Contains(f.PlainFiles, path) {
		return file
	}
	return directory
}

// readable lists the paths for Landlock, without those below another.
func readable(in Inputs) []string {
	paths := slices.Clone(in.Policy.Read)
	for _, m := range in.Files {
		if m.Kind == BindDir || m.Kind == BindFile {
			paths = append(paths, m.Path)
		}
	}
	paths = append(paths, Devices...)
	slices.Sort(paths)
	var top []string
	kept := map[string]bool{}
	for _, path := range slices.Compact(paths) {
		if !belowAny(kept, path) {
			top, kept[path] = append(top, path), true
		}
	}
	return top
}

// belowAny reports whether a directory above path is in the set. It takes as long for many
// directories as for few.
func belowAny(set map[string]bool, path string) bool {
	for path != "/" && path != "." {
		if path = filepath.Dir(path); set[path] {
			return true
		}
	}
	return false
}
