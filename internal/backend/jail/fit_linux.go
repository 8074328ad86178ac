package jail

import (
	"errors"
	"path/filepath"
	"slices"

	"github.com/cordon-sandbox/cordon/internal/confine"
	"github.com/cordon-sandbox/cordon/internal/hostfeature"
	"github.com/cordon-sandbox/cordon/internal/hostpath"
	"github.com/cordon-sandbox/cordon/internal/landlock"
	"github.com/cordon-sandbox/cordon/internal/seccomp"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// look finds out what the host seems to have.
func (b *Backend) look() (err error) {
	b.features = hostfeature.Quick()
	if err := b.features.Grant(slices.Concat(b.options.Policy.Read, b.options.Policy.Write)); err != nil {
		return run.Wrap(run.Invalid, err)
	}
	if b.mounts, err = systemMounts(); err != nil {
		return run.Errorf(run.Internal, "the host's system: %w", err)
	}
	if b.init, err = confine.OpenInit(); err != nil {
		return run.Wrap(run.Unsupported, err)
	}
	groups := b.groups.Features()
	b.features.Cgroup = hostfeature.Yes("memory and processes by what is really used")
	if !groups.Usable() {
		b.features.Cgroup = hostfeature.No(groups.Reason, groups.Remedy)
	} else if !groups.CountsProcesses() {
		b.features.Cgroup = hostfeature.Yes("memory by what is really used; processes by rlimit alone: " + groups.ProcessReason)
	}
	if b.options.Policy.Jail == policy.JailBwrap {
		b.features.Landlock = hostfeature.No("bubblewrap mounts, which Landlock forbids", "jail: native")
		b.features.Seccomp = hostfeature.Yes("violations are not observed")
		b.features.SeccompNotify = hostfeature.No("bubblewrap installs filters without a listener", "jail: native")
	}
	return nil
}

// system lists the paths of the host's system that are visible.
func (b *Backend) system() (paths []string) {
	for _, m := range b.mounts {
		paths = append(paths, m.Path)
	}
	return paths
}

// makePlan plans with what the host seems to have, and prepares for it.
func (b *Backend) makePlan() (err error) {
	b.plan, err = confine.Make(confine.Inputs{
		Policy: b.options.Policy, Features: b.features, Files: b.mounts, Command: true, Masks: procMasks(),
		Without: b.options.Without,
	})
	if err != nil {
		return err
	}
	if err := b.scopeSockets(); err != nil {
		return err
	}
	if err := b.fixGrants(); err != nil {
		return err
	}
	var filter []byte
	if b.plan.Seccomp != confine.SeccompOff {
		if filter, err = seccomp.Program(b.profile(), seccomp.Mode(b.plan.Seccomp)); err != nil {
			return err
		}
	}
	if b.builder != nil {
		b.builder.close()
		b.builder = nil
	}
	if b.options.Policy.Jail != policy.JailBwrap {
		b.builder = &native{filter}
		return nil
	}
	built, err := newBwrap(filter, b.plan.Root, b.system(), hostpath.Writable(b.options.Policy.Write...))
	if err != nil {
		return err
	}
	built.scoped = landlock.Scoped(b.features.LandlockABI) && !slices.Contains(b.options.Without, policy.WallLandlock)
	b.builder = built
	return nil
}

// scopeSockets says that commands on the host's network do not reach its abstract
// sockets, which have no file that a mount could hide: those of desktops, their buses
// and container engines. A network namespace keeps them out, and so does Landlock.
func (b *Backend) scopeSockets() error {
	if b.plan.Namespaces&confine.CloneNewNet != 0 || len(b.options.Without) > 0 {
		return nil
	}
	abi := b.plan.Landlock
	if b.options.Policy.Jail == policy.JailBwrap {
		abi = b.features.LandlockABI
	}
	if !landlock.Scoped(abi) {
		return run.Errorf(run.Unsupported, "egress: %s leaves commands the host's network, and with it the host's abstract sockets, which only Landlock of %s and later keeps from them: use egress: strict",
			b.options.Policy.Egress, landlock.LastGap)
	}
	return nil
}

// profile is that of the filter: without a memory cgroup, the memory of commands is
// watched, and some kinds of memory cannot be.
func (b *Backend) profile() seccomp.Profile {
	if b.plan.Cgroup {
		return seccomp.Command
	}
	return seccomp.Watched
}

// fixGrants says what the granted paths mean once and for all: a command that may
// change a directory on the way must not choose what the next one is granted.
func (b *Backend) fixGrants() (err error) {
	b.granted = nil
	for i, m := range b.plan.Root {
		if !slices.Contains(b.options.Policy.Read, m.Path) && !slices.Contains(b.options.Policy.Write, m.Path) {
			continue
		}
		if b.plan.Root[i].Source, err = filepath.EvalSymlinks(m.Path); err != nil {
			return run.Errorf(run.Invalid, "the policy grants %s, which cannot be: %w", m.Path, err)
		}
		b.plan.Root[i].Exact = true
		b.granted = append(b.granted, b.plan.Root[i].Source)
	}
	return nil
}

// try builds a place, for nobody.
func (b *Backend) try() error {
	p, err := b.open(recipe{limits: b.options.Policy.Limits}, nil, false)
	if err != nil {
		return err
	}
	p.tearDown()
	b.tried = true
	return nil
}

// narrow makes another plan, if the host has refused something that seemed to be
// there. That is found out before commands share the plan.
func (b *Backend) narrow(err error) (bool, error) {
	var setup *confine.SetupError
	if b.tried || !errors.As(err, &setup) {
		return false, err
	}
	narrower, possible := confine.Narrower(b.features, setup)
	if !possible {
		return false, err
	}
	b.features = narrower
	if err := b.makePlan(); err != nil {
		return false, err
	}
	return true, nil
}
