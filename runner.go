package cordon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/backend/jail"
	"github.com/cordon-sandbox/cordon/internal/backend/process"
	"github.com/cordon-sandbox/cordon/internal/backend/wasm"
	"github.com/cordon-sandbox/cordon/internal/observe"
	"github.com/cordon-sandbox/cordon/internal/pythonwasm"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Options configure a Runner. The zero value is the strict default.
type Options struct {
	// Policy says what guests may do.
	Policy policy.Policy
	// Idle is how many workers wait for a request; 0 means 8. Each costs
	// about 3 MiB.
	Idle int
	// Concurrent bounds what is under way, of all tiers together: scripts, commands,
	// modules, calls of hooks, steps of sessions. 0 means 64.
	Concurrent int
	// Queue bounds the requests that wait for their turn; 0 means 4096. Above
	// it Run answers run.ErrBusy at once.
	Queue int
	// Workspaces are directories that commands will be given to write, beside
	// the policy's grants. No interpreter that lies there is used unless the
	// policy names it.
	Workspaces []string
	// OneShot says that Run will be called once. The start is quicker then,
	// and nothing is kept ready for a second run.
	OneShot bool
	// Tier is started with the Runner; empty means TierProcess, for scripts. Others
	// are started by the first request for them.
	Tier policy.Tier
	// Language says by which language rules the first run will go, so that its
	// workers are started ahead; empty means none. All are served, whatever it
	// says.
	Language policy.LanguagePreset
}

const (
	defaultConcurrent = 64
	defaultQueue      = 4096
)

// turns are what all tiers share.
func (o Options) turns() *backend.Turns {
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
	return backend.NewTurns(concurrent, queue)
}

// Runner runs guests. It owns fork servers and pools of workers, is safe for
// concurrent use, and must be closed. Several Runners can live in one process.
type Runner struct {
	policy policy.Policy

	// One for each tier: started with the Runner, or by the first request for it. Others
	// go on meanwhile.
	process *backend.Lazy[*process.Backend]
	jail    *backend.Lazy[*jail.Backend]
	wasm    *backend.Lazy[*wasm.Backend]
	first   backend.Backend // what was started with the Runner

	closing sync.Once
	err     error
}

// What serves scripts, commands and modules.
var (
	scriptTiers  = []policy.Tier{policy.TierProcess, policy.TierWasm}
	commandTiers = []policy.Tier{policy.TierJail}
	moduleTiers  = []policy.Tier{policy.TierWasm}
)

// NewRunner checks the policy and puts up the walls. What the policy requires
// and this host cannot give is run.ErrUnsupported, before anything runs.
func NewRunner(options Options) (*Runner, error) {
	return NewRunnerContext(context.Background(), options)
}

// NewRunnerContext is NewRunner with a bound on how long the start may take.
func NewRunnerContext(ctx context.Context, options Options) (*Runner, error) {
	if err := options.Policy.Validate(); err != nil {
		return nil, run.Errorf(run.Invalid, "policy: %w", err)
	}
	r := &Runner{policy: options.Policy.Resolved()}
	turns := options.turns()
	r.process = backend.NewLazy(func(ctx context.Context) (*process.Backend, error) {
		return process.New(ctx, process.Options{
			Policy: options.Policy, Idle: options.Idle, Turns: turns,
			OneShot: options.OneShot, Language: options.Language, Workspaces: options.Workspaces,
		})
	})
	r.jail = backend.NewLazy(func(context.Context) (*jail.Backend, error) {
		return jail.New(jail.Options{
			Policy: options.Policy, Turns: turns, OneShot: options.OneShot,
		})
	})
	r.wasm = backend.NewLazy(func(context.Context) (*wasm.Backend, error) {
		return wasm.New(wasm.Options{
			Policy: options.Policy, Idle: options.Idle, Turns: turns, OneShot: options.OneShot,
		})
	})
	first := cmp.Or(options.Tier, policy.TierProcess)
	if !slices.Contains(r.Tiers(), first) {
		return nil, run.Errorf(run.Invalid, "tier %q cannot be started with a Runner", first)
	}
	var err error
	if r.first, err = r.backend(ctx, first); err != nil {
		return nil, err
	}
	return r, nil
}

// backend gives what implements a tier, started if nobody has asked before.
func (r *Runner) backend(ctx context.Context, tier policy.Tier) (backend.Backend, error) {
	switch tier {
	case policy.TierJail:
		return r.jail.Get(ctx)
	case policy.TierWasm:
		return r.wasm.Get(ctx)
	}
	return r.process.Get(ctx)
}

// Run runs one request. Whatever the guest does is a Result; an error means
// that the request is wrong, that the host cannot run it, or that cordon
// failed.
func (r *Runner) Run(ctx context.Context, req run.Request) (run.Result, error) {
	tier, job, err := r.admit(req)
	if err != nil {
		return run.Result{}, err
	}
	b, err := r.backend(ctx, tier)
	if err != nil {
		return run.Result{}, err
	}
	// A worker can die while it waits. Its guest had not started, so another one
	// may have it.
	result, err := backend.UntilStarted(ctx, func() (run.Result, error) { return r.attempt(ctx, b, job) })
	result.ID = req.ID
	return withCause(ctx, result), err
}

