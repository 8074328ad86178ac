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

// Plan says, step by step, how one place is confined. It is a plain value:
// made from a policy and the host's features, and compared with what the
// kernel says of each worker.
type Plan struct {
	// Namespaces are the clone(2) flags of the namespaces around the place.
	Namespaces uintptr
	// UID and GID are the ids that the host's kernel sees, Inside is what both
	// are called in the user namespace.
	UID, GID, Inside int
	// first is what UID and GID are called while the place is built; nil means
	// Inside. See translation.
	first *ids
	// SwitchID says that the child must change to UID and GID itself.
	SwitchID bool
	// DropGroups says that supplementary groups can be and are dropped.
	DropGroups bool
	// Root is what the private root contains; nil means no private root.
	Root []Mount
	// Stage, if it is not empty, is where the mounts of Root are put instead, for
	// somebody else who builds a root from them.
	Stage string
	// Readable are the host paths that stay readable; Landlock enforces them
	// where there is no private root, and repeats them where there is one.
	Readable []string
	// Landlock is the ABI to use, 0 for none.
	Landlock int
	// LandlockGaps says what that ABI lacks, and what does it instead.
	LandlockGaps string
	// Seccomp tells how denials are answered.
	Seccomp SeccompMode
	// NoNewPrivs, Capabilities, Rlimits and Environment are on except in
	// tests that take one wall away.
	NoNewPrivs, Capabilities, Rlimits, Environment bool
	// Cgroup says that each worker gets a memory cgroup.
	Cgroup bool
	// Walls reports every wall of the tier: "enforced…" or "missing: why".
	Walls map[policy.Wall]string
	// Missing has the reason and the remedy for each wall that does not stand.
	Missing map[policy.Wall]hostfeature.Support
}

// ids are of a user and a group.
type ids struct{ uid, gid int }

// building gives the ids that the child has while it builds.
func (p Plan) building() ids {
	if p.first != nil {
		return *p.first
	}
	return ids{p.Inside, p.Inside}
}

// SeccompMode says who answers a denied system call.
type SeccompMode string

// The modes. With SeccompNotify the Runner answers and keeps count; with
// SeccompErrno the kernel answers EPERM by itself and nobody is told.
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
	// Exact says that the source is to be opened without following any symlink:
	// its path is canonical, and guests may change directories on the way.
	Exact bool
	// MapOwner makes the files of the directory's owner the guest's, where the guest
	// is another user than the Runner.
	MapOwner bool
}

// MountKind tells how an entry comes to be.
type MountKind string

// The kinds of entries.
const (
	BindDir    MountKind = "dir"     // the host's directory, read-only
	BindFile   MountKind = "file"    // the host's file, read-only
	BindDevice MountKind = "device"  // a harmless device node
	Symlink    MountKind = "symlink" // made anew
	TextFile   MountKind = "text"    // made anew
	EmptyDir   MountKind = "empty"   // a mount point

	// A command has these, too.
	WritableDir  MountKind = "writable dir"  // the host's directory, to be changed
	WritableFile MountKind = "writable file" // the host's file, to be changed
	Tmpfs        MountKind = "tmpfs"         // made anew
	Proc         MountKind = "proc"          // of its own processes
	DevPTS       MountKind = "devpts"        // terminals of its own
	MaskedFile   MountKind = "masked file"   // there, and not to be opened
	MaskedDir    MountKind = "masked dir"    // there, and empty
	ReadOnlyDir  MountKind = "read-only dir" // of a new file system, not to be changed
	ScratchView  MountKind = "scratch view"  // the scratch space by another name
	ParentDir    MountKind = "parent dir"    // made anew for mounts in it, read-only
)

// SharedMemory is where the C library keeps semaphores and shared memory.
const SharedMemory = "/dev/shm"

// Devices that a guest gets: sources and sinks without state.
var Devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}

// Nobody is the id that a script has inside, and every guest has outside when
// cordon runs as root. CommandID is the one that a command has inside: not
// Nobody, as whom the kernel shows all owners that do not exist there.
const (
	Nobody    = 65534
	CommandID = 1000
)

// Inputs are what a plan is made from.
type Inputs struct {
	Policy   policy.Policy
	Features hostfeature.Features
	// Files lists what a guest needs of the host: an interpreter's files, or
	// the system's.
	Files []Mount
	// Command says that the guest is a command, which may start others.
	Command bool
	// Masks cover what a command's /proc tells about the host.
	Masks []Mount
	// Without takes walls away. Tests use it to show that each one matters.
	Without []policy.Wall
}

