package jail

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/cgroup"
	"github.com/cordon-sandbox/cordon/internal/egress"
	confine "github.com/cordon-sandbox/cordon/internal/jail"
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
	report    *os.File // of a builder that reports
	streams   streams
}

// build puts up a place, which waits for its command.
func (b *Backend) build(r recipe, s streams) (*place, error) {
	p := &place{Place: confine.NoPlace, streams: s, returning: &b.returning}
	err := b.start(p, r)
	s.closeTheirs()
	if err != nil {
		p.tearDown()
		return nil, b.explain(err)
	}
	return p, nil
}

func (b *Backend) start(p *place, r recipe) error {
	if err := b.awaitGroups(); err != nil {
		return err
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
	c.Limits, c.Init, c.Owners = b.rlimits(r.limits), b.init, &b.owners
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
	if b.groups != nil {
		if p.group, err = b.groups.Lease(b.groupLimits(r.limits)); err != nil {
			return run.Errorf(run.Internal, "cgroup: %w", err)
		}
		if c.Groups = p.group.JoinFDs(); c.Groups == nil {
			c.Join = p.group.Add
		}
	}
	if p.process, err = confine.Start(confine.Spec{Plan: plan, Command: c}); err != nil {
		return err
	}
	if p.Place, err = p.process.Ready(c, plan.Seccomp); err == nil && p.Terminal >= 0 {
		p.streams.setTerminal(p.Terminal)
		p.Terminal = -1
	}
	return err
}

// ourProcesses are in the group beside the command's own: the init, and
// bubblewrap with another one.
const ourProcesses = 3

// proxied says that commands have a proxy to talk to.
func (b *Backend) proxied() bool {
	return len(b.grants) > 0 && b.options.Policy.Egress == policy.EgressStrict
}

// rlimits bound each process by itself; what the tree uses together is the
// cgroup's business, and the watch's.
func (b *Backend) rlimits(l policy.Limits) []confine.Limit {
	if !b.plan.Rlimits {
		return nil
	}
	limits := []confine.Limit{
		{Resource: unix.RLIMIT_NOFILE, Value: uint64(l.OpenFiles)},
		{Resource: unix.RLIMIT_NPROC, Value: b.processes(l)},
		// The watch is more exact, and this is there when it is late.
		{Resource: unix.RLIMIT_CPU, Value: uint64(l.CPUTime.Std().Seconds()) + 2},
		{Resource: unix.RLIMIT_CORE}, {Resource: unix.RLIMIT_RTPRIO}, {Resource: unix.RLIMIT_NICE},
		{Resource: unix.RLIMIT_MSGQUEUE}, // kernel memory outside every other limit
		{Resource: unix.RLIMIT_MEMLOCK, Value: 64 << 10},
		{Resource: unix.RLIMIT_SIGPENDING, Value: 1024},
	}
	if b.groups == nil {
		limits = append(limits, confine.Limit{Resource: unix.RLIMIT_DATA, Value: uint64(l.Memory)})
	}
	return limits
}

// processes is the kernel's limit for a user, who is the command's own in its user
// namespace. Where a cgroup counts, and says so, this one stands behind it.
func (b *Backend) processes(l policy.Limits) uint64 {
	n := uint64(l.Processes + ourProcesses)
	if b.counted {
		n += 64
	}
	return n
}

// explain tells a failed start in the words of whoever can do something about it.
func (b *Backend) explain(err error) error {
	var owner *confine.OwnerError
	if errors.As(err, &owner) {
		return run.Errorf(run.Unsupported, "%w: run cordon as uid %d, let uid %d have the folder, or use it read-only", err, owner.UID, owner.GuestUID)
	}
	var classed *run.Error
	if errors.As(err, &classed) {
		return err
	}
	var setup *confine.SetupError
	if errors.As(err, &setup) && (setup.Errno == unix.ELOOP || strings.Contains(setup.Cause, "ELOOP")) {
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
	p.streams.close()
	if p.report != nil {
		_ = p.report.Close()
	}
	if p.group != nil {
		p.returning.Go(p.group.Return) // to clean it takes as long as all the rest
	}
}

// streams are the two ends of a command's standard streams.
type streams struct {
	terminal bool
	// stdin, stdout and stderr are ours. With a terminal, the first two are the
	// same, and there is no third.
	stdin, stdout, stderr *os.File
	inside                [3]int
}

func (s streams) closeTheirs() {
	for i, fd := range s.inside {
		if fd > 0 && !slices.Contains(s.inside[:i], fd) {
			unix.Close(fd)
		}
	}
}

func (s streams) close() {
	for _, f := range []*os.File{s.stdin, s.stdout, s.stderr} {
		if f != nil {
			_ = f.Close() // a terminal is there twice
		}
	}
}

// openPipes makes streams for a command without a terminal. Without input, it
// reads from /dev/null.
func openPipes(input bool) (s streams, err error) {
	defer func() {
		if err != nil {
			s.closeTheirs()
			s.close()
			err = run.Errorf(run.Internal, "pipes: %w", err)
		}
	}()
	if input {
		if s.inside[0], s.stdin, err = pipe(1); err != nil {
			return s, err
		}
	} else if s.inside[0], err = unix.Open(os.DevNull, unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
		return s, err
	}
	if s.inside[1], s.stdout, err = pipe(0); err != nil {
		return s, err
	}
	s.inside[2], s.stderr, err = pipe(0)
	return s, err
}

// pipe gives the command's end as a plain descriptor, and ours as a file; ours is
// the one for reading (0) or for writing (1).
func pipe(ours int) (theirs int, file *os.File, err error) {
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
		return 0, nil, err
	}
	// Ours alone: the flag belongs to an end, and a command expects to block.
	if err := unix.SetNonblock(ends[ours], true); err != nil {
		unix.Close(ends[0])
		unix.Close(ends[1])
		return 0, nil, err
	}
	return ends[1-ours], os.NewFile(uintptr(ends[ours]), "stream"), nil
}
