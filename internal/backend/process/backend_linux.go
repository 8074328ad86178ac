package process

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/backend/hook"
	"github.com/cordon-sandbox/cordon/internal/cgroup"
	"github.com/cordon-sandbox/cordon/internal/confine"
	"github.com/cordon-sandbox/cordon/internal/egress"
	"github.com/cordon-sandbox/cordon/internal/hostfeature"
	"github.com/cordon-sandbox/cordon/internal/hostpath"
	"github.com/cordon-sandbox/cordon/internal/interpreter"
	"github.com/cordon-sandbox/cordon/internal/observe"
	"github.com/cordon-sandbox/cordon/internal/report"
	"github.com/cordon-sandbox/cordon/internal/zygote"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Backend is the tier under one policy.
type Backend struct {
	options Options
	python  interpreter.Interpreter
	files   []interpreter.Mount // that it needs
	plan    confine.Plan
	groups  *cgroup.Opening
	cpus    zygote.CPUs
	grants  []policy.NetGrant
	// moduleGrants are the destinations of modules, by the name of their rule.
	moduleGrants map[string][]policy.NetGrant

	// kinds are the workers for each preset of language rules. The empty preset is for
	// scripts without rules, and imports the policy's modules.
	kinds map[policy.LanguagePreset]*kind
	// lazy are also for scripts without rules, by what these import.
	lazy     map[need]*lazyPool
	starting sync.WaitGroup
	gate     *backend.Gate

	hooks   hook.Set
	calling atomic.Int32 // running calls of hooks
	ahead   *hook.Ahead  // bounds the workers that are opened ahead of calls

	sessions backend.Set[*session]

	scripts, calls observe.Meter // of the tiers process and hook
}

// workers supplies the workers of runs.
type workers interface {
	// take returns a worker with a scratch space of this size. Its other limits come with
	// the guest.
	take(ctx context.Context, scratch policy.Bytes) (*member, error)
	// waiting returns the number of idle workers.
	waiting() int
	// stopAll kills every worker; clear then frees the idle ones.
	stopAll()
	clear()
}

var _ backend.Backend = (*Backend)(nil)

// New finds the interpreter, plans the walls, and starts the first worker. A
// required wall that this host cannot provide is an error here, before anything runs.
func New(ctx context.Context, options Options) (*Backend, error) {
	b := &Backend{options: options.resolved()}
	b.kinds = map[policy.LanguagePreset]*kind{}
	for _, preset := range append([]policy.LanguagePreset{noRules}, policy.LanguagePresets()...) {
		b.kinds[preset] = &kind{recipe: b.recipeFor(preset, b.options.Policy.Preload)}
	}
	b.makeLazy()
	b.ahead = b.options.ahead()
	b.gate = backend.NewGate(b.options.Load)
	var err error
	if b.grants, err = b.options.Policy.NetGrants(); err != nil {
		return nil, run.Wrap(run.Invalid, err)
	}
	if b.moduleGrants, err = moduleGrants(b.options.Policy.ModuleRules); err != nil {
		return nil, run.Wrap(run.Invalid, err)
	}
	// This runs while the interpreter is found and started.
	// The first worker needs a group, and its caller waits.
	ahead := &cgroup.Limits{Memory: groupLimit(b.options.Policy.Limits)}
	b.groups = cgroup.Begin(!slices.Contains(b.options.Without, policy.WallCgroup), ahead)
	features := hostfeature.Quick()
	if newest := b.options.LandlockABI; newest > 0 {
		features.LandlockABI = min(features.LandlockABI, newest)
	}
	if err = b.probeHost(&features); err == nil {
		err = b.fit(features, func() error { return b.open(ctx) })
	}
	if err != nil {
		return nil, errors.Join(err, b.groups.Close())
	}
	return b, nil
}

// open starts the first worker, of the kind that will be used first.
func (b *Backend) open(ctx context.Context) error {
	_, err := b.workersFor(ctx, b.options.Language)
	return err
}

// groupPool waits until the cgroups are open. It returns nil if they are not used.
func (b *Backend) groupPool() (*cgroup.Pool, error) {
	pool, err := b.groups.Pool()
	if err != nil {
		return nil, run.Errorf(run.Internal, "cgroup: %w", err)
	}
	return pool, nil
}

