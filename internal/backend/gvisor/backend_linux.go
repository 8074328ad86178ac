package gvisor

import (
	"context"
	"errors"
	"time"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/backend/jail"
	"github.com/cordon-sandbox/cordon/internal/backend/portable"
	"github.com/cordon-sandbox/cordon/internal/backend/process"
	"github.com/cordon-sandbox/cordon/internal/confine"
	"github.com/cordon-sandbox/cordon/internal/hostpath"
	"github.com/cordon-sandbox/cordon/internal/interpreter"
	"github.com/cordon-sandbox/cordon/internal/observe"
	"github.com/cordon-sandbox/cordon/internal/runsc"
	"github.com/cordon-sandbox/cordon/internal/seccomp"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Backend is the tier under one policy.
type Backend struct {
	commands *jail.Backend
	scripts  *backend.Lazy[*scripts] // they need an interpreter, which commands do not
}

var _ backend.Backend = (*Backend)(nil)

// scripts are the interpreters, and the sandboxes in which they run.
type scripts struct {
	*portable.Scripts
	sandboxes *jail.Backend
}

// New finds runsc, and tries on this host what commands need. A required wall that the host
// cannot provide is an error here, before anything runs. With OneShot nothing is tried, and
// the error may come from the run instead.
func New(_ context.Context, o Options) (*Backend, error) {
	if err := unfit(o.Policy); err != nil {
		return nil, err
	}
	guests := hostpath.Writable(append(append([]string{}, o.Policy.Write...), o.Workspaces...)...)
	if o.Runsc == nil {
		found, err := runsc.Find(guests)
		if err != nil {
			return nil, run.Wrap(run.Unsupported, err)
		}
		o.Runsc = &found
	}
	b := &Backend{scripts: backend.NewLazy(func(ctx context.Context) (*scripts, error) { return newScripts(ctx, o, guests) })}
	var err error
	b.commands, err = jail.New(jail.Options{Policy: o.Policy, Load: o.Load, OneShot: o.OneShot, Runsc: o.Runsc})
	return b, err
}

const (
	// waitingTime is how long an interpreter waits for a script. It has about 60 MiB.
	waitingTime = time.Minute
	// maxWaiting bounds those of all kinds together.
	maxWaiting     = 4
	maxWaitingEach = 2
)

func newScripts(ctx context.Context, o Options, guests hostpath.Guests) (*scripts, error) {
	p := o.Policy
	p.Write = nil // scripts write to their own directory only
	python, err := interpreter.Find(interpreter.Search{Python: p.Python, Guests: guests})
	if err != nil {
		return nil, err
	}
	mounts, err := python.Mounts()
	if err != nil {
		return nil, err
	}
	s := &scripts{}
	s.sandboxes, err = jail.New(jail.Options{
		Policy: p, Load: o.Load, OneShot: true, Runsc: o.Runsc, Files: process.Files(mounts, guests),
	})
	if err != nil {
		return nil, err
	}
	profile := seccomp.Script
	if len(p.AllowNet) > 0 {
		profile = seccomp.Networked
	}
	filter, err := seccomp.Program(profile, seccomp.Errno)
	if err != nil {
		return nil, errors.Join(err, s.sandboxes.Close())
	}
	launcher := s.sandboxes.Launcher()
	options := portable.Options{
		Policy: p, Guests: guests, Launcher: launcher, OwnNetwork: true, Load: o.Load, Tier: policy.TierGVisor, Scratch: confine.Scratch, Filter: filter,
		AddressSpace: !s.sandboxes.Enforcement().Walls[policy.WallCgroup].Enforced(),
	}
	if !o.OneShot {
		options.Waiting = &portable.Waiting{Max: maxWaiting, MaxEach: maxWaitingEach, Lifetime: waitingTime, Grants: launcher.Grants}
	}
	s.Scripts, err = portable.NewScripts(ctx, options)
	if err != nil {
		return nil, errors.Join(err, s.sandboxes.Close())
	}
	return s, nil
}

// Close ends every script, and removes what their sandboxes share.
func (s *scripts) Close() error { return errors.Join(s.Scripts.Close(), s.sandboxes.Close()) }

// Tier is `gvisor`.
func (*Backend) Tier() policy.Tier { return policy.TierGVisor }

// Enforcement reports the walls of commands. Those of scripts are in their Results.
func (b *Backend) Enforcement() run.Enforcement { return b.commands.Enforcement() }

// Open counts the job.
func (b *Backend) Open(ctx context.Context, job backend.Job) (backend.Sandbox, error) {
	if job.Kind() == policy.GuestCommand {
		return b.commands.Open(ctx, job)
	}
	s, err := b.scripts.Get(ctx)
	if err != nil {
		return nil, err
	}
	return s.Open(ctx, job)
}

// Stats returns the tier's metrics.
func (b *Backend) Stats() observe.Stats {
	stats := b.commands.Stats()
	if s, started := b.scripts.Started(); started {
		stats[b.Tier()] = observe.Plus(stats[b.Tier()], s.Stats()[b.Tier()])
	}
	return stats
}

// Close ends every guest and leaves nothing behind.
func (b *Backend) Close() error {
	return errors.Join(b.scripts.Close(), b.commands.Close())
}
