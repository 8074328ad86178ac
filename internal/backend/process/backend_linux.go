package process

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/cgroup"
	"github.com/cordon-sandbox/cordon/internal/hostfeature"
	"github.com/cordon-sandbox/cordon/internal/interpreter"
	"github.com/cordon-sandbox/cordon/internal/jail"
	"github.com/cordon-sandbox/cordon/internal/zygote"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Backend is the tier under one policy.
type Backend struct {
	options Options
	python  interpreter.Interpreter
	plan    jail.Plan
	groups  *cgroup.Pool // nil without a cgroup
	pool    *pool
}

var _ backend.Backend = (*Backend)(nil)

// New finds the interpreter, decides on the walls, and starts the first fork
// server. A required wall that this host cannot give is an error here, before
// anything runs.
func New(ctx context.Context, options Options) (*Backend, error) {
	b := &Backend{options: options.resolved()}
	var err error
	if b.python, err = interpreter.Find(ctx, b.options.Policy.Python); err != nil {
		return nil, err
	}
	features, err := featuresFor(b.options.Policy)
	if err != nil {
		return nil, err
	}
	// The interpreter starts meanwhile.
	groups := make(chan error, 1)
	go func() { groups <- b.openGroups(features) }()
	first, err := b.start(ctx, features)
	if groupErr := <-groups; err == nil && groupErr != nil {
		first.Close()
		err = run.Errorf(run.Internal, "cgroup: %w", groupErr)
	}
	if err != nil {
		return nil, errors.Join(err, b.closeGroups())
	}
	b.pool = newPool(b, first)
	return b, nil
}

func (b *Backend) openGroups(f hostfeature.Features) (err error) {
	if f.Cgroup.OK && !slices.Contains(b.options.Without, policy.WallCgroup) {
		b.groups, err = cgroup.Open(cgroup.Probe())
	}
	return err
}

func (b *Backend) closeGroups() error {
	if b.groups == nil {
		return nil
	}
	return b.groups.Close()
}

// featuresFor looks at the host and at the granted paths.
func featuresFor(p policy.Policy) (hostfeature.Features, error) {
	f := hostfeature.Quick()
	f.Cgroup = hostfeature.Yes("memory by what is really used")
	if c := cgroup.Probe(); !c.Usable() {
		f.Cgroup = hostfeature.No(c.Reason, c.Remedy)
	}
	for _, path := range p.Read {
		info, err := os.Stat(path)
		if err != nil {
			return f, run.Errorf(run.Invalid, "policy grants read of %s, which cannot be: %w", path, err)
		}
		if !info.IsDir() {
			f.PlainFiles = append(f.PlainFiles, path)
		}
	}
	return f, nil
}

// start plans with all that the host seems to have. Where it then refuses
// after all, the plan is made again without; whether that is enough is the
// policy's decision.
func (b *Backend) start(ctx context.Context, f hostfeature.Features) (*zygote.Zygote, error) {
	for {
		plan, err := b.makePlan(f)
		if err != nil {
			return nil, err
		}
		b.plan = plan
		z, err := b.startZygote(ctx)
		var setup *jail.SetupError
		switch {
		case !errors.As(err, &setup):
			return z, err
		case f.UserNS.OK && setup.Namespace:
			f.UserNS = hostfeature.DeniedUserNS(setup)
		case f.SeccompNotify.OK && setup.Step == "seccomp":
			// A container that listens to its own filter leaves no room for
			// another listener.
			f.Seccomp = hostfeature.Yes("violations are not observed")
			f.SeccompNotify = hostfeature.No(setup.Error(), "")
		default:
			return z, err
		}
	}
}