// probeHost finds the interpreter and its files, and probes the features of the host.
func (b *Backend) probeHost(f *hostfeature.Features) (err error) {
	if b.python, err = interpreter.Find(interpreter.Search{Python: b.options.Policy.Python, Guests: b.options.guests()}); err != nil {
		return err
	}
	if b.files, err = b.python.Mounts(); err != nil {
		return err
	}
	f.Cgroup = hostfeature.Yes("memory by what is really used")
	if found := b.groups.Features(); !found.Usable() {
		f.Cgroup = hostfeature.No(found.Reason, found.Remedy)
	}
	if err := f.Grant(b.readable()); err != nil {
		return run.Wrap(run.Invalid, err)
	}
	return nil
}

// fit plans with everything that the host seems to support. If the host then refuses a
// feature, it plans again without it; the policy decides whether that is enough.
func (b *Backend) fit(f hostfeature.Features, start func() error) (err error) {
	for {
		if b.plan, err = b.makePlan(f); err != nil {
			return err
		}
		err = start()
		var setup *confine.SetupError
		if !errors.As(err, &setup) {
			return err
		}
		narrower, possible := confine.Narrower(f, setup)
		if !possible {
			return err
		}
		f = narrower
	}
}

func (b *Backend) makePlan(f hostfeature.Features) (confine.Plan, error) {
	granted := b.options.Policy
	granted.Read = b.readable()
	return confine.Make(confine.Inputs{Policy: granted, Features: f, Files: Files(b.files, b.options.guests()), Without: b.options.Without})
}

// Files returns the mounts for the files of an interpreter.
func Files(mounts []interpreter.Mount, guests hostpath.Guests) (files []confine.Mount) {
	for _, m := range mounts {
		kind := map[interpreter.MountKind]confine.MountKind{
			interpreter.Dir: confine.BindDir, interpreter.File: confine.BindFile, interpreter.Symlink: confine.Symlink,
		}[m.Kind]
		// Where guests may write, they can replace a directory by a symlink before it
		// is mounted.
		_, exact := guests.Hold(m.Path, nil)
		files = append(files, confine.Mount{Path: m.Path, Kind: kind, Target: m.Target, Exact: exact && kind != confine.Symlink})
	}
	return files
}

// recipe is what all workers of a pool share.
type recipe struct {
	preload  []string
	optional []string         // modules that are preloaded if the interpreter has them
	language *zygote.Language // nil for scripts without language rules
	scratch  policy.Bytes     // of waiting workers
	idle     int              // the number of waiting workers
	meter    *observe.Meter   // of the tier
}

func (b *Backend) startZygote(ctx context.Context, r recipe) (*zygote.Zygote, error) {
	began := time.Now()
	z, err := zygote.Start(ctx, b.config(r))
	if err != nil {
		return nil, b.explain(ctx, err)
	}
	r.meter.Setups.Since(began)
	return z, nil
}

func (b *Backend) config(r recipe) zygote.Config {
	return zygote.Config{Plan: b.plan, Interpreter: b.python, Preload: r.preload, Optional: r.optional, Language: r.language, Modules: b.moduleRules(), Env: b.networkEnvironment(), CPUs: &b.cpus, Untuned: b.options.Untuned}
}

// Tier is `process`.
func (b *Backend) Tier() policy.Tier { return policy.TierProcess }

// Plan returns the plan of the walls.
func (b *Backend) Plan() confine.Plan { return b.plan }

// Interpreter returns the interpreter of the guests.
func (b *Backend) Interpreter() interpreter.Interpreter { return b.python }

// Enforcement reports the walls of the plan; every worker was checked against it.
func (b *Backend) Enforcement() run.Enforcement {
	e := run.Enforcement{
		Tier: policy.TierProcess, Walls: maps.Clone(b.plan.Walls),
		ViolationsObserved: b.plan.Seccomp == confine.SeccompNotify,
	}
	if b.watchesModules() {
		e.Walls[policy.WallLanguage] = b.enforcedRules(noRules)
	}
	switch {
	case !b.proxied():
	case e.ViolationsObserved:
		// The egress modes are for commands; scripts have the proxy or no network.
		e.Walls[policy.WallEgress] = egress.Words(policy.EgressStrict, b.options.Policy.AllowNet)
	default:
		e.Walls[policy.WallEgress] = policy.EnforcedWall("no host can be reached: the proxy needs seccomp notification")
	}
	return e
}

