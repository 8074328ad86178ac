// Package guest represents one running WebAssembly guest: its memory, clocks, streams and
// tools, the functions that it can call (host.go), and the evidence about its end (judge.go).
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

// Guest is code that runs in one memory, on one goroutine.
type Guest struct {
	Memory memory.Memory
	Files  *guestfs.OpenFiles
	// Answer replies to cordon's code in the guest, before the guest's code runs.
	Answer func(question []byte) (answer []byte, ours bool)

	slice  int64 // the fuel that it gets at a time
	clock  *clock
	closed <-chan struct{} // closed with the Runner
	errors guestfs.Errors
	turn
}

// turn is one run of a guest: its limits and what was observed.
type turn struct {
	ctx      context.Context // the caller's
	limits   policy.Limits
	started  time.Time
	deadline time.Time
	waited   time.Duration // time spent waiting for a tool, input or a clock
	cpu      cpuTime

	granted int64 // the fuel that it got so far
	fuel    int64 // its limit of fuel; negative if fuel is not counted

	// outcome is why cordon ended the guest; empty if it did not.
	outcome    run.Outcome
	trap       string // with Trapped
	violations []run.Violation

	stdin          io.Reader
	random         io.Reader
	stdout, stderr output.Sink
	overflowing    bool   // the output limit was exceeded, and ends the guest
	full           string // the limit of files that was reached

	tools map[string]run.Tool
	calls map[string]int
	reply []byte // to the last question
}

// A guest delays Go's garbage collector until it asks for more fuel, so the slices of fuel
// are short, but long enough that asking costs next to nothing. A coarse count counts only
// loops and calls, each of which takes as long as many instructions.
const (
	exactSlice  = 1 << 18
	coarseSlice = 5000
)

// New returns a guest that has not started. It ends when closed is closed.
func New(closed <-chan struct{}) *Guest {
	g := &Guest{clock: &clock{}, slice: exactSlice, closed: closed}
	g.Files = guestfs.NewOpenFiles(g.Exceeded)
	return g
}

// NewCoarse is New for code with a coarse count.
func NewCoarse(closed <-chan struct{}) *Guest {
	g := New(closed)
	g.slice = coarseSlice
	return g
}

// Context returns the context for calls into the guest, from which host functions get the
// guest. The engine never checks a context: the guest ends when it asks for fuel.
func (g *Guest) Context(ctx context.Context) context.Context {
	ctx = context.WithValue(guestfs.WithErrors(context.WithoutCancel(ctx), &g.errors), guestKey{}, g)
	return experimental.WithMemoryAllocator(ctx, &g.Memory)
}

// Errors returns the record of errors of files, for WASI.
func (g *Guest) Errors() *guestfs.Errors { return &g.errors }

// Wall reads the guest's clock.
func (g *Guest) Wall() (seconds int64, nanoseconds int32) { return g.clock.wall() }

// standardStreams count as open files.
const standardStreams = 3

// Adopt prepares the guest for a job, and clears the state of an earlier one.
func (g *Guest) Adopt(ctx context.Context, job backend.Job) {
	g.turn = turn{ctx: ctx, limits: job.Limits, fuel: int64(job.Limits.Fuel), tools: job.Tools(), random: rand.Reader}
	over := func() { g.overflowing = true }
	g.stdout, g.stderr = output.Sinks(job.Limits, job.OnOutputLimit, job.Streams, over)
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

// AdoptCoarse is Adopt for a guest of NewCoarse.
func (g *Guest) AdoptCoarse(ctx context.Context, job backend.Job) {
	g.Adopt(ctx, job)
	g.fuel = uncounted
}

// uncounted is the fuel of a guest with a coarse count.
const uncounted = -1

// Begin starts the clocks and locks the goroutine to its thread until End.
func (g *Guest) Begin() {
	g.started = time.Now()
	g.deadline = g.started.Add(g.limits.WallTime)
	g.cpu.begin()
}

// End is called when the guest has returned.
func (g *Guest) End() { g.cpu.end() }

// Unspent returns fuel that the guest did not use.
func (g *Guest) Unspent(fuel int64) { g.granted -= max(0, fuel) }

// refill gives more fuel to a guest that has used its slice, or ends the guest if it has
// reached a limit.
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

// check ends a guest that has exceeded one of its limits.
func (g *Guest) check(spent int64) {
	elapsed := time.Since(g.started)
	switch {
	case g.ctx.Err() != nil, g.orphaned():
		g.stop(run.Canceled)
	case elapsed > g.limits.WallTime:
		g.stop(run.TimedOut)
	// One thread cannot use more than the elapsed time.
	case elapsed > g.limits.CPUTime && g.cpu.used(elapsed-g.waited) > g.limits.CPUTime:
		g.stop(run.OutOfCPU)
	case g.fuel >= 0 && spent > g.fuel:
		g.stop(run.OutOfFuel)
	}
}

// orphaned reports whether the Runner is closed.
func (g *Guest) orphaned() bool {
	select {
	case <-g.closed:
		return true
	default:
		return false
	}
}

// Abandoned reports whether the guest ended because its Runner was closed.
func (g *Guest) Abandoned() bool {
	return g.outcome == run.Canceled && g.ctx.Err() == nil && g.orphaned()
}

// stop ends the guest at once: the engine turns the panic into an error of the call into the
// guest.
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

// wait waits for an event within the guest's wall time.
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

// Exceeded records that the guest reached a limit of files.
func (g *Guest) Exceeded(limit string) { g.full = limit }

// mostViolations bounds the recorded violations.
const mostViolations = 100

// Denied records an attempt to use something that the policy does not grant.
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
