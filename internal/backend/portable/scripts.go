package portable

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/backend/ahead"
	"github.com/cordon-sandbox/cordon/internal/backend/hook"
	"github.com/cordon-sandbox/cordon/internal/hints"
	"github.com/cordon-sandbox/cordon/internal/interpreter"
	"github.com/cordon-sandbox/cordon/internal/launch"
	"github.com/cordon-sandbox/cordon/internal/observe"
	"github.com/cordon-sandbox/cordon/internal/report"
	"github.com/cordon-sandbox/cordon/internal/script"
	"github.com/cordon-sandbox/cordon/internal/wire"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Scripts is the `process` tier: it has an interpreter for each script, and keeps one for each
// hook.
type Scripts struct {
	options Options
	python  interpreter.Interpreter
	network network
	gate    *backend.Gate
	walls   map[policy.Wall]policy.WallStatus

	waiting *ahead.Pool[kind, *interpreting] // nil if no interpreter is started ahead

	hooks   hook.Set
	workers sync.WaitGroup // processes of hooks, until nothing is left of them
	calling atomic.Int32   // running calls of hooks
	failing sync.Mutex
	failed  error // the first error of removing what such a process left

	setups, hookSetups observe.Histogram
}

var _ backend.Backend = (*Scripts)(nil)

// NewScripts finds the interpreter and plans the walls. A required wall that this host
// cannot provide is an error here, before anything runs.
func NewScripts(ctx context.Context, options Options) (*Scripts, error) {
	b := &Scripts{gate: backend.NewGate(options.Load)}
	options.Policy = options.Policy.Resolved()
	b.options = options
	var err error
	if b.network, err = newNetwork(options.Policy, policy.EgressStrict); err != nil {
		return nil, err
	}
	b.network.own = options.OwnNetwork
	if b.python, err = interpreter.Find(interpreter.Search{Python: options.Policy.Python, Guests: options.Guests}); err != nil {
		return nil, err
	}
	access, err := b.access()
	if err != nil {
		return nil, err
	}
	if b.walls, err = options.Launcher.Walls(access); err != nil {
		return nil, err
	}
	b.waiting = b.newWaiting()
	if options.Tier != "" {
		return b, nil // its own walls were checked where they were planned
	}
	return b, refuse(options.Policy, b.walls)
}

// access is what every script may reach besides its private directory.
func (b *Scripts) access() (launch.Access, error) {
	read, err := resolved(b.options.Policy.Read)
	if err != nil {
		return launch.Access{}, err
	}
	access := launch.Access{Read: append(interpreterFiles(b.python), read...)}
	b.network.open(&access, 0)
	return access, nil
}

// sharedPrefixes are prefixes that an interpreter shares with other files. What it needs
// from them is in its library, or is readable for programs on every system.
var sharedPrefixes = []string{"/usr", "/usr/local", "/opt", "/opt/homebrew", "/opt/local"}

// interpreterFiles lists the files of an interpreter.
func interpreterFiles(i interpreter.Interpreter) []string {
	files := slices.Concat([]string{i.Path, i.Stdlib}, i.SysPath, i.Packages)
	if !slices.Contains(sharedPrefixes, i.Prefix) {
		files = append(files, i.Prefix)
	}
	if i.VirtualEnv != "" {
		files = append(files, i.VirtualEnv)
	}
	homeDir, _ := os.UserHomeDir()
	var all []string
	for _, file := range files {
		real, err := filepath.EvalSymlinks(file)
		if err != nil || real == filepath.Dir(real) || real == homeDir {
			continue // a missing zip file; and never a whole disk or home directory
		}
		if !slices.Contains(all, real) {
			all = append(all, real)
		}
	}
	return all
}

// resolved follows the symlinks of granted paths, which must exist.
func resolved(paths []string) ([]string, error) {
	all := make([]string, len(paths))
	for i, path := range paths {
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			return nil, run.Errorf(run.Invalid, "the policy grants %s, which cannot be resolved: %w", path, err)
		}
		all[i] = real
	}
	return all, nil
}

// Tier is `process`, unless the options name another one.
func (b *Scripts) Tier() policy.Tier { return cmp.Or(b.options.Tier, policy.TierProcess) }

// Interpreter returns the interpreter of the guests.
func (b *Scripts) Interpreter() interpreter.Interpreter { return b.python }

