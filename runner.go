package cordon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"sync"

	"github.com/cordon-sandbox/cordon/internal/admission"
	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/interpreter"
	"github.com/cordon-sandbox/cordon/internal/observe"
	"github.com/cordon-sandbox/cordon/internal/pythonwasm"
	"github.com/cordon-sandbox/cordon/internal/tiers"
	"github.com/cordon-sandbox/cordon/internal/workdir"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Options configure a Runner. The zero value is the strict default.
type Options struct {
	// Policy says what guests may do.
	Policy policy.Policy
	// Idle is how many workers wait for a request; 0 means 8. Each takes about
	// 3 MiB.
	Idle int
	// Concurrent bounds what is under way, of all tiers together: scripts, commands,
	// modules, calls of hooks, steps of sessions. What is made ahead of requests is not
	// counted. 0 means 64.
	Concurrent int
	// Queue bounds the requests that wait for their turn; 0 means 4096. Above
	// it Run answers run.ErrBusy at once.
	Queue int
	// Workspaces are directories that commands may write, in addition to the
	// policy's grants. An interpreter in one of them is used only if the policy
	// names it, because a guest could have written it.
	Workspaces []string
	// OneShot declares that Run will be called only once. The start is faster, and
	// nothing is kept ready for a second run.
	OneShot bool
	// Tier starts with the Runner; empty means TierProcess, for scripts. Other tiers
	// start with the first request for them.
	Tier policy.Tier
	// Language is the preset that the first run is expected to use, whose workers
	// start ahead; empty means none. The Runner serves every preset in any case.
	Language policy.LanguagePreset
}

const (
	defaultConcurrent = 64
	defaultQueue      = 4096
)

// line is the queue of all tiers.
func (o Options) line() *admission.Line {
	concurrent, queue := o.Concurrent, o.Queue
	if concurrent <= 0 {
		concurrent = defaultConcurrent
	}
	if o.OneShot {
		concurrent = 1
	}
	if queue <= 0 {
		queue = defaultQueue
	}
	return admission.NewLine(admission.Options{Concurrent: concurrent, Queue: queue})
}

// Runner runs guests. It owns fork servers and pools of workers, is safe for
// concurrent use, and must be closed. Several Runners can live in one process.
type Runner struct {
	policy policy.Policy
	line   *admission.Line // every request enters it once, when it is known to be valid

	// tiers are started with the Runner, or by the first request for them.
	tiers map[policy.Tier]*backend.Lazy[backend.Backend]
	first backend.Backend // what was started with the Runner

	closing sync.Once
	err     error
}

// registered are the tiers of this build.
var registered = tiers.All()

// NewRunner checks the policy and starts the first tier. If this host lacks something
// that the policy requires, the error is run.ErrUnsupported, before anything runs.
func NewRunner(options Options) (*Runner, error) {
	return NewRunnerContext(context.Background(), options)
}

// NewRunnerContext is NewRunner with a context that bounds the start.
func NewRunnerContext(ctx context.Context, options Options) (*Runner, error) {
	if err := options.Policy.Validate(); err != nil {
		return nil, run.Errorf(run.Invalid, "policy: %w", err)
	}
	if _, err := policy.ParseLanguagePreset(string(options.Language)); err != nil {
		return nil, run.Wrap(run.Invalid, err)
	}
	r := &Runner{policy: options.Policy.Resolved(), line: options.line(), tiers: map[policy.Tier]*backend.Lazy[backend.Backend]{}}
	start := backend.Options{
		Policy: options.Policy, Idle: options.Idle, Load: &backend.Load{},
		OneShot: options.OneShot, Language: options.Language, Workspaces: options.Workspaces,
	}
	if options.OneShot {
		start.Policy.Preload = backend.ChosenPreload(options.Policy)
	}
	for _, t := range registered {
		if t.Start != nil {
			r.tiers[t.Name] = backend.NewLazy(func(ctx context.Context) (backend.Backend, error) { return t.Start(ctx, start) })
		}
	}
	first := cmp.Or(options.Tier, policy.TierProcess)
	if r.tiers[first] == nil {
		return nil, run.Errorf(run.Invalid, "tier %q cannot be started with a Runner", first)
	}
	var err error
	if r.first, err = r.backend(ctx, first); err != nil {
		return nil, err
	}
	return r, nil
}

