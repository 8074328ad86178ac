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

// probeHost finds out what the host seems to support.
func (b *Backend) probeHost() (err error) {
	b.features = hostfeature.Quick()
	if abi := b.options.LandlockABI; abi > 0 {
		b.features.LandlockABI = min(b.features.LandlockABI, abi)
	}
	if err := b.features.Grant(slices.Concat(b.options.Policy.Read, b.options.Policy.Write)); err != nil {
		return run.Wrap(run.Invalid, err)
	}
	if b.mounts = b.options.Files; b.mounts == nil {
		b.mounts, err = systemMounts()
	}
	if err != nil {
		return run.Errorf(run.Internal, "the host's system directories: %w", err)
	}
	if b.init, err = confine.OpenInit(); err != nil {
		return run.Wrap(run.Unsupported, err)
	}
	groups := b.groups.Features()
	b.features.Cgroup = hostfeature.Yes("limits memory and processes by actual use")
	if !groups.Usable() {
		b.features.Cgroup = hostfeature.No(groups.Reason, groups.Remedy)
	} else if !groups.CountsProcesses() {
		b.features.Cgroup = hostfeature.Yes("limits memory by actual use; processes are limited by rlimit only: " + groups.ProcessReason)
	}
	if b.jail == policy.JailBwrap {
		b.features.Landlock = hostfeature.No("bubblewrap mounts, which Landlock forbids", "jail: native")
		b.features.Seccomp = hostfeature.Yes("violations are not observed")
		b.features.SeccompNotify = hostfeature.No("bubblewrap installs filters without a listener", "jail: native")
	}
	if b.isGVisor() {
		b.features.Landlock = hostfeature.No("runsc mounts, which Landlock forbids", "tier jail")
		b.features.Seccomp = hostfeature.Yes("violations are not observed")
		b.features.SeccompNotify = hostfeature.No("gVisor needs the only listener that the kernel allows", "tier jail")
	}
	return nil
}

// system lists the paths of the host's system that commands see.
func (b *Backend) system() (paths []string) {
	for _, m := range b.mounts {
		paths = append(paths, m.Path)
	}
	return paths
}

// makePlan plans the walls from what the host seems to support, and makes the builder. With
// jail: auto, commands have no namespaces where the host gives none.
func (b *Backend) makePlan() (err error) {
	b.plan, err = confine.Make(b.inputs())
	var refused error // why there are no namespaces
	if err != nil && b.options.Policy.Jail == policy.JailAuto && !b.isShared() && !b.features.UserNS.OK && b.features.Landlock.OK {
		refused, b.jail = err, policy.JailLandlock
		b.plan, err = confine.Make(b.inputs())
	}
	if err != nil {
		return err // it names the walls that the policy requires, and why they are missing
	}
	if b.isShared() {
		if err := b.checkShared(); err != nil && refused != nil {
			return run.Errorf(run.Unsupported, "%w; %w", refused, err)
		} else if err != nil {
			return err
		}
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
	switch b.jail {
	case policy.JailNative:
		b.builder = &native{filter}
		return nil
	case gvisorJail:
		built, err := b.newGVisor(filter)
		if err != nil {
			return err
		}
		b.builder = built
		return nil
	case policy.JailLandlock:
		b.returning.Go(removeStale)
		b.builder, err = newShared(b.plan, filter, b.mounts, b.granted, b.writable)
		return err
	}
	built, err := newBwrap(filter, b.plan.Root, b.system(), hostpath.Writable(b.options.Policy.Write...))
	if err != nil {
		return err
	}
	built.scoped = landlock.Scoped(b.features.LandlockABI) && !slices.Contains(b.options.Without, policy.WallLandlock)
	b.builder = built
	return nil
}

func (b *Backend) inputs() confine.Inputs {
	return confine.Inputs{
		Policy: b.options.Policy, Features: b.features, Files: b.mounts, Command: true, Shared: b.isShared(), Masks: procMasks(),
		Without: b.options.Without,
	}
}

// scopeSockets fails if commands could reach abstract sockets of the host: those of
// desktops, message buses and container engines. They have no file that a mount could
// hide. A network namespace keeps commands from them, and so does Landlock.
func (b *Backend) scopeSockets() error {
	if b.plan.Namespaces&confine.CloneNewNet != 0 || b.isShared() || len(b.options.Without) > 0 {
		return nil
	}
	abi := b.plan.Landlock
	if b.jail == policy.JailBwrap {
		abi = b.features.LandlockABI
	}
	if !landlock.Scoped(abi) {
		return run.Errorf(run.Unsupported, "egress: %s runs commands on the host's network, where only Landlock of %s and later keeps them from the host's abstract sockets: use egress: strict",
			b.options.Policy.Egress, landlock.LastGap)
	}
	return nil
}

// profile selects the filter. Without a memory cgroup the Runner watches the memory of
// commands, so the filter denies the kinds of memory that it cannot see.
func (b *Backend) profile() seccomp.Profile {
	switch {
	case b.isShared() && landlock.Scoped(b.plan.Landlock):
		return seccomp.Shared
	case b.isShared():
		return seccomp.Unscoped
	case b.isGVisor():
		return seccomp.GVisor
	case b.plan.Cgroup:
		return seccomp.Command
	}
	return seccomp.Watched
}

// fixGrants resolves the granted paths once. A command that may change a directory on
// such a path must not choose what the next command is granted.
func (b *Backend) fixGrants() (err error) {
	b.granted, b.writable = nil, nil
	if b.isShared() {
		if b.granted, err = resolveAll(b.options.Policy.Read); err == nil {
			b.writable, err = resolveAll(b.options.Policy.Write)
		}
		return err
	}
	named := map[string]bool{}
	for _, path := range slices.Concat(b.options.Policy.Read, b.options.Policy.Write) {
		named[path] = true
	}
	for i, m := range b.plan.Root {
		if !named[m.Path] {
			continue
		}
		if b.plan.Root[i].Source, err = resolve(m.Path); err != nil {
			return err
		}
		b.plan.Root[i].Exact = true
		b.granted = append(b.granted, b.plan.Root[i].Source)
	}
	return nil
}

func resolve(granted string) (string, error) {
	path, err := filepath.EvalSymlinks(granted)
	if err != nil {
		return "", run.Errorf(run.Invalid, "the policy grants %s, which cannot be resolved: %w", granted, err)
	}
	return path, nil
}

func resolveAll(granted []string) (paths []string, err error) {
	for _, name := range granted {
		path, err := resolve(name)
		if err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// try builds a sandbox and tears it down again.
func (b *Backend) try() error {
	p, err := b.open(recipe{limits: b.options.Policy.Limits}, nil, false)
	if err != nil {
		return err
	}
	p.tearDown()
	b.tried = true
	return nil
}

// narrow makes another plan if the host refused a wall that it seemed to support. It
// does so only before commands share the plan.
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
