package wasm

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/backend/wasm/engine"
	"github.com/cordon-sandbox/cordon/internal/backend/wasm/files"
	"github.com/cordon-sandbox/cordon/internal/backend/wasm/guest"
	"github.com/cordon-sandbox/cordon/internal/backend/wasm/python"
	"github.com/cordon-sandbox/cordon/internal/backend/wasm/rootfs"
	"github.com/cordon-sandbox/cordon/internal/observe"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Backend is the tier under one policy.
type Backend struct {
	options Options
	engine  *engine.Engine
	gate    *backend.Gate
	roots   *rootfs.Roots // for modules
	scripts *rootfs.Roots // for Python, which may change nothing

	interpreter *backend.Lazy[*python.Interpreter]
	plain       *backend.Lazy[*python.Pool] // for scripts without the language rules
	strict      *backend.Lazy[*python.Pool] // for scripts with them

	meter observe.Meter

	sessions backend.Set[*Session]
}

var _ backend.Backend = (*Backend)(nil)

// New opens the files that the policy grants. It compiles nothing yet.
func New(options Options) (*Backend, error) {
	if err := checkPolicy(options.Policy); err != nil {
		return nil, err
	}
	options = options.resolved()
	options.Policy = options.Policy.Resolved()
	roots, err := rootfs.Open(files.GrantsOf(options.Policy))
	if err != nil {
		return nil, run.Wrap(run.Invalid, err)
	}
	scripts, err := rootfs.Open(files.GrantsOf(policy.Policy{Read: options.Policy.Read}))
	if err != nil {
		return nil, errors.Join(run.Wrap(run.Invalid, err), roots.Close())
	}
	b := &Backend{
		options: options, engine: engine.New(engine.Options{Interpreter: options.Interpreter, Cache: options.Cache, Granted: options.Policy.Write}), roots: roots, scripts: scripts,
		gate: backend.NewGate(options.Load),
	}
	p := options.Policy
	b.interpreter = backend.NewLazy(b.openInterpreter)
	b.plain = backend.NewLazy(func(ctx context.Context) (*python.Pool, error) { return b.startPython(ctx, nil, p.Preload) })
	b.strict = backend.NewLazy(func(ctx context.Context) (*python.Pool, error) {
		allowed := p.Allowed(p.ScriptRules())
		return b.startPython(ctx, &allowed, slices.Concat(p.Preload, p.Language.Modules))
	})
	return b, nil
}

// openInterpreter finds and compiles CPython.
func (b *Backend) openInterpreter(ctx context.Context) (*python.Interpreter, error) {
	return python.Open(ctx, python.Options{
		Bundle: b.options.Policy.PythonWasm, Engine: b.engine, Granted: b.scripts, Closed: b.gate.Closed(), Meter: &b.meter,
		MaxMemory: b.options.Policy.Maxima.Memory, RotateAfter: b.options.RotateAfter, Uncounted: b.options.Uncounted,
	})
}

// startPython starts an interpreter for scripts of one kind.
func (b *Backend) startPython(ctx context.Context, rules *policy.Language, preload []string) (*python.Pool, error) {
	i, err := b.interpreter.Get(ctx)
	if err != nil {
		return nil, err
	}
	return python.NewPool(ctx, i, rules, preload, b.options.Idle)
}

// checkPolicy refuses a policy that requires walls of the kernel by name. The walls that are
// required by default restrict system calls, which guests of this tier do not have.
func checkPolicy(p policy.Policy) error {
	var missing []string
	for _, wall := range p.Require {
		if wall != policy.WallLanguage && wall != policy.WallWasm && !slices.Contains(policy.DefaultRequired(), wall) {
			missing = append(missing, string(wall))
		}
	}
	if len(missing) > 0 {
		return run.Errorf(run.Unsupported, "the policy requires %s, and the wasm tier has no walls of the kernel: use tier %q, or another policy",
			strings.Join(missing, ", "), policy.TierProcess)
	}
	return nil
}

// Tier returns policy.TierWasm.
func (b *Backend) Tier() policy.Tier { return policy.TierWasm }

// Enforcement reports the only wall.
func (b *Backend) Enforcement() run.Enforcement {
	return run.Enforcement{
		Tier:               policy.TierWasm,
		Walls:              map[policy.Wall]policy.WallStatus{policy.WallWasm: policy.EnforcedWall(b.engine.Mode() + ", in cordon's own process")},
		ViolationsObserved: true,
	}
}

