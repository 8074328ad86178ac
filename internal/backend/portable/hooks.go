package portable

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/backend/hook"
	"github.com/cordon-sandbox/cordon/internal/egress"
	"github.com/cordon-sandbox/cordon/internal/launch"
	"github.com/cordon-sandbox/cordon/internal/output"
	"github.com/cordon-sandbox/cordon/internal/report"
	"github.com/cordon-sandbox/cordon/internal/wire"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// OpenHook compiles a hook in a process and keeps it. The limits are those of a call, and
// complete. A script that does not compile or that the rules refuse is a *run.Refusal with
// all findings.
func (b *Scripts) OpenHook(ctx context.Context, h run.HookSpec, limits policy.Limits) (*hook.Hook, error) {
	return b.hooks.Open(ctx, h, b.options.Ahead, func(ctx context.Context, once bool) (hook.Worker, error) {
		return b.startHook(ctx, h, limits, once)
	})
}

// hookWorker is a process that serves the calls of one hook. It reads the calls from
// standard input, so that it has no input of its own.
type hookWorker struct {
	backend     *Scripts
	guest       *guest
	scratch     scratch
	enforcement run.Enforcement // of all its results
	once        bool            // it serves one call
	calls       int
	cpu         time.Duration // what earlier calls used

	stdout, stderr callOutput
	answers        chan answer   // closed when the channel has ended
	closing        chan struct{} // closed by Close
}

// answer is a message of the worker.
type answer struct {
	kind    byte
	payload []byte
	err     error
}

// startHook starts a process that compiles the hook.
func (b *Scripts) startHook(ctx context.Context, h run.HookSpec, limits policy.Limits, once bool) (*hookWorker, error) {
	pass, err := b.gate.Enter(ctx)
	if err != nil {
		return nil, err
	}
	defer pass.Leave()
	job := backend.Job{Limits: limits, OnOutputLimit: b.options.Policy.OnOutputLimit}
	job.Script.Restricted = true
	number := rand.Int64()
	opening, err := b.hookOpening(h, limits, number)
	if err != nil {
		return nil, err
	}
	access, err := b.access()
	if err != nil {
		return nil, err
	}
	access.Proxy = 0 // only scripts have a network
	w := &hookWorker{
		backend: b, once: once, enforcement: b.hookEnforcement(once),
		answers: make(chan answer), closing: make(chan struct{}),
	}
	if w.scratch, err = makeScratch(); err != nil {
		return nil, err
	}
	access.Write = []string{w.scratch.dir}
	order := launch.Order{
		Program: b.python.Path, Args: arguments(b.python.Path), Dir: w.scratch.dir, Access: access, Limits: limits,
		Env: environment(w.scratch.dir, limits),
	}
	order.Limits.CPUTime = hook.Lifetime
	if w.guest, err = start(b.options.Launcher, order, job, true); err != nil {
		return nil, errors.Join(err, w.scratch.remove())
	}
	b.hookSetups.Since(w.guest.began)
	w.serve()
	if err := w.open(ctx, opening, number); err != nil {
		w.Close()
		return nil, err
	}
	return w, nil
}

// hookEnforcement returns the enforcement of all calls of a worker.
func (b *Scripts) hookEnforcement(once bool) run.Enforcement {
	e := b.Enforcement()
	if !once {
		e.Tier = policy.TierHook
	}
	e.Walls[policy.WallLanguage] = policy.EnforcedWall(string(policy.LanguageHook))
	if e.Walls[policy.WallEgress].Enforced() {
		e.Walls[policy.WallEgress] = egress.Words(policy.EgressStrict, nil)
	}
	return e
}

// serve starts to read what the process writes.
func (w *hookWorker) serve() {
	g := w.guest
	g.readers.Go(func() { w.stdout.read(g.stdout) })
	g.readers.Go(func() { w.stderr.read(g.stderr) })
	g.readers.Go(w.listen)
	go func() {
		g.readers.Wait()
		close(g.spoken)
	}()
	go w.watchIdle()
	w.backend.workers.Go(func() {
		<-g.ended
		g.finish()
		<-w.closing
		g.close()
		w.backend.keepError(w.scratch.remove())
	})
}

// watchIdle checks the limits between two calls, too: a guest that escaped from the
// language rules may have left a thread. The CPU time since the last call began counts.
func (w *hookWorker) watchIdle() {
	check := time.NewTicker(idleEvery)
	defer check.Stop()
	for {
		select {
		case <-w.guest.ended:
			return
		case <-check.C:
			w.guest.hold(w.guest.process.Usage())
		}
	}
}

// listen passes on the messages of the worker, one at a time.
func (w *hookWorker) listen() {
	defer close(w.answers)
	g := w.guest
	if !g.hello() {
		return
	}
	for {
		var a answer
		a.kind, a.payload, a.err = wire.ReadFrame(g.messages, nil, wire.MaxReport(g.job.Limits))
		if ended(a.err) {
			return
		}
		select {
		case w.answers <- a:
		case <-w.closing:
			return
		}
		if a.err != nil {
			return
		}
	}
}

// open makes the worker compile the hook, within the limits of a call.
func (w *hookWorker) open(ctx context.Context, opening []byte, number int64) error {
	e, err := w.exchange(ctx, opening, number)
	if err != nil {
		return err
	}
	switch result, _ := judge(e.evidence); result.Outcome {
	case run.Succeeded:
		if e.Report == nil {
			return run.Errorf(run.Internal, "the hook cannot be opened: its process ended")
		}
		return nil
	case run.Refused:
		findings, err := report.Findings(e.Report)
		if err != nil {
			return err
		}
		return run.Wrap(run.Invalid, &run.Refusal{Findings: findings})
	case run.Canceled:
		return ctx.Err()
	default:
		return run.Errorf(run.Invalid, "the hook cannot be opened: %s", result.Error)
	}
}

