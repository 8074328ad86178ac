package jail

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/confine"
	"github.com/cordon-sandbox/cordon/internal/egress"
	"github.com/cordon-sandbox/cordon/internal/notify"
	"github.com/cordon-sandbox/cordon/internal/output"
	"github.com/cordon-sandbox/cordon/internal/seccomp"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

func (b *Backend) run(ctx context.Context, job backend.Job) (run.Result, error) {
	began := time.Now()
	r, err := b.recipe(job)
	if err != nil {
		return run.Result{}, err
	}
	p, waits := b.waiting(r, job.Streams.Terminal)
	var openErr error
	opened := make(chan struct{})
	open := func() {
		defer close(opened)
		if !waits {
			p, openErr = b.open(r, job.Streams.Terminal, job.Stdin != "" || job.Streams.In != nil)
		}
	}
	// Build a sandbox while the command line is checked, unless that depends on it. One that
	// waits is there without another goroutine, whose thread would have to wake up.
	shared := b.isShared()
	if waits || shared {
		open()
	} else {
		go open()
	}
	var program string
	var refusals []run.Violation
	if !shared {
		program, refusals, err = b.check(job, r, confine.Scratch)
	}
	<-opened
	if p != nil {
		defer p.tearDown()
	}
	if p != nil && p.shared() {
		program, refusals, err = b.check(job, r, p.scratchPath())
	}
	switch {
	case err != nil:
		return run.Result{}, err
	case len(refusals) > 0:
		return backend.NotStarted(refusals), nil
	case openErr != nil:
		return run.Result{}, openErr
	}
	var proxy []string
	if b.proxied() {
		proxy = egress.Environment(egress.GuestAddress.String())
	}
	executed, argv := b.builder.execute(r, program, job.Command.Args)
	disk := newDiskWatch(r.writable(b.options.Policy), job.Limits, p.processes(), p.Scratch)
	scratch := newScratchWatch(p, job.Limits)
	if err := p.commands().Execute(executed, argv, r.environment(job, p.scratchPath(), proxy)); err != nil {
		return run.Result{}, b.executionError(p, err)
	}
	g := &guest{backend: b, sandbox: p, job: job, recipe: r, began: began, program: program, disk: disk, scratch: scratch}
	if job.Streams.Terminal == nil {
		defer b.ahead.Use(r)()
	}
	return g.run(ctx)
}

// waiting returns a sandbox that was built ahead, if there is one.
func (b *Backend) waiting(r recipe, terminal *run.Terminal) (p *sandbox, waits bool) {
	if terminal != nil {
		return nil, false
	}
	return b.ahead.Take(r)
}

// open builds a sandbox that waits for its command.
func (b *Backend) open(r recipe, terminal *run.Terminal, input bool) (*sandbox, error) {
	for {
		p, err := b.openNew(r, terminal, input)
		if err == nil {
			return p, nil
		}
		if again, err := b.narrow(err); !again {
			return nil, err
		}
	}
}

func (b *Backend) openNew(r recipe, terminal *run.Terminal, input bool) (*sandbox, error) {
	if terminal == nil {
		s, err := openPipes(input)
		if err != nil {
			return nil, err
		}
		return b.build(r, s)
	}
	s, err := b.builder.terminal()
	if err != nil {
		return nil, err
	}
	p, err := b.build(r, s)
	if err == nil {
		setWindowSize(p.streams.stdout, terminal.Size)
	}
	return p, err
}

// executionError explains why the sandbox did not take the command.
func (b *Backend) executionError(p *sandbox, err error) error {
	switch {
	case errors.Is(err, confine.ErrLongOrder):
		return run.Wrap(run.Invalid, err)
	case p.waited:
		// It was killed while it waited. The caller retries with a new one.
		return fmt.Errorf("%w: %w", backend.ErrNotStarted, err)
	}
	if _, endErr := p.process.End(); endErr != nil {
		return b.explain(endErr)
	}
	return killedFromOutside()
}

// guest is a running command.
type guest struct {
	backend *Backend
	sandbox *sandbox
	job     backend.Job
	recipe  recipe
	program string
	began   time.Time
	disk    *diskWatch
	scratch *diskWatch // of the private directory; nil without one

	killed         atomic.Pointer[reason] // why we killed it
	stdout, stderr output.Stream
	denials        notify.Denials
	proxy          *egress.Proxy
}

// reason says why we killed a command.
type reason string

const (
	killedWall      reason = "wall_time"
	killedCPU       reason = "cpu_time"
	killedOutput    reason = "output"
	killedMemory    reason = "memory"
	killedDisk      reason = "disk"
	killedFiles     reason = "files"
	killedScratch   reason = "scratch"
	killedProcesses reason = "processes"
	killedCanceled  reason = "canceled"
	killedHammering reason = "hammering"
)

// kill ends the command. Only the first reason counts.
func (g *guest) kill(r reason) {
	if g.killed.CompareAndSwap(nil, &r) {
		g.sandbox.kill()
	}
}

