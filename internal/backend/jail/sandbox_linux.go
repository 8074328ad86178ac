package jail

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/cgroup"
	"github.com/cordon-sandbox/cordon/internal/confine"
	"github.com/cordon-sandbox/cordon/internal/egress"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// sandbox is one jail with the Runner's ends of everything that leads into it.
type sandbox struct {
	confine.Handles
	process *confine.Process
	nested  *confine.Init // of the sandbox inside, which runs the command; nil without one
	// booting is the CPU time that the sandbox inside needed before the command, and base the
	// memory that it used. memory is the file with the memory of the guest; -1 means none.
	booting time.Duration
	base    int64
	memory  int
	group   *cgroup.Group // nil without a cgroup
	// returning delays closing the backend until the sandbox is cleaned.
	returning *sync.WaitGroup
	report    *os.File     // the builder's report; nil if it writes none
	proxy     net.Listener // on the sandbox's loopback, or of its relay; nil without a proxy
	streams   streams
	private   *privateDirectory // nil if it has its own /tmp
	user      ids               // of the command, on the host
	waited    bool              // it was built ahead
}

// ids are a user and a group.
type ids struct{ uid, gid int }

// build builds a sandbox that waits for its command.
func (b *Backend) build(r recipe, s streams) (*sandbox, error) {
	began := time.Now()
	p := &sandbox{Handles: confine.NoHandles, streams: s, returning: &b.returning, memory: -1}
	err := b.start(p, r)
	s.closeTheirs()
	if err != nil {
		p.tearDown()
		return nil, b.explain(err)
	}
	b.setups.Since(began)
	return p, nil
}

func (b *Backend) start(p *sandbox, r recipe) error {
	groups, err := b.groups.Pool()
	if err != nil {
		return run.Errorf(run.Internal, "cgroup: %w", err)
	}
	prepared, err := b.builder.prepare(b.plan, r, p.streams)
	p.private = prepared.private
	plan, c := prepared.plan, prepared.command
	defer prepared.closeKept()
	defer prepared.nested.close()
	if err != nil {
		return err
	}
	c.CgroupNamespace = plan.Namespaces&confine.CloneNewCgroup != 0
	plan.Namespaces &^= confine.CloneNewCgroup
	c.Streams, c.Terminal = p.streams.inside, p.streams.terminal
	c.NewTerminal = c.Terminal && p.streams.stdout == nil
	c.Init, c.Owners = b.init, &b.owners
	if b.builder.reports() {
		theirs, ours, err := pipe(0)
		if err != nil {
			return run.Errorf(run.Internal, "pipes: %w", err)
		}
		p.report, c.Kept = ours, append(c.Kept, theirs)
	}
	if b.proxied() && !p.shared() && prepared.nested == nil {
		c.ProxyPort = int(egress.GuestAddress.Port())
	}
	if groups != nil {
		if p.group, err = groups.Lease(b.groupLimits(r.limits)); err != nil {
			return run.Errorf(run.Internal, "cgroup: %w", err)
		}
		if c.Groups = p.group.JoinFDs(); c.Groups == nil {
			c.Join = p.group.Add
		}
	}
	c.Limits = b.rlimits(r.limits, p.group)
	background := context.Background() // it has no messages, so nothing waits
	p.process, err = confine.Start(background, confine.Spec{Plan: plan, Command: c})
	var owner *confine.OwnerError
	if errors.As(err, &owner) {
		if other, ok := owner.AsOwner(plan); ok {
			plan = other
			p.process, err = confine.Start(background, confine.Spec{Plan: plan, Command: c})
		}
	}
	if err != nil {
		return err
	}
	p.user = ids{plan.UID, plan.GID}
	if p.streams.channel != 0 {
		if err := b.holdToCPUs(p.process.Pid, r.limits.CPUs); err != nil {
			return err
		}
	}
	if p.Handles, err = p.process.Ready(c, plan.Seccomp); err != nil {
		return err
	}
	if p.private != nil {
		if err := p.private.keep(); err != nil {
			return err
		}
	}
	if p.Terminal >= 0 {
		p.streams.setTerminal(p.Terminal)
		p.Terminal = -1
	}
	if err := p.openProxy(); err != nil || prepared.nested == nil {
		return err
	}
	prepared.closeKept() // the end of runsc must end the control socket
	return p.boot(prepared.nested, r.limits)
}

// openProxy makes a listener from the socket that the sandbox sent.
func (p *sandbox) openProxy() (err error) {
	if p.Proxy < 0 {
		return nil
	}
	file := os.NewFile(uintptr(p.Proxy), "proxy")
	p.Proxy = -1
	defer func() { _ = file.Close() }() // the listener has a duplicate
	if p.proxy, err = net.FileListener(file); err != nil {
		return run.Errorf(run.Internal, "the proxy's socket: %w", err)
	}
	return nil
}

// ourProcesses is how many processes of ours count against the command's limit: the
// init, and with bubblewrap two more.
func (b *Backend) ourProcesses() int {
	if b.jail == policy.JailBwrap {
		return 3
	}
	return 1
}

// ourMemory is how much more memory than the command a sandbox may use.
func (b *Backend) ourMemory() policy.Bytes {
	if b.isGVisor() {
		return gvisorMemory
	}
	return 0
}

// tasks is how many processes and threads of the host a sandbox may have.
func (b *Backend) tasks(l policy.Limits) int {
	if b.isGVisor() {
		return gvisorTasks + gvisorTasksEach*l.Processes
	}
	return l.Processes + b.ourProcesses()
}