// Make decides which walls stand. It touches nothing. A wall that the policy
// requires and the host cannot give is an error that names the wall, why it
// is missing and what would help.
func Make(in Inputs) (Plan, error) {
	f := in.Features
	without := func(w policy.Wall) bool { return slices.Contains(in.Without, w) }
	p := Plan{
		UID: f.UID, GID: f.GID, Inside: Nobody,
		NoNewPrivs: !without(policy.WallNoNewPrivs), Capabilities: !without(policy.WallCapabilities),
		Rlimits: !without(policy.WallRlimit), Environment: !without(policy.WallEnvironment),
		Walls: map[policy.Wall]string{}, Missing: map[policy.Wall]hostfeature.Support{},
	}
	wall := func(w policy.Wall, s hostfeature.Support, apply func()) {
		if without(w) {
			s = hostfeature.Support{Reason: "taken away by a test"}
		}
		if !s.OK {
			p.Missing[w] = s
			p.Walls[w] = "missing: " + s.Reason
			return
		}
		apply()
		p.Walls[w] = strings.TrimSuffix("enforced ("+s.Detail+")", " ()")
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
	if in.hostNetwork() {
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
	wall(policy.WallSeccomp, f.Seccomp, func() {
		p.Seccomp = SeccompErrno
		if f.SeccompNotify.OK {
			p.Seccomp = SeccompNotify
		}
	})
	// A script's threads are counted by the Runner, which must be asked for that.
	if p.Seccomp != SeccompNotify && p.Rlimits && !in.Command {
		p.Walls[policy.WallRlimit] = "enforced (threads are not limited: " + f.SeccompNotify.Reason + ")"
	}
	p.weighLandlock(in.Command)
	wall(policy.WallCgroup, f.Cgroup, func() { p.Cgroup = true })

	if len(in.Without) > 0 {
		return p, nil // a test took walls away on purpose
	}
	return p, refuse(in.required(), p.Missing)
}

// hostNetwork says that the policy gives commands the network of the host.
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

// required lists the walls that must stand. A command may start others and use
// sockets: seccomp and Landlock are no substitute for its namespaces.
func (in Inputs) required() []policy.Wall {
	if !in.Command {
		return in.Policy.Required()
	}
	required := append([]policy.Wall{policy.WallUser, policy.WallMount, policy.WallPID}, in.Policy.Required()...)
	for i, w := range required {
		if w == policy.WallNetwork {
			required[i] = policy.WallNet
		}
	}
	// Who leaves commands the host's network has answered the need of a network
	// wall; the wall itself may still be asked for.
	if in.hostNetwork() && !slices.Contains(in.Policy.Require, policy.WallNet) {
		required = slices.DeleteFunc(required, func(w policy.Wall) bool { return w == policy.WallNet })
	}
	slices.Sort(required)
	return slices.Compact(required)
}

// planID decides how the guest comes to be an unprivileged user.
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

// refuse is the fail-closed step.
func refuse(required []policy.Wall, missing map[policy.Wall]hostfeature.Support) error {
	var lines []string
	said := map[hostfeature.Support]policy.Wall{} // one cause often takes many walls
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
			if first, ok := said[s]; ok && first != w {
				why = append(why, fmt.Sprintf("%s: for the same reason as %s", w, first))
				continue
			}
			said[s] = w
			why = append(why, strings.TrimSuffix(fmt.Sprintf("%s: %s; %s", w, s.Reason, s.Remedy), "; "))
		}
		lines = append(lines, fmt.Sprintf("%s (%s)", need, strings.Join(why, ", ")))
	}
	if len(lines) == 0 {
		return nil
	}
	return run.Errorf(run.Unsupported, "this host cannot give a wall that the policy requires: %s", strings.Join(lines, "; "))
}

// rootOf lists what the private root contains: what the guest needs of the host,
// what the policy grants, and the few things that programs expect.
func rootOf(in Inputs, id int) []Mount {
	root := throughPrivate(in.Files, Scratch, SharedMemory)
	for _, path := range in.Policy.Read {
		root = append(root, Mount{Path: path, Kind: grantKind(in.Features, path, BindDir, BindFile)})
	}
	for _, dev := range Devices {
		root = append(root, Mount{Path: dev, Kind: BindDevice})
	}
	root = append(root,
		// The C library's semaphores live here; multiprocessing wants one
		// before it can be told that it may not fork.
		Mount{Path: SharedMemory, Kind: Symlink, Target: Scratch},
		// The host's user list is nobody's business, but getpass.getuser and
		// os.path.expanduser should find somebody.
		Mount{Path: "/etc/passwd", Kind: TextFile, Target: fmt.Sprintf("guest:x:%d:%d::%s:%s\n", id, id, Scratch, loginShell(in))},
		Mount{Path: "/etc/group", Kind: TextFile, Target: fmt.Sprintf("guest:x:%d:\n", id)},
	)
	if !in.Command {
		return Arrange(append(root, Mount{Path: Scratch, Kind: EmptyDir}))
	}
	for _, path := range in.Policy.Write {
		root = append(root, Mount{Path: path, Kind: grantKind(in.Features, path, WritableDir, WritableFile), MapOwner: true})
	}
	return append(root, commandMounts(in)...)
}

// loginShell is what programs start that want a shell: a script may have none.
func loginShell(in Inputs) string {
	if in.Command {
		return "/bin/sh"
	}
	return "/bin/false"
}

// commandMounts is what commands expect beside files: processes of their own,
// terminals, and a network that is only their own.
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
	// No name server: names are the proxy's business.
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
	for _, path := range slices.Compact(paths) {
		below := slices.ContainsFunc(top, func(parent string) bool {
			rel, err := filepath.Rel(parent, path)
			return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
		})
		if !below {
			top = append(top, path)
		}
	}
	return top
}