func (g *guest) run(ctx context.Context) (run.Result, error) {
	var helpers sync.WaitGroup
	var served error // from the proxy server
	g.serveProxy(&helpers, &served)
	helpers.Go(g.answer)
	g.feed()
	g.collect()

	var end confine.CommandEnd
	var endErr error
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		end, endErr = g.sandbox.end()
	}()
	w := g.watch(ctx, ended)
	_, usage := g.sandbox.process.Wait() // the init, and with it all other processes
	wallTime := time.Since(g.began)
	stdout, stderr := g.stdout.Finish(), g.stderr.Finish()
	var closed error
	if g.proxy != nil {
		closed = g.proxy.Close()
	}
	helpers.Wait()
	if endErr != nil {
		return run.Result{}, g.backend.explain(endErr)
	}
	if err := errors.Join(closed, served); err != nil {
		return run.Result{}, run.Errorf(run.Internal, "the proxy: %w", err)
	}

	e := evidence{
		Program: g.program, End: end, Limits: g.job.Limits, Stdout: stdout, Stderr: stderr, WallTime: wallTime,
		CPUTime: time.Duration(usage.Utime.Nano() + usage.Stime.Nano()), Memory: policy.Bytes(usage.Maxrss) << 10,
		ScratchFull: w.scratchFull, Violations: append(g.denials.Take(), g.sandbox.unsupported()...),
	}
	if r := g.killed.Load(); r != nil {
		e.Killed = *r
	} else {
		e.Killed = w.finalWalks(usage.Oublock * blockSize)
	}
	if w.memory != nil {
		e.Memory = max(e.Memory, policy.Bytes(w.memory.peak))
	}
	if p := g.sandbox; p.report != nil && e.Killed == "" {
		e.NotExecuted = !wasExecuted(output.Rest(p.report, maxReport))
	}
	if err := e.addGroup(g.sandbox.group); err != nil {
		return run.Result{}, err
	}
	// What a sandbox inside of ours needed before the command is not the command's.
	e.CPUTime, e.Memory = max(0, e.CPUTime-g.sandbox.booting), max(0, e.Memory-policy.Bytes(g.sandbox.base))
	result, err := judge(e)
	if uid := g.sandbox.user.uid; uid != g.backend.plan.UID {
		result.Enforcement.Walls = map[policy.Wall]policy.WallStatus{policy.WallUID: policy.EnforcedWall(fmt.Sprintf("uid %d, the owner of a directory whose owner cannot be translated", uid))}
	}
	if g.proxy != nil {
		result.Traffic = g.proxy.Traffic()
	}
	return result, err
}

// blockSize is the unit of Rusage.Oublock.
const blockSize = 512

// maxReport is larger than any builder's report.
const maxReport = 64 << 10

// feed writes the command's input. What the command does not read is lost.
func (g *guest) feed() {
	in := g.job.Streams.In
	if in == nil {
		in = strings.NewReader(g.job.Stdin)
	}
	if g.sandbox.streams.stdin == nil {
		return
	}
	if g.job.Streams.In == nil && g.job.Stdin == "" {
		if g.sandbox.streams.terminal {
			return // the file also carries the output
		}
		_ = g.sandbox.streams.stdin.Close() // the command reads the end of its input
		return
	}
	go func() {
		_, _ = io.Copy(g.sandbox.streams.stdin, in) // returns when the command ends; a blocked caller's reader may delay that
		if g.sandbox.streams.terminal {
			_, _ = g.sandbox.streams.stdin.Write([]byte{endOfInput})
			return
		}
		_ = g.sandbox.streams.stdin.Close()
	}()
}

// collect reads the command's output.
func (g *guest) collect() {
	kill := func() { g.kill(killedOutput) }
	g.stdout.Sink, g.stderr.Sink = output.Sinks(g.job.Limits, g.job.OnOutputLimit, g.job.Streams, kill)
	g.stdout.Start(g.sandbox.streams.stdout)
	if g.sandbox.streams.stderr != nil { // a terminal has one output for both
		g.stderr.Start(g.sandbox.streams.stderr)
	}
}

// answer refuses the system calls that the filter denies, and records them.
func (g *guest) answer() {
	fd := g.sandbox.Listener
	if fd < 0 {
		return
	}
	asked := g.newAnswers(fd)
	for {
		ready := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		if _, err := unix.Poll(ready, -1); errors.Is(err, unix.EINTR) {
			continue
		} else if err != nil || ready[0].Revents&unix.POLLIN == 0 {
			return // no process with the filter is left
		}
		q, err := notify.Next(fd)
		if err != nil {
			continue // the process died while it waited
		}
		if asked.answer(q) {
			continue
		}
		g.report(seccomp.Violation(g.backend.profile(), q.NR, q.Args))
		q.Refuse(fd, unix.EPERM)
	}
}

func (g *guest) report(v run.Violation) {
	if g.denials.Add(v) == notify.Hammering {
		g.kill(killedHammering)
	}
}

func (g *guest) serveProxy(helpers *sync.WaitGroup, failed *error) {
	if g.sandbox.proxy == nil && !(g.sandbox.shared() && g.backend.proxied()) {
		return
	}
	g.proxy = egress.New(egress.Options{Grants: g.backend.grants, Report: g.report})
	if g.sandbox.shared() {
		return // it serves single connections
	}
	helpers.Go(func() { *failed = g.proxy.Serve(g.sandbox.proxy) })
}