// Enforcement reports which walls stand. Only Linux reports what they denied.
func (b *Scripts) Enforcement() run.Enforcement {
	e := run.Enforcement{Tier: b.Tier(), Walls: maps.Clone(b.walls)}
	b.network.report(&e)
	return e
}

// Stats returns the metrics of the tiers process and hook.
func (b *Scripts) Stats() observe.Stats {
	idle := 0
	if b.waiting != nil {
		idle = b.waiting.Idle()
	}
	return observe.Stats{
		b.Tier():        {Busy: b.gate.Busy(), Idle: idle, Setups: b.setups.Durations()},
		policy.TierHook: {Busy: int(b.calling.Load()), Idle: b.hooks.Idle(), Setups: b.hookSetups.Durations()},
	}
}

// Open refuses what this tier cannot run.
func (b *Scripts) Open(ctx context.Context, job backend.Job) (backend.Sandbox, error) {
	if err := refuseJob(job); err != nil {
		return nil, err
	}
	pass, err := b.gate.Enter(ctx)
	if err != nil {
		return nil, err
	}
	return &turn{pass, b.run}, nil
}

// Close ends every guest and leaves nothing behind.
func (b *Scripts) Close() error {
	b.gate.Close()
	if b.waiting != nil {
		b.waiting.Close()
	}
	b.hooks.Close()
	b.workers.Wait()
	b.failing.Lock()
	defer b.failing.Unlock()
	return b.failed
}

// keepError keeps the first error for Close.
func (b *Scripts) keepError(err error) {
	b.failing.Lock()
	defer b.failing.Unlock()
	if b.failed == nil {
		b.failed = err
	}
}

func (b *Scripts) run(ctx context.Context, job backend.Job) (run.Result, error) {
	g := guestScript{script: job.Script.Source, name: cmp.Or(job.Script.Name, "<script>"), context: job.Script.Context, variables: job.Script.Variables, args: job.Script.Args}
	if job.HasFiles() {
		g.work = workName
	}
	if job.Script.Restricted {
		g.rules = b.options.Policy.ScriptRules()
	}
	result, cause, _, err := b.execute(ctx, job, wire.KindStart, g)
	if err != nil {
		return run.Result{}, err
	}
	b.explain(&result, cause)
	result.Enforcement = b.Enforcement()
	if job.Script.Restricted {
		result.Enforcement.Walls[policy.WallLanguage] = policy.EnforcedWall(string(g.rules))
	}
	return result, nil
}

// Check checks a script against the language rules behind all walls, because the parser
// reads untrusted text.
func (b *Scripts) Check(ctx context.Context, c run.Check) ([]run.Finding, error) {
	preset, err := policy.ParseLanguagePreset(string(cmp.Or(c.Preset, b.options.Policy.ScriptRules())))
	if err != nil {
		return nil, run.Wrap(run.Invalid, err)
	}
	pass, err := b.gate.Enter(ctx)
	if err != nil {
		return nil, err
	}
	defer pass.Leave()
	job := backend.Job{Limits: b.options.Policy.Limits}
	job.Script.Restricted = true
	result, _, words, err := b.execute(ctx, job, wire.KindCheck, guestScript{script: c.Script, name: cmp.Or(c.Name, "<script>"), rules: preset})
	if err != nil {
		return nil, err
	}
	if result.Outcome != run.Succeeded {
		return nil, run.Errorf(run.Invalid, "the script cannot be checked: %s", result.Error)
	}
	return report.Findings(words)
}

// execute makes an interpreter run or check a script, and judges its end.
func (b *Scripts) execute(ctx context.Context, job backend.Job, message byte, g guestScript) (result run.Result, cause report.OSError, words wire.Dict, err error) {
	request, err := encodeScript(message, g, job.Limits)
	if err != nil {
		return result, cause, nil, err
	}
	k, opening := kind{rules: g.rules, limits: job.Limits}, [][]byte{request}
	var i *interpreting
	waits := false
	if b.waiting != nil {
		if k.grants, err = b.options.Waiting.Grants(); err != nil {
			return result, cause, nil, err
		}
		i, waits = b.waiting.Take(k)
		defer b.waiting.Use(k)() // afterwards, so that there is room for the next one
	}
	if !waits {
		preparation, err := b.preparation(k.rules, false, k.limits)
		if err != nil {
			return result, cause, nil, err
		}
		if i, err = b.interpret(k); err != nil {
			return result, cause, nil, err
		}
		b.setups.Since(i.began)
		opening = [][]byte{preparation, request}
	}
	defer func() { err = errors.Join(err, i.free()) }()
	i.job = job
	work, err := i.scratch.giveFiles(job)
	if err != nil {
		return result, cause, nil, err
	}
	defer func() { err = errors.Join(err, work.Close()) }()
	e, err := i.run(ctx, opening, watch{scratch: i.scratch, closed: b.gate.Closed()})
	if err != nil {
		return result, cause, nil, err
	}
	e.Violations = append(i.proxy.violations(), e.Exit.Violations...)
	result, cause = judge(e)
	result.Traffic = i.proxy.traffic()
	work.Collect(job.Script, job.Limits.Scratch, &result)
	return result, cause, e.Report, nil
}