// Call calls the hook.
func (w *hookWorker) Call(ctx context.Context, call hook.Call) (run.Result, bool, error) {
	pass, err := w.backend.gate.Enter(ctx)
	if err != nil {
		return run.Result{}, true, err
	}
	defer pass.Leave()
	w.backend.calling.Add(1)
	defer w.backend.calling.Add(-1)
	number := rand.Int64()
	var function any
	if call.Function != "" {
		function = call.Function
	}
	fields := []wire.Field{{Name: "number", Value: number}, {Name: "function", Value: function}}
	frame, err := wire.AppendListFrame(nil, wire.KindCall, append(fields, call.Arguments...)...)
	if err != nil {
		return run.Result{}, true, run.Errorf(run.Invalid, "%w", err)
	}
	w.calls++
	e, err := w.exchange(ctx, frame, number)
	if err != nil {
		return run.Result{}, false, err
	}
	if e.Report != nil {
		// An answer with another number was written by a guest, perhaps during an
		// earlier call, which could not know the number of this one.
		if answered, err := e.Report.Get("number").Int(); err != nil || answered != number {
			e.Report, e.Malformed = nil, errors.New("an answer with the number of another call")
		}
	}
	result, _ := judge(e.evidence)
	result.Enforcement = w.enforcement
	return result, w.reusable(result, e), nil
}

// reusable reports whether the worker can serve another call: it answered within its
// limits, and nothing of the call is left in it.
func (w *hookWorker) reusable(result run.Result, e ending) bool {
	answered := e.Report != nil && e.Killed == "" && result.Outcome != run.OutOfMemory
	return answered && e.quiet && !e.last && !w.once && w.calls < hook.MaxCalls
}

// ending is the end of one exchange.
type ending struct {
	evidence
	last  bool // the worker says that it can serve no other call
	quiet bool // all output of the call was read
}

// exchange sends a message and waits for the answer, or for the end of the process.
func (w *hookWorker) exchange(ctx context.Context, message []byte, number int64) (e ending, err error) {
	g := w.guest
	if w.hasEnded() && g.isReady() {
		return e, backend.ErrNotStarted
	}
	mark := binary.LittleEndian.AppendUint64(nil, uint64(number))
	stdout, stderr := output.Sinks(g.job.Limits, g.job.OnOutputLimit, run.Streams{}, func() { g.kill(killedOutput) })
	w.stdout.begin(stdout, mark)
	w.stderr.begin(stderr, mark)
	sent := make(chan int, 1)
	go func() {
		n, _ := g.stdin.Write(message)
		sent <- n
	}()
	var got answer
	var answered bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		if got, answered = <-w.answers; !answered {
			<-w.guest.ended // its end says more
		}
	}()
	g.began = time.Now()
	g.cpu.Store(int64(w.cpu))
	seen := g.watch(ctx, done, watch{scratch: w.scratch, closed: w.backend.gate.Closed()})
	wallTime := time.Since(g.began)
	e.quiet = w.stdout.wait(markTime) && w.stderr.wait(markTime)
	switch {
	case answered:
	case g.reason() == killedCanceled && ctx.Err() == nil:
		return e, backend.ErrClosed()
	case w.guest.failed != nil:
		return e, run.Errorf(run.Internal, "the end of the guest: %w", w.guest.failed)
	case !g.isReady() && g.reason() != killedCanceled:
		return e, g.notReady()
	case <-sent == 0 && g.reason() != killedCanceled:
		return e, backend.ErrNotStarted // it had ended before
	}
	now := w.usage()
	now.CPUTime, now.Memory = max(now.CPUTime, seen.CPUTime), max(now.Memory, seen.Memory)
	e.evidence = evidence{
		Killed: g.reason(), Limits: g.job.Limits, Restricted: true, Stdout: w.stdout.end(), Stderr: w.stderr.end(),
		WallTime: wallTime, CPUTime: now.CPUTime - time.Duration(g.cpu.Load()), Memory: now.Memory,
	}
	w.cpu = now.CPUTime
	if !answered {
		e.Exit = w.guest.exit
		return e, nil
	}
	switch e.last = got.kind == wire.KindLast; {
	case got.err != nil:
		e.Malformed = got.err
	case got.kind != wire.KindDone && got.kind != wire.KindLast:
		e.Malformed = fmt.Errorf("a frame of kind %q", got.kind)
	default:
		e.Report, e.Malformed = wire.DecodeDict(got.payload)
	}
	return e, nil
}

func (w *hookWorker) hasEnded() bool {
	select {
	case <-w.guest.ended:
		return true
	default:
		return false
	}
}

// usage returns what the process has used since its start.
func (w *hookWorker) usage() launch.Usage {
	if w.hasEnded() {
		return w.guest.exit.Usage
	}
	return w.guest.process.Usage()
}

// Close kills the process. What it leaves is removed before the backend is closed.
func (w *hookWorker) Close() {
	w.guest.kill(killedDone)
	close(w.closing)
}

// hookOpening is what the process of a hook reads first.
func (b *Scripts) hookOpening(h run.HookSpec, limits policy.Limits, number int64) ([]byte, error) {
	opening, err := b.preparation(policy.LanguageHook, true, limits)
	if err != nil {
		return nil, err
	}
	opening, err = wire.AppendListFrame(opening, wire.KindHook,
		wire.Field{Name: "number", Value: number},
		wire.Field{Name: "script", Value: h.Script},
		wire.Field{Name: "name", Value: cmp.Or(h.Name, "<hook>")},
		wire.Field{Name: "most", Value: wire.MaxReport(limits)})
	if err != nil {
		return nil, run.Errorf(run.Invalid, "%w", err)
	}
	return opening, nil
}