// proxied reports whether commands can use a proxy.
func (b *Backend) proxied() bool {
	return len(b.grants) > 0 && b.options.Policy.Egress == policy.EgressStrict
}

// rlimits limit each process separately. The cgroup and the watcher limit what all
// processes use together.
func (b *Backend) rlimits(l policy.Limits, group *cgroup.Group) []confine.Limit {
	if !b.plan.Rlimits {
		return nil
	}
	limits := []confine.Limit{
		{Resource: unix.RLIMIT_NOFILE, Value: uint64(l.OpenFiles)},
		{Resource: unix.RLIMIT_NPROC, Value: b.processes(l, group)},
		// The watcher is more exact. This limit works when the watcher is late.
		{Resource: unix.RLIMIT_CPU, Value: uint64(l.CPUTime.Seconds()) + 2},
		{Resource: unix.RLIMIT_CORE}, {Resource: unix.RLIMIT_RTPRIO}, {Resource: unix.RLIMIT_NICE},
		{Resource: unix.RLIMIT_MSGQUEUE}, // kernel memory outside every other limit
		{Resource: unix.RLIMIT_MEMLOCK, Value: 64 << 10},
		{Resource: unix.RLIMIT_SIGPENDING, Value: 1024},
	}
	if b.isGVisor() {
		limits[0].Value = gvisorFiles
	}
	if group == nil && !b.isGVisor() {
		// The watcher kills a command that exceeds its memory. This limit bounds what
		// one process can take between two measurements.
		limits = append(limits, confine.Limit{Resource: unix.RLIMIT_DATA, Value: uint64(l.Memory) + memoryRoom})
	}
	return limits
}

// memoryRoom is how much address space a process may reserve beyond its memory limit.
// What it uses must still stay below the limit.
const memoryRoom = 1 << 30

// processes is RLIMIT_NPROC, which counts per user; the command has a user of its own in
// its user namespace. Where a cgroup counts processes, this limit is higher, so that the
// cgroup is the one that refuses and reports it. A command without namespaces shares the
// user with others: the watcher counts its processes, and this limit bounds what it can
// start between two counts.
func (b *Backend) processes(l policy.Limits, group *cgroup.Group) uint64 {
	n := uint64(b.tasks(l))
	if b.isShared() {
		n += uint64(allTasks()) + othersRoom
	}
	if group != nil && group.CountsProcesses() {
		n += 64
	}
	return n
}

// othersRoom is how many more processes the others of the user may get after the count.
const othersRoom = 1024

// explain turns a failed start into an error that says what the caller can do.
func (b *Backend) explain(err error) error {
	var owner *confine.OwnerError
	if errors.As(err, &owner) {
		return run.Errorf(run.Unsupported, "%w: the file system cannot translate owners (ext4, xfs and btrfs can, tmpfs since Linux 6.3): use a directory on another file system, "+
			"chown it to an ordinary user (the command then runs as that user), make it writable for everybody (chmod o+rwx), or make it readable and use it read-only", err)
	}
	var classed *run.Error
	if errors.As(err, &classed) {
		return err
	}
	var setup *confine.SetupError
	switch {
	case !errors.As(err, &setup):
		return run.Wrap(run.Internal, err)
	case setup.Errno == unix.ELOOP:
		return run.Errorf(run.Invalid, "%w: a part of the path was replaced by a symlink after it was checked", err)
	case strings.Contains(setup.Step, privatePattern):
		return noPrivate(err)
	case b.isShared() && b.plan.SwitchID && setup.Errno == unix.EACCES && strings.HasPrefix(setup.Step, "landlock: open /"):
		return run.Errorf(run.Unsupported, "%w: without namespaces commands of root run as another user, who may not enter a directory of this path: "+
			"let others enter it (chmod o+x), or run cordon as an ordinary user", err)
	}
	return &run.Error{Class: run.Unsupported, Message: fmt.Sprintf("the sandbox cannot be set up: %v", err), Err: err}
}

// shared reports whether the sandbox has no namespaces.
func (p *sandbox) shared() bool { return p.private != nil }

// scratchPath is the command's directory for temporary files.
func (p *sandbox) scratchPath() string {
	if p.shared() {
		return p.private.path
	}
	return confine.Scratch
}

// processes are those in the sandbox.
func (p *sandbox) processes() processes {
	if p.shared() {
		return processes{p.Proc, p.process.Pid}
	}
	return processes{proc: p.Proc}
}

// kill ends all processes in the sandbox.
func (p *sandbox) kill() { p.process.Kill() }

// tearDown kills the sandbox and frees what it holds.
func (p *sandbox) tearDown() {
	if p.process != nil {
		p.process.Kill()
		p.process.Wait()
		unix.Close(p.process.Control)
	}
	if p.nested != nil {
		unix.Close(p.nested.Control)
		if p.memory >= 0 {
			unix.Close(p.memory)
		}
	}
	p.Close()
	if p.proxy != nil {
		_ = p.proxy.Close() // the proxy server may have closed it already
	}
	p.streams.close()
	if p.report != nil {
		_ = p.report.Close()
	}
	// Cleaning takes as long as all the rest.
	if p.private != nil {
		p.returning.Go(p.private.remove)
	}
	if p.group != nil {
		p.returning.Go(p.group.Return)
	}
}