// backend gives the backend of a tier, which the first call starts.
func (r *Runner) backend(ctx context.Context, tier policy.Tier) (backend.Backend, error) {
	lazy := r.tiers[tier]
	if lazy == nil {
		return nil, run.Errorf(run.Unsupported, "tier %q is not in this build", tier)
	}
	return lazy.Get(ctx)
}

// offering returns the tier that has a feature, as the interface of that feature.
func offering[T any](ctx context.Context, r *Runner, f backend.Feature) (offer T, err error) {
	b, err := r.backend(ctx, registered.Offering(f))
	if err != nil {
		return offer, err
	}
	offer, ok := b.(T)
	if !ok {
		return offer, run.Errorf(run.Unsupported, "tier %q has no %s on this system", b.Tier(), f)
	}
	return offer, nil
}

// Run runs one request. Whatever the guest does gives a Result. An error means that
// the request is wrong, that the host cannot run it, or that cordon failed.
func (r *Runner) Run(ctx context.Context, req run.Request) (run.Result, error) {
	chosen, job, err := r.admit(req)
	if err != nil {
		return run.Result{}, err
	}
	turn, err := r.line.Enter(ctx, nil)
	if err != nil {
		return run.Result{}, err
	}
	defer turn.Leave()
	b, err := r.backend(ctx, chosen.Tier)
	if err != nil {
		return run.Result{}, err
	}
	// A worker can die while it waits. Its guest had not started, so another one
	// may have it.
	result, err := backend.UntilStarted(ctx, func() (run.Result, error) { return r.attempt(ctx, b, job) })
	result.ID = req.ID
	result.Enforcement.ThirdParty = chosen.ThirdParty
	return withCause(ctx, result), err
}

// withCause adds to the Result of a canceled guest why its caller's context ended.
func withCause(ctx context.Context, result run.Result) run.Result {
	if result.Outcome == run.Canceled && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		result.Error = "the caller's deadline passed before the run had ended"
	}
	return result
}

// admit checks a request against the policy.
func (r *Runner) admit(req run.Request) (backend.Choice, backend.Job, error) {
	if err := req.Validate(); err != nil {
		return backend.Choice{}, backend.Job{}, err
	}
	if req.Tier == policy.TierHook {
		return backend.Choice{}, backend.Job{}, run.Errorf(run.Invalid, "a script is run, a hook is opened and called: leave the tier out, or use OpenHook (cordon hook)")
	}
	chosen, err := r.selectTier(&req)
	if err != nil {
		return backend.Choice{}, backend.Job{}, err
	}
	if err := offered(chosen.Tier, req); err != nil {
		return backend.Choice{}, backend.Job{}, err
	}
	limits := r.policy.Limits
	if req.Limits != (policy.Limits{}) {
		if limits, err = r.policy.Narrow(req.Limits); err != nil {
			return backend.Choice{}, backend.Job{}, run.Wrap(run.Invalid, err)
		}
	}
	if limits, err = r.roomForFiles(req, limits); err != nil {
		return backend.Choice{}, backend.Job{}, err
	}
	job := backend.Job{Request: req, Limits: limits}
	if m, ours := req.Module.Module.(*Module); ours {
		job.Module.Module = m.module
	}
	job.OnOutputLimit = cmp.Or(req.OnOutputLimit, r.policy.OnOutputLimit)
	if job.OnOutputLimit == "" && req.Kind() == policy.GuestCommand {
		job.OnOutputLimit = policy.OutputKill
	}
	return chosen, job, nil
}

// roomForFiles enlarges the scratch space for the files of a request, unless the request says how
// large it is. They may take half of the usual one.
func (r *Runner) roomForFiles(req run.Request, limits policy.Limits) (policy.Limits, error) {
	size, err := workdir.Size(req.Script.Files)
	if err != nil {
		return limits, err
	}
	if req.Limits.Scratch == 0 && size > limits.Scratch/2 {
		limits.Scratch = min(r.policy.Maxima.Scratch, limits.Scratch+(size+policy.MiB-1)/policy.MiB*policy.MiB)
	}
	if size > limits.Scratch {
		return limits, run.Wrap(run.Invalid, &policy.FieldError{Field: "files",
			Err: fmt.Errorf("they have %v, and the scratch space is %v: ask for a larger limits.scratch, up to %v", size, limits.Scratch, r.policy.Maxima.Scratch)})
	}
	return limits, nil
}

