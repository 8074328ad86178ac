// Package guest is one guest of WebAssembly while it runs: its memory, clocks, streams and
// tools, the functions that it can call (host.go), and the verdict when it has ended
// (judge.go).
package guest

import (
	"context"
	"crypto/rand"
	"io"
	random "math/rand/v2"
	"strings"
	"time"

	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/sys"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/backend/wasm/guestfs"
	"github.com/cordon-sandbox/cordon/internal/backend/wasm/memory"
	"github.com/cordon-sandbox/cordon/internal/hints"
	"github.com/cordon-sandbox/cordon/internal/output"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Guest is code that runs in one memory. It is for one goroutine, which runs it.
type Guest struct {
	Memory memory.Memory
	Files  *guestfs.OpenFiles
	// Answer replies to cordon's own code in the guest, before the guest's code runs.
	Answer func(question []byte) (answer []byte, ours bool)

	slice  int64 // how much fuel it gets at once
	clock  *clock
	closed <-chan struct{} // when the Runner is
	errors guestfs.Errors
	turn
}

// turn is one run of a guest: what it may use, and what was observed.
type turn struct {
	ctx      context.Context // the caller's
	limits   policy.Limits
	started  time.Time
	deadline time.Time
	waited   time.Duration // for a tool, its input or a clock
	cpu      cpuTime

	granted int64 // how much fuel it got so far
	fuel    int64 // how much it may get; less than 0 if that is not counted

	// outcome is why cordon ended it; empty if it did not.
	outcome    run.Outcome
	trap       string // with Trapped
	violations []run.Violation

	stdin          io.Reader
	random         io.Reader
	stdout, stderr output.Sink
	overflowing    bool   // more was written than is allowed, and that ends it
	full           string // the limit of files that was reached

	tools map[string]run.Tool
	calls map[string]int
	reply []byte // to the last question
}

// The slices of fuel are short enough for Go's garbage collector, which a guest delays
// until it asks for more, and so long that asking costs nothing. A coarse count has loops
// and calls, which take as long as many instructions.
const (
	exactSlice  = 1 << 18
	coarseSlice = 5000
)

// New gives a guest that has not begun. It ends when closed is.
func New(closed <-chan struct{}) *Guest {
	g := &Guest{clock: &clock{}, slice: exactSlice, closed: closed}
	g.Files = guestfs.NewOpenFiles(g.Exceeded)
	return g
}

// NewCoarse is for code whose instructions are not counted one by one.
func NewCoarse(closed <-chan struct{}) *Guest {
	g := New(closed)
	g.slice = coarseSlice
	return g
}

// Context is for calls into the guest: by it host functions find who called them. The
// engine never checks a context: what ends is ended by the guest itself, when it asks for
// fuel.
func (g *Guest) Context(ctx context.Context) context.Context {
	ctx = context.WithValue(guestfs.WithErrors(context.WithoutCancel(ctx), &g.errors), guestKey{}, g)
	return experimental.WithMemoryAllocator(ctx, &g.Memory)
}

// Errors remembers what files failed with, for WASI.
func (g *Guest) Errors() *guestfs.Errors { return &g.errors }

// Wall is the guest's clock.
func (g *Guest) Wall() (seconds int64, nanoseconds int32) { return g.clock.wall() }

// standardStreams count as open files.
const standardStreams = 3

// Adopt makes it the guest of a job, with nothing left of an earlier one.
func (g *Guest) Adopt(ctx context.Context, job backend.Job) {
	g.turn = turn{ctx: ctx, limits: job.Limits, fuel: int64(job.Limits.Fuel), tools: job.Tools(), random: rand.Reader}
	over := func() { g.overflowing = true }
	sink := output.Sink{Limit: int64(job.Limits.Output), OnLimit: job.OnOutputLimit, Kill: over}
	g.stdout, g.stderr = sink, sink
	g.stdout.Live, g.stderr.Live = job.Streams.Out, job.Streams.Err
	g.stdin = strings.NewReader(job.Stdin)
	if job.Streams.In != nil {
		g.stdin = &reader{guest: g, from: job.Streams.In}
	}
	g.Memory.Refused = false
	g.Files.Allow(job.Limits.OpenFiles - standardStreams)
	g.clock.fixed = job.Deterministic()
	if job.Deterministic() {
		g.random = random.NewChaCha8([32]byte{})
	}
}

// AdoptCoarse is for a guest that was made by NewCoarse.
func (g *Guest) AdoptCoarse(ctx context.Context, job backend.Job) {
	g.Adopt(ctx, job)
	g.fuel = uncounted
}

// uncounted is the fuel of a guest whose instructions are not counted one by one.
const uncounted = -1

// Begin starts the clocks. Until End the guest stays on its thread.
func (g *Guest) Begin() {
	g.started = time.Now()
	g.deadline = g.started.Add(g.limits.WallTime)
	g.cpu.begin()
}

// End is for when the guest has returned.
func (g *Guest) End() { g.cpu.end() }

// Unspent gives back fuel that the guest did not use.
func (g *Guest) Unspent(fuel int64) { g.granted -= max(0, fuel) }

// refill answers a guest that has used up its fuel, or ends it if it has used up anything
// else.
func (g *Guest) refill(left int64) int64 {
	spent := g.granted - left
	g.check(spent)
	grant := g.slice
	if g.fuel >= 0 {
		grant = min(grant, g.fuel-spent)
	}
	g.granted = spent + grant
	return grant
}

// check ends a guest that is over one of its limits.
func (g *Guest) check(spent int64) {
	elapsed := time.Since(g.started)
	switch {
	case g.ctx.Err() != nil, g.orphaned():
		g.stop(run.Canceled)
	case elapsed > g.limits.WallTime:
		g.stop(run.TimedOut)
	// One thread cannot use more than the time that has passed.
	case elapsed > g.limits.CPUTime && g.cpu.used(elapsed-g.waited) > g.limits.CPUTime:
		g.stop(run.OutOfCPU)
	case g.fuel >= 0 && spent > g.fuel:
		g.stop(run.OutOfFuel)
	}
}

// orphaned says that the Runner is closed.
func (g *Guest) orphaned() bool {
	select {
	case <-g.closed:
		return true
	default:
		return false
	}
}

// Abandoned says that the guest was ended because its Runner is closed.
func (g *Guest) Abandoned() bool {
	return g.outcome == run.Canceled && g.ctx.Err() == nil && g.orphaned()
}

// stop ends the guest where it is: the panic goes up to the call into it, where the engine
// makes it an error.
func (g *Guest) stop(why run.Outcome) {
	if g.outcome == "" {
		g.outcome = why
	}
	panic(sys.NewExitError(1)) //nolint:forbidigo // how a host function of wazero's does not return
}

func (g *Guest) overflow() {
	g.trap = "calls are nested too deeply"
	g.stop(run.Trapped)
}

// wait waits for an event that is not the guest's work, within its time.
func wait[T any](g *Guest, event <-chan T) T {
	begin := time.Now()
	timer := time.NewTimer(g.deadline.Sub(begin))
	defer timer.Stop()
	defer func() { g.waited += time.Since(begin) }()
	select {
	case came := <-event:
		return came
	case <-timer.C:
		g.stop(run.TimedOut)
	case <-g.ctx.Done():
		g.stop(run.Canceled)
	case <-g.closed:
		g.stop(run.Canceled)
	}
	return *new(T)
}

// sleep waits for a time to pass.
func (g *Guest) sleep(d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(min(d, time.Until(g.deadline)+time.Second))
	defer timer.Stop()
	wait(g, timer.C)
}

// Exceeded notes that the guest wanted more files, or more in them, than it may have.
func (g *Guest) Exceeded(limit string) { g.full = limit }

// mostViolations bounds what is kept of a guest that keeps trying.
const mostViolations = 100

// Denied notes that the guest tried what the policy does not grant.
func (g *Guest) Denied(op, path string) {
	for i := range g.violations {
		if v := &g.violations[i]; v.Op == op && v.Detail == path {
			v.Count++
			return
		}
	}
	if len(g.violations) < mostViolations {
		g.violations = append(g.violations, hints.Give(run.Violation{
			Wall: policy.WallWasm, Op: op, Detail: path, Count: 1,
		}, run.HintGrantDirectory, nil))
	}
}