// Open leases a worker.
func (b *Backend) Open(ctx context.Context, job backend.Job) (backend.Sandbox, error) {
	pass, err := b.gate.Enter(ctx)
	if err != nil {
		return nil, err
	}
	m, err := b.lease(ctx, job)
	if err != nil {
		pass.Leave()
		return nil, err
	}
	return &sandbox{backend: b, member: m, pass: pass}, nil
}

func (b *Backend) lease(ctx context.Context, job backend.Job) (*member, error) {
	p, err := b.poolFor(ctx, job)
	if err != nil {
		return nil, err
	}
	return p.take(ctx, job.Limits.Scratch)
}

func (b *Backend) pools() []workers {
	var pools []workers
	for _, l := range b.lazy {
		if p := l.pool.Load(); p != nil {
			pools = append(pools, p)
		}
	}
	for _, k := range b.kinds {
		if p := k.opened(); p != nil {
			pools = append(pools, p)
		}
	}
	return pools
}

// Close ends every guest and leaves nothing behind.
func (b *Backend) Close() (err error) {
	closed := make(chan struct{})
	go func() {
		b.gate.Close()
		close(closed)
	}()
	<-b.gate.Closed()
	for _, p := range b.pools() {
		p.stopAll() // so that every run ends
	}
	<-closed
	b.hooks.Close()
	for _, s := range b.sessions.Close() {
		err = errors.Join(err, s.Close())
	}
	b.starting.Wait()
	for _, p := range b.pools() {
		p.stopAll()
		p.clear()
	}
	return errors.Join(err, b.groups.Close())
}

// sandbox is one leased worker.
type sandbox struct {
	backend *Backend
	member  *member
	pass    backend.Pass
}

func (s *sandbox) Run(ctx context.Context, job backend.Job) (result run.Result, err error) {
	m := s.member
	if m.group != nil {
		if err := m.group.SetLimit(groupLimit(job.Limits)); err != nil {
			return run.Result{}, run.Errorf(run.Internal, "cgroup: %w", err)
		}
	}
	work, err := s.backend.giveFiles(m.Worker, job)
	if err != nil {
		return run.Result{}, err
	}
	defer func() { err = errors.Join(err, work.Close()) }()
	codes := s.backend.kinds[s.backend.rulesOf(job)].codes
	connection := s.backend.connect(m.Worker)
	ending, err := m.Run(ctx, zygote.Guest{
		Script: job.Script.Source, Name: cmp.Or(job.Script.Name, "<script>"), Codes: codes, Context: job.Script.Context, Stdin: job.Stdin, Variables: job.Script.Variables, Args: job.Script.Args, Work: work != nil,
		Streams: job.Streams, Network: connection.network(), Limits: job.Limits, OnOutputLimit: job.OnOutputLimit, Patience: s.backend.gate.Patience(), OnWait: m.replace,
	})
	traffic, closing := connection.end()
	result, err = s.backend.conclude(m, report.Run{Limits: job.Limits, Restricted: job.Script.Restricted, Modules: s.backend.watchesModules()}, ending, errors.Join(err, closing))
	result.Enforcement, result.Traffic = s.backend.Enforcement(), traffic
	work.Collect(job.Script, job.Limits.Scratch, &result)
	if job.Script.Restricted {
		result.Enforcement.Walls[policy.WallLanguage] = s.backend.enforcedRules(s.backend.rulesOf(job))
	}
	return result, err
}

// conclude makes a Result from the evidence of a guest's end.
func (b *Backend) conclude(m *member, of report.Run, ending zygote.Ending, err error) (run.Result, error) {
	if errors.Is(err, zygote.ErrNotStarted) {
		return run.Result{}, fmt.Errorf("%w: %w", backend.ErrNotStarted, err)
	}
	if err != nil {
		return run.Result{}, err
	}
	if ending.Orphaned && !b.gate.IsOpen() {
		return run.Result{}, backend.ErrClosed()
	}
	e := evidence{Ending: ending, Run: of, Plan: b.plan}
	if m.group != nil && ending.Report == nil {
		if e.OOMKills, err = m.group.OOMKills(); err != nil {
			return run.Result{}, run.Errorf(run.Internal, "cgroup: %w", err)
		}
	}
	return judge(e)
}

func (s *sandbox) Close() error {
	s.member.Close() // a worker serves one guest
	s.pass.Leave()
	return nil
}