// kind is what an interpreter is started with. It can serve any script of its kind.
type kind struct {
	rules  policy.LanguagePreset // empty for scripts without language rules
	limits policy.Limits
	grants string // see Waiting
}

// interpreting is an interpreter for one script, and what belongs to it.
type interpreting struct {
	*guest
	scratch scratch
	proxy   *proxy
}

// interpret starts an interpreter.
func (b *Scripts) interpret(k kind) (i *interpreting, err error) {
	i = &interpreting{scratch: scratch{dir: b.options.Scratch}}
	defer func() {
		if err != nil {
			err = errors.Join(err, i.free())
		}
	}()
	access, err := b.access()
	if err != nil {
		return i, err
	}
	if i.scratch.dir == "" {
		if i.scratch, err = makeScratch(); err != nil {
			return i, err
		}
		access.Write = []string{i.scratch.dir}
	}
	if i.proxy, err = b.network.serve(); err != nil {
		return i, err
	}
	b.network.open(&access, i.proxy.port())
	i.guest, err = start(b.options.Launcher, launch.Order{
		Program: b.python.Path, Args: arguments(b.python.Path), Dir: i.scratch.dir, Access: access, Limits: k.limits,
		Env: slices.Concat(environment(i.scratch.dir, k.limits), b.arenas(), b.network.environment(i.proxy)),
	}, backend.Job{Limits: k.limits}, true)
	if err == nil && i.proxy == nil {
		i.proxy = b.network.serveIn(i.process)
	}
	return i, err
}

// free removes what belongs to an interpreter that has ended.
func (i *interpreting) free() error { return errors.Join(i.proxy.close(), i.scratch.remove()) }

// environment is the complete os.environ of a script, except for what the system itself
// needs.
func environment(scratch string, l policy.Limits) []string {
	return slices.Concat([]string{
		"HOME=" + scratch, "TMPDIR=" + scratch, "TEMP=" + scratch, "TMP=" + scratch, "LANG=C.UTF-8", "PATH=",
	}, script.ThreadEnvironment(script.LibraryThreads(l.CPUs, l.Threads)), systemEnvironment())
}

// arenas gives malloc one arena where address space is limited: that of each thread would
// reserve 64 MiB of it.
func (b *Scripts) arenas() []string {
	if !b.options.AddressSpace {
		return nil
	}
	return []string{"MALLOC_ARENA_MAX=1"}
}

// explain adds a violation for an exception that a wall caused, since the system reports
// none.
func (b *Scripts) explain(r *run.Result, cause report.OSError) {
	if cause.Filename == "" || !filepath.IsAbs(cause.Filename) || !denied(cause.Errno) {
		return
	}
	for _, wall := range meets(policy.WallFilesystem) {
		if !b.walls[wall].Enforced() {
			continue
		}
		r.Violations = append(r.Violations, hints.Give(run.Violation{
			Wall: wall, Op: "open", Detail: cause.Filename, Claimed: true, Line: r.Exception.Line, Module: cause.Module, Count: 1,
		}, run.HintPassData, hints.Data{"available": "the interpreter's files, to read, and its own directory ($TMPDIR)"}))
		return
	}
}

// denied recognizes EPERM and EACCES, which have the same numbers everywhere.
func denied(errno int) bool { return errno == 1 || errno == 13 }

// turn is one job whose turn has come.
type turn struct {
	pass backend.Pass
	run  func(context.Context, backend.Job) (run.Result, error)
}

// Run runs the job.
func (t *turn) Run(ctx context.Context, job backend.Job) (run.Result, error) { return t.run(ctx, job) }

// Close ends the turn.
func (t *turn) Close() error {
	t.pass.Leave()
	return nil
}