// Facts are details of the tier on this host, for operators.
type Facts struct {
	// Engine is "compiled" or "interpreted".
	Engine string
	// Cache is the directory of compiled code. NoCache says why there is none.
	Cache   string
	NoCache error
}

// Facts returns the details.
func (b *Backend) Facts() Facts {
	f := Facts{Engine: b.engine.Mode()}
	f.Cache, f.NoCache = b.engine.Usable()
	return f
}

// Open counts the job. Its instance is made or leased by Run.
func (b *Backend) Open(ctx context.Context, _ backend.Job) (backend.Sandbox, error) {
	pass, err := b.gate.Enter(ctx)
	if err != nil {
		return nil, err
	}
	return &sandbox{b, pass}, nil
}

// Stats implements backend.Backend.
func (b *Backend) Stats() observe.Stats {
	s := observe.TierStats{Busy: b.gate.Busy(), Forks: b.meter.Forks.Durations(), Setups: b.meter.Setups.Durations()}
	for _, kind := range []*backend.Lazy[*python.Pool]{b.plain, b.strict} {
		if p, started := kind.Started(); started {
			s.Idle += p.Ready()
		}
	}
	return observe.Stats{policy.TierWasm: s}
}

// Close ends all guests.
func (b *Backend) Close() error {
	b.gate.Close()
	return b.closeAll()
}

// closeAll releases everything. No guest may be running.
func (b *Backend) closeAll() error {
	return errors.Join(b.closeSessions(), b.plain.Close(), b.strict.Close(), b.interpreter.Close(), b.engine.Close(), b.roots.Close(), b.scripts.Close())
}

// sandbox is one job inside.
type sandbox struct {
	backend *Backend
	pass    backend.Pass
}

func (s *sandbox) Run(ctx context.Context, job backend.Job) (run.Result, error) {
	if job.Kind() != policy.GuestModule {
		return s.backend.runScript(ctx, job)
	}
	m, ours := job.Module.Module.(*Module)
	if !ours || m.backend != s.backend {
		return run.Result{}, run.Errorf(run.Invalid, "the module was opened by another Runner")
	}
	return m.run(ctx, job)
}

// runScript runs a script in a new interpreter.
func (b *Backend) runScript(ctx context.Context, job backend.Job) (run.Result, error) {
	p, err := b.poolFor(job.Script.Restricted).Get(ctx)
	if err != nil {
		return run.Result{}, err
	}
	i, err := p.Lease()
	if err != nil {
		return run.Result{}, err
	}
	result, err := b.runIn(ctx, i, b.completed(job))
	result.Enforcement = b.enforcementOf(job)
	return result, errors.Join(err, i.Close())
}

// runIn runs a script with its files.
func (b *Backend) runIn(ctx context.Context, i *python.Instance, job backend.Job) (run.Result, error) {
	if !job.HasFiles() {
		return i.Run(ctx, job, false)
	}
	now := time.Now
	if job.Deterministic() {
		now = guest.Epoch
	}
	i.AllowScratch(job.Limits.Scratch)
	work, err := i.OpenWork(now)
	if err != nil {
		return run.Result{}, err
	}
	if err := work.Give(job.Script, job.Limits.Scratch); err != nil {
		return run.Result{}, errors.Join(err, work.Close())
	}
	result, err := i.Run(ctx, job, false)
	if err == nil {
		work.Collect(job.Script, job.Limits.Scratch, &result)
	}
	return result, errors.Join(err, work.Close())
}

// poolFor returns the pool for scripts with or without the language rules.
func (b *Backend) poolFor(restricted bool) *backend.Lazy[*python.Pool] {
	if restricted {
		return b.strict
	}
	return b.plain
}

// completed returns the job with the settings that the policy has for all jobs.
func (b *Backend) completed(job backend.Job) backend.Job {
	if b.options.Policy.Deterministic {
		job.Script.Deterministic = job.Kind() == policy.GuestScript
		job.Module.Deterministic = job.Kind() == policy.GuestModule
	}
	return job
}

func (b *Backend) enforcementOf(job backend.Job) run.Enforcement {
	e := b.Enforcement()
	if job.Script.Restricted {
		e.Walls[policy.WallLanguage] = policy.EnforcedWall(string(b.options.Policy.ScriptRules()))
	}
	return e
}

func (s *sandbox) Close() error {
	s.pass.Leave()
	return nil
}
