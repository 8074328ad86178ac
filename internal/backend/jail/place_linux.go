package jail

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/cgroup"
	"github.com/cordon-sandbox/cordon/internal/confine"
	"github.com/cordon-sandbox/cordon/internal/egress"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// place is one jail, with our ends of everything that leads into it.
type place struct {
	confine.Place
	process *confine.Process
	group   *cgroup.Group // nil without a cgroup
	// returning is waited for before the groups are closed.
	returning *sync.WaitGroup
	report    *os.File     // of a builder that reports
	proxy     net.Listener // on its loopback, nil if there is none
	streams   streams
	waited    bool // it was built before its command came
	owner     int  // the user whom the command runs as, if that is not the plan's
}

// build puts up a place, which waits for its command.
func (b *Backend) build(r recipe, s streams) (*place, error) {
	began := time.Now()
	p := &place{Place: confine.NoPlace, streams: s, returning: &b.returning}
	err := b.start(p, r)
	s.closeTheirs()
	if err != nil {
		p.tearDown()
		return nil, b.explain(err)
	}
	b.setups.Since(began)
	return p, nil
}

func (b *Backend) start(p *place, r recipe) error {
	groups, err := b.groups.Pool()
	if err != nil {
		return run.Errorf(run.Internal, "cgroup: %w", err)
	}
	plan, c, err := b.builder.place(b.plan, r)
	if err != nil {
		return err
	}
	defer func() {
		for _, fd := range c.Kept {
			unix.Close(fd)
		}
	}()
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
	if b.proxied() {
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
	p.process, err = confine.Start(confine.Spec{Plan: plan, Command: c})
	var owner *confine.OwnerError
	if errors.As(err, &owner) {
		if other, ok := owner.AsOwner(plan); ok {
			plan, p.owner = other, owner.UID
			p.process, err = confine.Start(confine.Spec{Plan: plan, Command: c})
		}
	}
	if err != nil {
		return err
	}
	if p.Place, err = p.process.Ready(c, plan.Seccomp); err != nil {
		return err
	}
	if p.Terminal >= 0 {
		p.streams.setTerminal(p.Terminal)
		p.Terminal = -1
	}
	return p.openProxy()
}

// openProxy makes a listener of the socket that came out of the place.
func (p *place) openProxy() (err error) {
	if p.Proxy < 0 {
		return nil
	}
	file := os.NewFile(uintptr(p.Proxy), "proxy")
	p.Proxy = -1
	defer func() { _ = file.Close() }() // the listener has its own
	if p.proxy, err = net.FileListener(file); err != nil {
		return run.Errorf(run.Internal, "the proxy's socket: %w", err)
	}
	return nil
}

// ourProcesses are how many of ours are counted with the command's own: the init, and
// bubblewrap with another one.
func (b *Backend) ourProcesses() int {
	if b.options.Policy.Jail == policy.JailBwrap {
		return 3
	}
	return 1
}

// proxied says that commands have a proxy to talk to.
func (b *Backend) proxied() bool {
	return len(b.grants) > 0 && b.options.Policy.Egress == policy.EgressStrict
}

// rlimits bound each process by itself; what the tree uses together is the
// cgroup's business, and the watch's.
func (b *Backend) rlimits(l policy.Limits, group *cgroup.Group) []confine.Limit {
	if !b.plan.Rlimits {
		return nil
	}
	limits := []confine.Limit{
		{Resource: unix.RLIMIT_NOFILE, Value: uint64(l.OpenFiles)},
		{Resource: unix.RLIMIT_NPROC, Value: b.processes(l, group)},
		// The watch is more exact, and this is there when it is late.
		{Resource: unix.RLIMIT_CPU, Value: uint64(l.CPUTime.Std().Seconds()) + 2},
		{Resource: unix.RLIMIT_CORE}, {Resource: unix.RLIMIT_RTPRIO}, {Resource: unix.RLIMIT_NICE},
		{Resource: unix.RLIMIT_MSGQUEUE}, // kernel memory outside every other limit
		{Resource: unix.RLIMIT_MEMLOCK, Value: 64 << 10},
		{Resource: unix.RLIMIT_SIGPENDING, Value: 1024},
	}
	if group == nil {
		// The watch ends a command that uses more than its memory. This is for the
		// time until it looks, and for what one process takes at once.
		limits = append(limits, confine.Limit{Resource: unix.RLIMIT_DATA, Value: uint64(l.Memory) + memoryRoom})
	}
	return limits
}

// memoryRoom is how much more than its memory limit a process may ask for, of which it
// must not use more than the limit.
const memoryRoom = 1 << 30

// processes is the kernel's limit for a user, who is the command's own in its user
// namespace. Where a cgroup counts, and says so, this one stands behind it.
func (b *Backend) processes(l policy.Limits, group *cgroup.Group) uint64 {
	n := uint64(l.Processes + b.ourProcesses())
	if group != nil && group.CountsProcesses() {
		n += 64
	}
	return n
}

// explain tells a failed start in the words of whoever can do something about it.
func (b *Backend) explain(err error) error {
	var owner *confine.OwnerError
	if errors.As(err, &owner) {
		return run.Errorf(run.Unsupported, "%w: the file system cannot translate owners (tmpfs can since Linux 6.3; ext4, xfs and btrfs can): use a directory elsewhere, "+
			"give it to an ordinary user, as whom the command then runs (chown), open it to everybody (chmod o+rwx), or open it for reading and use it read-only", err)
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
		return run.Errorf(run.Invalid, "%w: there is a symlink on the way, where there was none when the path was looked at", err)
	}
	return &run.Error{Class: run.Unsupported, Message: fmt.Sprintf("the sandbox cannot be set up: %v", err), Err: err}
}

// kill ends everything in the place.
func (p *place) kill() { p.process.Kill() }

// tearDown lets go of a place after its last process.
func (p *place) tearDown() {
	if p.process != nil {
		p.process.Kill()
		p.process.Wait()
		unix.Close(p.process.Control)
	}
	p.Close()
	if p.proxy != nil {
		_ = p.proxy.Close() // who served it has closed it already
	}
	p.streams.close()
	if p.report != nil {
		_ = p.report.Close()
	}
	if p.group != nil {
		p.returning.Go(p.group.Return) // to clean it takes as long as all the rest
	}
}