func (b *Backend) makePlan(f hostfeature.Features) (jail.Plan, error) {
	mounts, err := b.python.Mounts()
	if err != nil {
		return jail.Plan{}, err
	}
	var files []jail.Mount
	for _, m := range mounts {
		kind := map[interpreter.MountKind]jail.MountKind{
			interpreter.Dir: jail.BindDir, interpreter.File: jail.BindFile, interpreter.Symlink: jail.Symlink,
		}[m.Kind]
		files = append(files, jail.Mount{Path: m.Path, Kind: kind, Target: m.Target})
	}
	return jail.Make(jail.Inputs{Policy: b.options.Policy, Features: f, Interpreter: files, Without: b.options.Without})
}

func (b *Backend) startZygote(ctx context.Context) (*zygote.Zygote, error) {
	z, err := zygote.Start(ctx, zygote.Config{Plan: b.plan, Interpreter: b.python, Preload: b.options.Policy.Preload, OneShot: b.options.OneShot})
	if err == nil || ctx.Err() != nil {
		return z, err
	}
	message := fmt.Sprintf("the sandbox cannot be set up: %v", err)
	if b.plan.SwitchID && b.plan.Root == nil {
		message += fmt.Sprintf("; without a private root the interpreter must be readable by uid %d: choose one with --python, such as /usr/bin/python3", b.plan.UID)
	}
	return nil, &run.Error{Class: run.Unsupported, Message: message, Err: err}
}

// Tier is `process`.
func (b *Backend) Tier() policy.Tier { return policy.TierProcess }

// Plan says which walls stand.
func (b *Backend) Plan() jail.Plan { return b.plan }

// Interpreter says what guests run on.
func (b *Backend) Interpreter() interpreter.Interpreter { return b.python }

// Enforcement is the plan's report; every worker was checked against it.
func (b *Backend) Enforcement() run.Enforcement {
	return run.Enforcement{
		Tier: policy.TierProcess, Walls: maps.Clone(b.plan.Walls),
		ViolationsObserved: b.plan.Seccomp == jail.SeccompNotify,
	}
}

// Open leases a worker. One with the policy's own limits is ready; one with
// wider limits is forked for the purpose, since limits cannot be raised.
func (b *Backend) Open(ctx context.Context, limits policy.Limits) (backend.Sandbox, error) {
	m, err := b.pool.lease(ctx, limits)
	if err != nil {
		return nil, err
	}
	return &sandbox{backend: b, member: m}, nil
}

// Close ends every guest and leaves nothing behind.
func (b *Backend) Close() error {
	b.pool.close()
	return b.closeGroups()
}

// sandbox is one leased worker.
type sandbox struct {
	backend *Backend
	member  *member
}

func (s *sandbox) Run(ctx context.Context, job backend.Job) (run.Result, error) {
	name := job.Name
	if name == "" {
		name = "<script>"
	}
	m := s.member
	if m.group != nil {
		if err := m.group.SetLimit(int64(job.Limits.Memory)); err != nil {
			return run.Result{}, run.Errorf(run.Internal, "cgroup: %w", err)
		}
	}
	ending, err := m.Run(ctx, zygote.Guest{
		Script: job.Script, Name: name, Context: job.Context, Stdin: job.Stdin, Variables: job.Variables,
		Streams: job.Streams, Limits: job.Limits, OnOutputLimit: job.OnOutputLimit,
	})
	if errors.Is(err, zygote.ErrNotStarted) {
		return run.Result{}, fmt.Errorf("%w: %w", backend.ErrNotStarted, err)
	}
	if err != nil {
		return run.Result{}, err
	}
	e := evidence{Ending: ending, Limits: job.Limits, Plan: s.backend.plan}
	if m.group != nil && ending.Report == nil {
		if e.OOMKills, err = m.group.OOMKills(); err != nil {
			return run.Result{}, run.Errorf(run.Internal, "cgroup: %w", err)
		}
	}
	result, err := judge(e)
	result.Enforcement = s.backend.Enforcement()
	return result, err
}

func (s *sandbox) Close() error {
	s.backend.pool.giveBack(s.member)
	return nil
}
