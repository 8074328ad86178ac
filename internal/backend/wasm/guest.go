package wasm

import (
	"context"
	"crypto/rand"
	"io"
	random "math/rand/v2"
	"strings"
	"time"

	"github.com/tetratelabs/wazero/sys"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/backend/wasm/guestfs"
	"github.com/cordon-sandbox/cordon/internal/output"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// guest is whoever runs in one memory. All of it belongs to the goroutine that runs it.
type guest struct {
	slice  int64 // how much fuel it gets at once
	memory memory
	clock  *clock
	closed <-chan struct{} // when the Runner is
	files  *guestfs.OpenFiles
	errors guestfs.Errors
	// answer is what cordon's own code in the guest asks before the guest's comes.
	answer func(question []byte) (answer []byte, ours bool)
	turn
}

// turn is one run of a guest: what it may use, and what was seen of it.
type turn struct {
	ctx      context.Context // the caller's
	limits   policy.Limits
	started  time.Time
	deadline time.Time
	waited   time.Duration // for somebody else
	cpu      processor

	granted int64 // how much fuel it got in all
	fuel    int64 // how much it may get; less than 0 where it is not counted

	// outcome is why it was ended; empty while nobody did.
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

// The slices of fuel are short enough for Go's garbage collector, which a guest holds up
// until it asks for more, and so long that asking costs nothing. Turns of loops and calls
// take as long as many instructions.
const (
	exactSlice  = 1 << 18
	coarseSlice = 5000
)

// newGuest gives a guest that nobody has begun.
func (b *Backend) newGuest() *guest {
	g := &guest{clock: &clock{}, slice: exactSlice, closed: b.gate.Closed()}
	g.files = guestfs.NewOpenFiles(g.exceeded)
	return g
}

// adopt makes it the guest of a job, with nothing left of an earlier one.
func (g *guest) adopt(ctx context.Context, job backend.Job) {
	g.turn = turn{ctx: ctx, limits: job.Limits, fuel: int64(job.Limits.Fuel), tools: job.Tools(), random: rand.Reader}
	over := func() { g.overflowing = true }
	sink := output.Sink{Limit: int64(job.Limits.Output), OnLimit: job.OnOutputLimit, Kill: over}
	g.stdout, g.stderr = sink, sink
	g.stdout.Live, g.stderr.Live = job.Streams.Out, job.Streams.Err
	g.stdin = strings.NewReader(job.Stdin)
	if job.Streams.In != nil {
		g.stdin = &reader{guest: g, from: job.Streams.In}
	}
	g.memory.refused = false
	g.files.Allow(job.Limits.OpenFiles - standardStreams)
	g.clock.fixed = job.Deterministic()
	if job.Deterministic() {
		g.random = random.NewChaCha8([32]byte{})
	}
}

// begin starts the clocks. Until end it stays on its thread.
func (g *guest) begin() {
	g.started = time.Now()
	g.deadline = g.started.Add(g.limits.WallTime.Std())
	g.cpu.begin()
}

// refill answers a guest that has used up its fuel, and whatever else it has used up.
func (g *guest) refill(left int64) int64 {
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
func (g *guest) check(spent int64) {
	elapsed := time.Since(g.started)
	switch {
	case g.ctx.Err() != nil, g.orphaned():
		g.stop(run.Canceled)
	case elapsed > g.limits.WallTime.Std():
		g.stop(run.TimedOut)
	// One thread cannot use more than passes.
	case elapsed > g.limits.CPUTime.Std() && g.cpu.used(elapsed-g.waited) > g.limits.CPUTime.Std():
		g.stop(run.OutOfCPU)
	case g.fuel >= 0 && spent > g.fuel:
		g.stop(run.OutOfFuel)
	}
}

// orphaned says that the Runner is closed.
func (g *guest) orphaned() bool {
	select {
	case <-g.closed:
		return true
	default:
		return false
	}
}

// abandoned says that the guest was ended because its Runner is closed, which is no end
// of its own.
func (g *guest) abandoned() bool {
	return g.outcome == run.Canceled && g.ctx.Err() == nil && g.orphaned()
}

// stop ends the guest where it is: the panic goes up to whoever called into it, and the
// engine makes an error of it.
func (g *guest) stop(why run.Outcome) {
	if g.outcome == "" {
		g.outcome = why
	}
	panic(sys.NewExitError(1)) //nolint:forbidigo // how a host function of wazero's does not return
}

func (g *guest) overflow() {
	g.trap = "calls are nested too deeply"
	g.stop(run.Trapped)
}

// wait waits for something that is not the guest's work, within its time.
func wait[T any](g *guest, event <-chan T) T {
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
func (g *guest) sleep(d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(min(d, time.Until(g.deadline)+time.Second))
	defer timer.Stop()
	wait(g, timer.C)
}

// exceeded notes that the guest wanted more files, or more in them, than it may have.
func (g *guest) exceeded(limit string) { g.full = limit }

// mostViolations bounds what is kept of a guest that tries and tries.
const mostViolations = 100

// denied notes that the guest tried what the policy does not grant.
func (g *guest) denied(op, path string) {
	for i := range g.violations {
		if v := &g.violations[i]; v.Op == op && v.Detail == path {
			v.Count++
			return
		}
	}
	if len(g.violations) < mostViolations {
		g.violations = append(g.violations, run.Violation{
			Wall: policy.WallWasm, Op: op, Detail: path, Count: 1,
			Hint: "grant the directory with `read:` or `write:` in the policy, or pass the data by arguments or standard input",
		})
	}
}