// withCause says of a guest that was ended with its caller's context why that was over.
func withCause(ctx context.Context, result run.Result) run.Result {
	if result.Outcome == run.Canceled && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		result.Error = "the caller's deadline passed before the run had ended"
	}
	return result
}

// admit checks a request against the policy.
func (r *Runner) admit(req run.Request) (policy.Tier, backend.Job, error) {
	if err := req.Validate(); err != nil {
		return "", backend.Job{}, err
	}
	if req.Tier == policy.TierHook {
		return "", backend.Job{}, run.Errorf(run.Invalid, "a script is run, a hook is opened and called: leave the tier out, or use OpenHook (cordon hook)")
	}
	tier, err := r.selectTier(&req)
	if err != nil {
		return "", backend.Job{}, err
	}
	if tier != policy.TierWasm && req.Kind() == run.KindScript && (req.Script.Deterministic || len(req.Script.Tools) > 0) {
		return "", backend.Job{}, run.Errorf(run.Unsupported, "deterministic and tools are for tier %q, and this is %q", policy.TierWasm, tier)
	}
	limits := r.policy.Limits
	if req.Limits != (policy.Limits{}) {
		if limits, err = r.policy.Narrow(req.Limits); err != nil {
			return "", backend.Job{}, run.Wrap(run.Invalid, err)
		}
	}
	job := backend.Job{Request: req, Limits: limits}
	job.OnOutputLimit = cmp.Or(req.OnOutputLimit, r.policy.OnOutputLimit)
	if job.OnOutputLimit == "" && req.Kind() == run.KindCommand {
		job.OnOutputLimit = policy.OutputKill
	}
	return tier, job, nil
}

func (r *Runner) selectTier(req *run.Request) (policy.Tier, error) {
	command, module := req.Kind() == run.KindCommand, req.Kind() == run.KindModule
	if err := backend.RefuseStrangers(runtime.GOOS, r.policy, req.Trust); err != nil {
		return "", err
	}
	switch {
	case (command || module) && r.policy.Restricts():
		return "", run.Errorf(run.Invalid, "the policy requires the language rules of all code, and only a script can go by them")
	case command:
		return backend.SelectCommand(r.policy, req.Tier, req.Trust, commandTiers)
	case module:
		return backend.SelectModule(r.policy, req.Tier, req.Trust, moduleTiers)
	}
	req.Script.Restricted = req.Script.Restricted || r.policy.Restricts()
	if strange := req.Trust == policy.TrustThirdParty || r.policy.Trust == policy.TrustThirdParty; strange && slices.Contains([]policy.Tier{"", policy.TierJail}, req.Tier) {
		return "", run.Errorf(run.Unsupported, "third-party code cannot be a script: it needs a jail, which runs commands. "+
			"Run it as a command, with Python as the program (cordon exec --allow-interpreters -- python3 FILE), or trust it as a user's, if it is")
	}
	return backend.Select(r.policy, req.Tier, req.Trust, scriptTiers)
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

// Check has the language rules judge a script, without running it: the findings
// are all there are, none for a script that may run restricted.
func (r *Runner) Check(ctx context.Context, c run.Check) ([]run.Finding, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	b, err := r.process.Get(ctx)
	if err != nil {
		return nil, err
	}
	return backend.UntilStarted(ctx, func() ([]run.Finding, error) { return b.Check(ctx, c) })
}

// Tiers lists the tiers that this Runner has for requests. Hooks are opened,
// whatever it says.
func (r *Runner) Tiers() []policy.Tier {
	return []policy.Tier{policy.TierProcess, policy.TierWasm, policy.TierJail}
}

// Enforcement says which walls stand between this host and the guests of the tier
// that was started with the Runner. Each Result has that of its own.
func (r *Runner) Enforcement() run.Enforcement { return r.first.Enforcement() }

// Abilities are what this Runner really has on this host.
func (r *Runner) Abilities() observe.Abilities {
	var a observe.Abilities
	if b, started := r.process.Started(); started {
		python := b.Interpreter()
		a.Python = fmt.Sprintf("%d.%d", python.Version[0], python.Version[1])
		a.Packages = python.Installed()
	}
	_, err := pythonwasm.Find(r.policy.PythonWasm)
	a.WasmScripts = err == nil
	return a
}

// Stats returns statistics about what this Runner keeps ready and how long that took.
// Reading them is cheap.
func (r *Runner) Stats() observe.Stats {
	all := observe.Stats{}
	if b, started := r.process.Started(); started {
		maps.Copy(all, b.Stats())
	}
	if b, started := r.jail.Started(); started {
		maps.Copy(all, b.Stats())
	}
	if b, started := r.wasm.Started(); started {
		maps.Copy(all, b.Stats())
	}
	return all
}

// Close ends every guest, and returns when nothing is left of them.
func (r *Runner) Close() error {
	r.closing.Do(func() { r.err = errors.Join(r.process.Close(), r.jail.Close(), r.wasm.Close()) })
	return r.err
}