// offered refuses features that only other tiers have.
func offered(tier policy.Tier, req run.Request) error {
	for _, need := range []struct {
		feature backend.Feature
		asked   bool
	}{{backend.Tools, len(req.Script.Tools) > 0}, {backend.Determinism, req.Script.Deterministic}} {
		if need.asked && !registered.Offers(tier, need.feature) {
			return run.Errorf(run.Unsupported, "deterministic and tools are for tier %q, and this is %q", registered.Offering(need.feature), tier)
		}
	}
	switch {
	case !backend.Job{Request: req}.HasFiles():
		return nil
	case !registered.Offers(tier, backend.Files):
		return run.Errorf(run.Unsupported, "files and artifacts are for tier %q, and this is %q", registered.Offering(backend.Files), tier)
	case req.Script.Restricted:
		return run.Errorf(run.Invalid, "the language rules let no script read or write files: leave out either restricted or files and artifacts")
	}
	return nil
}

func (r *Runner) selectTier(req *run.Request) (backend.Choice, error) {
	kind := req.Kind()
	if kind == policy.GuestScript {
		req.Script.Restricted = req.Script.Restricted || r.policy.Restricts()
	}
	return r.choose(kind, req.Tier, req.Trust)
}

// choose asks which tier runs a guest on this system.
func (r *Runner) choose(kind policy.Guest, tier policy.Tier, trust policy.Trust) (backend.Choice, error) {
	return registered.Select(backend.Ask{System: runtime.GOOS, Policy: r.policy, Guest: kind, Tier: tier, Trust: trust})
}

func (r *Runner) attempt(ctx context.Context, b backend.Backend, job backend.Job) (run.Result, error) {
	inside, end := observe.Begin(ctx, observe.Lease)
	sandbox, err := b.Open(inside, job)
	end(err)
	if err != nil {
		return run.Result{}, err
	}
	inside, end = observe.Begin(ctx, observe.Guest)
	result, err := sandbox.Run(inside, job)
	end(err)
	return result, errors.Join(err, sandbox.Close())
}

// Check applies the language rules to a script without running it. It returns all
// findings, none for a script that may run restricted.
func (r *Runner) Check(ctx context.Context, c run.Check) ([]run.Finding, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	turn, err := r.line.Enter(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer turn.Leave()
	checks, err := offering[interface {
		Check(ctx context.Context, c run.Check) ([]run.Finding, error)
	}](ctx, r, backend.Checks)
	if err != nil {
		return nil, err
	}
	return backend.UntilStarted(ctx, func() ([]run.Finding, error) { return checks.Check(ctx, c) })
}

// Tiers lists the tiers that a Request may name. It does not tell whether OpenHook
// works.
func (r *Runner) Tiers() []policy.Tier {
	return registered.Here()
}

// Enforcement reports the walls of the tier that started with the Runner. Each Result
// has the walls of its own run.
func (r *Runner) Enforcement() run.Enforcement { return r.first.Enforcement() }

// Abilities describes what this Runner can offer on this host.
func (r *Runner) Abilities() run.Abilities {
	var a run.Abilities
	for _, b := range r.started() {
		if python, ok := b.(interface {
			Interpreter() interpreter.Interpreter
		}); ok {
			found := python.Interpreter()
			a.Python = fmt.Sprintf("%d.%d", found.Version[0], found.Version[1])
			a.Packages = found.Installed()
		}
	}
	_, err := pythonwasm.Find(r.policy.PythonWasm)
	a.WasmScripts = err == nil
	return a
}

// Stats returns metrics of the Runner's sandboxes and of how long they took to start.
// It is cheap to call.
func (r *Runner) Stats() run.Stats {
	all := run.Stats{}
	for _, b := range r.started() {
		if counted, ok := b.(interface{ Stats() run.Stats }); ok {
			maps.Copy(all, counted.Stats())
		}
	}
	return all
}

// started returns the tiers that were started, in the order of registration.
func (r *Runner) started() (backends []backend.Backend) {
	for _, name := range registered.Started() {
		if b, started := r.tiers[name].Started(); started {
			backends = append(backends, b)
		}
	}
	return backends
}

// Close ends every guest and returns after all of their resources are released.
func (r *Runner) Close() error {
	r.closing.Do(func() {
		r.line.Close(backend.ErrClosed())
		for _, name := range registered.Started() {
			r.err = errors.Join(r.err, r.tiers[name].Close())
		}
	})
	return r.err
}
