package jail

import (
	"errors"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/confine"
	"github.com/cordon-sandbox/cordon/internal/egress"
	"github.com/cordon-sandbox/cordon/internal/hints"
	"github.com/cordon-sandbox/cordon/internal/hostpath"
	"github.com/cordon-sandbox/cordon/internal/output"
	"github.com/cordon-sandbox/cordon/internal/runsc"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// gvisor runs commands on gVisor's kernel, inside cordon's own sandbox:
//
//	init ─▶ runsc ─┬▶ sentry  the guest's kernel
//	               │    └ init ─▶ command
//	               └▶ gofer   opens files for the sentry
//
// The outer sandbox has our namespaces, limits, cgroup and filter, and in its root what
// the guest sees, below runsc.Root. Both inits are the same program. runsc starts as soon
// as the sandbox stands; the command is ordered from the inner init. With a network, the
// inner init has a child that leads to the Runner's proxy: see confine.OpenRelay.
type gvisor struct {
	program hostpath.Program
	init    int // the program of the inits
	relay   int // that of the inner one with a network; -1 means none
	filter  []byte
	root    []confine.Mount
	script  bool // the guest is an interpreter, which needs less than a command
}

// newGVisor returns the builder for the backend's plan.
func (b *Backend) newGVisor(filter []byte) (*gvisor, error) {
	g := &gvisor{program: *b.options.Runsc, init: b.init, relay: -1, filter: filter, root: b.plan.Root, script: b.options.Files != nil}
	if !b.proxied() {
		return g, nil
	}
	var err error
	if g.relay, err = confine.OpenRelay(egress.GuestAddress); err != nil {
		return nil, run.Wrap(run.Unsupported, err)
	}
	return g, nil
}

// gvisorJail is what builds the sandboxes of the tier `gvisor`. No policy names it.
const gvisorJail policy.JailBackend = "gvisor"

// isGVisor reports whether commands run on gVisor.
func (b *Backend) isGVisor() bool { return b.jail == gvisorJail }

// ChannelFD is the channel of a launched program.
const ChannelFD = confine.NestedControlFD + 1

// nested is a sandbox that another program builds inside of ours.
type nested struct {
	program string
	argv    []string
	// control and network are our ends of the sockets of the init and of the relay; -1 means
	// that there is none, or that the sandbox has it.
	control, network int
	limits           []confine.Limit // of the command, below those of the guest
}

// close closes our ends, if no sandbox has them.
func (n *nested) close() {
	if n == nil {
		return
	}
	for _, fd := range []int{n.control, n.network} {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
}

func (g *gvisor) prepare(plan confine.Plan, r recipe, s streams) (p prepared, err error) {
	if r.workspace.path != "" && !r.readOnly {
		if dir, held := g.program.In(hostpath.Guests{r.workspace.path}); held {
			return p, run.Errorf(run.Unsupported, "runsc was found at %s, and the command may write to %s: use another workspace, or put runsc elsewhere", g.program.Path, dir)
		}
	}
	spec := runsc.Spec{
		ID: plan.Inside, Terminal: s.terminal, Dir: r.dir(confine.Scratch), Limits: g.limits(r.limits), Program: confine.FirstKeptFD,
	}
	plan.Root, spec.Mounts = g.mounts(r)
	text, err := spec.Configuration()
	if err != nil {
		return p, run.Wrap(run.Internal, err)
	}
	plan.Root = append(plan.Root, confine.Mount{Path: runsc.Config, Kind: confine.TextFile, Target: text})
	p.plan, p.nested = plan, &nested{program: runsc.Program, control: -1, network: -1}
	p.command = &confine.Command{Dir: "/", Scratch: runsc.State, Filter: g.filter}
	// pass gives runsc a descriptor, which has another number in the guest.
	pass := func(fd, guest int) {
		spec.Passed = append(spec.Passed, runsc.Passed{Host: confine.FirstKeptFD + len(p.command.Kept), Guest: guest})
		p.command.Kept = append(p.command.Kept, fd)
	}
	first := g.init
	if g.relay >= 0 {
		first = g.relay
		p.nested.limits = []confine.Limit{{Resource: unix.RLIMIT_NOFILE, Value: uint64(r.limits.OpenFiles)}}
	}
	if first, err = unix.FcntlInt(uintptr(first), unix.F_DUPFD_CLOEXEC, 0); err != nil {
		return p, run.Errorf(run.Internal, "the init: %w", err)
	}
	p.command.Kept = append(p.command.Kept, first)
	theirs, err := seqpacket(&p.nested.control)
	if err != nil {
		return p, run.Errorf(run.Internal, "control socket: %w", err)
	}
	pass(theirs, confine.NestedControlFD)
	if s.channel != 0 {
		channel, err := unix.FcntlInt(uintptr(s.channel), unix.F_DUPFD_CLOEXEC, 0)
		if err != nil {
			return p, run.Errorf(run.Internal, "the channel: %w", err)
		}
		pass(channel, ChannelFD)
	}
	if g.relay >= 0 {
		if theirs, err = seqpacket(&p.nested.network); err != nil {
			return p, run.Errorf(run.Internal, "network socket: %w", err)
		}
		pass(theirs, confine.NestedNetworkFD)
	}
	p.nested.argv = spec.Arguments()
	return p, nil
}

// seqpacket makes a pair of sockets.
func seqpacket(ours *int) (theirs int, err error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		*ours, theirs = pair[0], pair[1]
	}
	return theirs, err
}

// mounts lists the mounts of the outer root, and those of the guest. What cordon's own
// root has at a path is at the same path below runsc.Root, and reaches the guest through
// the gofer. /proc, /dev and the scratch space are gVisor's.
func (g *gvisor) mounts(r recipe) (outer []confine.Mount, inner []runsc.Mount) {
	outer = []confine.Mount{
		{Path: runsc.Program, Source: g.program.Path, Kind: confine.BindFile, Exact: true},
		{Path: runsc.State, Kind: confine.Tmpfs, Target: "mode=1777,size=4m,nr_inodes=256"},
		{Path: "/tmp", Kind: confine.EmptyDir}, // where the sentry builds its own root
		{Path: "/proc", Kind: confine.Proc},
	}
	for _, device := range confine.Devices {
		outer = append(outer, confine.Mount{Path: device, Kind: confine.BindDevice})
	}
	for _, directory := range []string{"/proc", "/dev", confine.Scratch} {
		outer = append(outer, confine.Mount{Path: runsc.Root + directory, Kind: confine.EmptyDir})
	}
	scratch := int64(r.limits.Scratch)
	inner = []runsc.Mount{{Path: confine.Scratch, Size: scratch, NoExec: g.script}, {Path: confine.SharedMemory, Size: scratch, NoExec: g.script}}
	for _, m := range root(g.root, r) {
		own := m.Path == "/proc" || strings.HasPrefix(m.Path, "/proc/") || strings.HasPrefix(m.Path, "/dev/")
		inScratch := slices.ContainsFunc(inner, func(own runsc.Mount) bool { return own.Source == "" && strings.HasPrefix(m.Path, own.Path+"/") })
		under := m
		under.Path = path.Join(runsc.Root, m.Path)
		if m.Kind != confine.Symlink && m.Kind != confine.TextFile && m.Source == "" {
			under.Source = m.Path
		}
		if g.script && slices.Contains(commandPaths, m.Path) {
			continue
		}
		switch m.Kind {
		case confine.Tmpfs:
			continue
		case confine.ScratchView:
			inner = append(inner, runsc.Mount{Path: m.Path, Size: scratch})
			continue
		case confine.ParentDir:
			inner = append(inner, runsc.Mount{Path: m.Path, Size: 64 << 10, ReadOnly: true})
			continue
		case confine.WritableDir, confine.WritableFile:
			inner = append(inner, runsc.Mount{Path: m.Path, Source: under.Path})
		case confine.BindDir, confine.BindFile:
			if inScratch {
				inner = append(inner, runsc.Mount{Path: m.Path, Source: under.Path, ReadOnly: true})
			}
		}
		if !own || inScratch {
			outer = append(outer, under)
		}
	}
	return confine.Arrange(outer), inner
}

// commandPaths are what only commands expect in their root.
var commandPaths = []string{"/run", "/var/tmp", "/etc/hosts", "/etc/host.conf"}

// execute is the identity: the inner init executes the command.
func (*gvisor) execute(_ recipe, program string, argv []string) (string, []string) {
	return program, argv
}

// reports is false: the inner init reports whether the command was executed.
func (*gvisor) reports() bool { return false }

// terminal makes a terminal of the host.
func (*gvisor) terminal() (streams, error) { return openTerminal() }

func (g *gvisor) close() {
	if g.relay >= 0 {
		unix.Close(g.relay)
	}
}

// bootTime is how long runsc may take until its guest can start.
const bootTime = 30 * time.Second

// boot starts the nested sandbox and waits until it takes a command.
func (p *sandbox) boot(n *nested, limits policy.Limits) error {
	if err := p.process.Execute(n.program, n.argv, nil); err != nil {
		return err
	}
	began, err := confine.ControlNested(n.control, n.limits, bootTime)
	if err == nil {
		p.nested, n.control, p.booting = began, -1, p.cpuTime()
		if p.memory = p.openMemory(); p.memory < 0 {
			return run.Errorf(run.Unsupported, "the sandbox cannot be set up: the memory of gVisor cannot be measured: no process has the file %s", memoryFile)
		}
		p.base = p.gvisorMemory()
		if n.network >= 0 {
			relay, err := confine.ListenRelay(n.network)
			n.network = -1
			if err != nil {
				return run.Wrap(run.Internal, err)
			}
			p.proxy = relay
		}
		if p.group == nil {
			return nil
		}
		if err := p.group.SetLimit(p.memoryLimit(limits)); err != nil {
			return run.Errorf(run.Internal, "cgroup: %w", err)
		}
		return nil
	}
	if !errors.Is(err, io.EOF) {
		return run.Errorf(run.Unsupported, "the sandbox cannot be set up: runsc was not ready within %v: %w", bootTime, err)
	}
	// It has ended, and its message is on the guest's stderr.
	end, endErr := p.process.End()
	if endErr != nil {
		return endErr
	}
	if end.Failure != 0 {
		return run.Errorf(run.Unsupported, "the sandbox cannot be set up: runsc cannot be executed: %w", end.Failure)
	}
	if p.streams.stderr == nil {
		return run.Errorf(run.Unsupported, "the sandbox cannot be set up: runsc ended: cordon doctor --tier gvisor says why")
	}
	message := output.Rest(p.streams.stderr, maxReport)
	return run.Errorf(run.Unsupported, "the sandbox cannot be set up: runsc: %s", strings.TrimSpace(string(message)))
}

// memoryFile has the memory of a guest of gVisor. Little of it is mapped while the guest waits,
// so the sizes of processes do not show it.
const memoryFile = "/memfd:runsc-memory (deleted)"

// openMemory opens the memory file; -1 means that it was not found. We own the namespaces of the
// sandbox, so we may.
func (p *sandbox) openMemory() int {
	found := -1
	p.processes().each(func(proc int, pid string) {
		for _, name := range namesIn(proc, pid+"/fd") {
			link := make([]byte, len(memoryFile)+1)
			n, err := unix.Readlinkat(proc, pid+"/fd/"+name, link)
			if found >= 0 || err != nil || string(link[:n]) != memoryFile {
				continue
			}
			if fd, err := unix.Openat(proc, pid+"/fd/"+name, unix.O_RDONLY|unix.O_CLOEXEC, 0); err == nil {
				found = fd
			}
		}
	})
	return found
}

// gvisorMemory is what the guest and gVisor's processes use.
func (p *sandbox) gvisorMemory() int64 {
	own := sumMemory(p.processes(), func(_ int, _ string, status []byte) int64 {
		return (numberIn(status, "RssAnon:") + numberIn(status, "VmSwap:") + numberIn(status, "VmPTE:")) << 10
	})
	var stat unix.Stat_t
	if err := unix.Fstat(p.memory, &stat); err != nil {
		return own // never: the file is open
	}
	return own + stat.Blocks*blockSize
}

// unsupported reports the system calls of the guest that gVisor does not have.
func (p *sandbox) unsupported() (all []run.Violation) {
	if p.nested == nil {
		return nil
	}
	fd, err := unix.Openat(p.Scratch, runsc.Log, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil // no guest has run
	}
	file := os.NewFile(uintptr(fd), runsc.Log)
	defer file.Close()
	log, _ := io.ReadAll(io.LimitReader(file, maxReport))
	for _, name := range runsc.Unsupported(log) {
		all = append(all, hints.Give(run.Violation{Wall: policy.WallGVisor, Op: name, Count: 1}, hints.OtherKernel, nil))
	}
	return all
}

// memoryLimit is how much memory all processes of the sandbox may use.
func (p *sandbox) memoryLimit(l policy.Limits) int64 {
	if p.nested == nil {
		return int64(l.Memory)
	}
	return p.base + int64(l.Memory+gvisorGrowth)
}

// commands is the init that takes the command.
func (p *sandbox) commands() *confine.Init {
	if p.nested != nil {
		return p.nested
	}
	return &p.process.Init
}

// end waits for the command to end.
func (p *sandbox) end() (confine.CommandEnd, error) {
	end, err := p.commands().End()
	if p.nested == nil {
		return end, err
	}
	p.kill() // runsc would take longer to end
	if err == nil && end.Failure == 0 && end.Status == nil {
		// gVisor ended, and the guest with it.
		killed := unix.WaitStatus(unix.SIGKILL)
		end.Status = &killed
	}
	return end, err
}

const (
	// gvisorMemory is what runsc, the sentry and the gofer may use while they start, and
	// gvisorGrowth what they may use for the command in addition to what they had then.
	gvisorMemory = 64 * policy.MiB
	gvisorGrowth = 16 * policy.MiB
	// gvisorTasks is how many processes and threads they and the relay may have without the command;
	// each process of the command is at most gvisorTasksEach on the host.
	gvisorTasks     = 256
	gvisorTasksEach = 4
	// gvisorFiles is how many files the sentry and the gofer may open for the command.
	gvisorFiles = 1 << 20
)

// limits are enforced by gVisor for each process of the guest. Its init and the relay count. The
// relay has more files than the command, whose limit is set before it is executed. The
// Runner's clock ends a command that has used its CPU time: gVisor counts the time in which a
// process could have run, which on a busy host is many times what it had.
func (g *gvisor) limits(l policy.Limits) map[string]uint64 {
	ours, files := 1, l.OpenFiles
	if g.relay >= 0 {
		ours, files = 2, max(files, confine.RelayFiles)
	}
	return map[string]uint64{
		"RLIMIT_CORE": 0, "RLIMIT_CPU": 60 + 100*uint64(l.CPUTime.Seconds()), "RLIMIT_NOFILE": uint64(files), "RLIMIT_NPROC": uint64(l.Processes + ours),
	}
}

// gvisorStatus describes the wall. Callers of a service see it, so it names no path of the host.
func gvisorStatus() policy.WallStatus {
	return policy.EnforcedWall("a kernel of its own, platform systrap")
}
