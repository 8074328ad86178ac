package jail

import (
	"errors"
	"net"
	"os"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/launch"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Launcher starts programs in sandboxes of their own. The caller watches their limits, as far
// as the sandbox does not enforce them. Only gVisor's sandboxes have a channel.
type Launcher struct{ backend *Backend }

var (
	_ launch.Launcher  = Launcher{}
	_ launch.Networked = (*launched)(nil)
)

// Launcher returns a launcher for the sandboxes of the backend. What they see of the host is
// the backend's choice, not that of the order.
func (b *Backend) Launcher() Launcher { return Launcher{b} }

// Walls returns the walls of the plan. Those around a command line and its network do not
// concern what is launched.
func (l Launcher) Walls(launch.Access) (map[policy.Wall]policy.WallStatus, error) {
	walls := l.backend.Enforcement().Walls
	delete(walls, policy.WallCommand)
	delete(walls, policy.WallEgress)
	return walls, nil
}

// Grants identifies the files at the granted paths. A sandbox that was started when they were
// others has those.
func (l Launcher) Grants() (string, error) { return l.backend.grantedNow() }

// System is empty: the backend mounts what is needed.
func (Launcher) System() launch.System { return launch.System{} }

// ChannelName returns the number of a descriptor.
func (Launcher) ChannelName(*os.File) string { return strconv.Itoa(ChannelFD) }

// Start builds a sandbox and starts the program of the order in it.
func (l Launcher) Start(o launch.Order) (launch.Process, error) {
	s, err := streamsOf(o)
	if err != nil {
		return nil, err
	}
	limits := o.Limits
	limits.Processes = limits.Threads // a script has no processes
	p, err := l.backend.build(recipe{limits: limits}, s)
	if err != nil {
		return nil, err
	}
	if err := p.commands().Execute(o.Program, o.Args, o.Env); err != nil {
		p.tearDown()
		return nil, l.backend.executionError(p, err)
	}
	return &launched{sandbox: p}, nil
}

// streamsOf returns copies of the order's streams, which building the sandbox closes.
func streamsOf(o launch.Order) (s streams, err error) {
	files := []*os.File{o.Stdin, o.Stdout, o.Stderr, o.Channel}
	copies := []*int{&s.inside[0], &s.inside[1], &s.inside[2], &s.channel}
	for i, file := range files {
		if *copies[i], err = unix.FcntlInt(file.Fd(), unix.F_DUPFD_CLOEXEC, 3); err != nil {
			s.closeTheirs()
			return s, run.Errorf(run.Internal, "the streams: %w", err)
		}
	}
	return s, nil
}

// holdToCPUs makes the kernel run a sandbox only on as many CPUs as its limit allows. It has one
// thread so far, whose mask all others will inherit.
func (b *Backend) holdToCPUs(pid, limit int) error {
	var usable, mask unix.CPUSet
	if err := unix.SchedGetaffinity(os.Getpid(), &usable); err != nil {
		return run.Errorf(run.Internal, "the CPUs of this process: %w", err)
	}
	var cpus []int
	for cpu := range len(usable) * 64 {
		if usable.IsSet(cpu) {
			cpus = append(cpus, cpu)
		}
	}
	if limit >= len(cpus) {
		return nil
	}
	first := int(b.turns.Add(1)) // sandboxes take turns
	for i := range max(1, limit) {
		mask.Set(cpus[(first+i)%len(cpus)])
	}
	if err := unix.SchedSetaffinity(pid, &mask); err != nil && !errors.Is(err, unix.EPERM) { // root without CAP_SYS_NICE
		return run.Errorf(run.Internal, "CPUs of the sandbox: %w", err)
	}
	return nil
}

// launched is a started program, with all processes that it starts.
type launched struct {
	sandbox *sandbox

	mu    sync.Mutex   // prevents measuring a sandbox that was freed
	last  launch.Usage // before it was killed: nothing can be measured later
	freed bool
}

// Kill ends all processes.
func (l *launched) Kill() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.freed && l.last == (launch.Usage{}) {
		l.last = l.measureLocked()
	}
	l.sandbox.kill()
}

// Network returns the listener for the proxy; nil without a network.
func (l *launched) Network() net.Listener { return l.sandbox.proxy }

// Usage returns what the program has used so far.
func (l *launched) Usage() launch.Usage {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.freed {
		return launch.Usage{} // Wait has returned more
	}
	return l.measureLocked()
}

func (l *launched) measureLocked() launch.Usage {
	return launch.Usage{CPUTime: l.sandbox.cpuTime(), Memory: policy.Bytes(max(0, l.sandbox.gvisorMemory()-l.sandbox.base))}
}

// lastUsage returns what was measured before the program was killed.
func (l *launched) lastUsage() launch.Usage {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}

func (l *launched) free() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.freed = true
	l.sandbox.tearDown()
}

// Wait returns when the program has ended, and frees the sandbox.
func (l *launched) Wait() (exit launch.Exit, err error) {
	end, err := l.sandbox.end()
	_, usage := l.sandbox.process.Wait()
	defer l.free()
	if err != nil {
		return exit, err
	}
	if end.Failure != 0 {
		return exit, end.Failure
	}
	used := time.Duration(usage.Utime.Nano()+usage.Stime.Nano()) - l.sandbox.booting
	exit.Code, exit.Usage = -1, l.lastUsage()
	exit.Usage.CPUTime = max(used, exit.Usage.CPUTime, l.sandbox.cpuTime())
	switch status := end.Status; {
	case status.Exited():
		exit.Code = status.ExitStatus()
	case status.Signaled():
		exit.Signal = run.SignalName(int(status.Signal()))
	}
	exit.Violations = l.sandbox.unsupported()
	if group := l.sandbox.group; group != nil {
		kills, err := group.OOMKills()
		if err != nil {
			return exit, err
		}
		if kills > 0 {
			exit.Limit = launch.LimitMemory
		}
	}
	return exit, nil
}
