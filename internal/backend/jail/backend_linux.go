package jail

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/cgroup"
	"github.com/cordon-sandbox/cordon/internal/hostfeature"
	confine "github.com/cordon-sandbox/cordon/internal/jail"
	"github.com/cordon-sandbox/cordon/internal/seccomp"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Backend is the tier under one policy.
type Backend struct {
	options Options
	plan    confine.Plan
	system  []string // paths of the host's system that are visible
	builder builder
	init    int
	owners  confine.OwnerMaps
	// returning are groups on their way back to the pool.
	returning sync.WaitGroup
	grants    []policy.NetGrant
	groups    *cgroup.Pool // nil without a cgroup
	groupErr  error
	probed    chan cgroup.Features
	opened    chan struct{} // closed when groups is there, or will not be
	granted   []string      // the paths of the policy's grants, without symlinks
	gate      *backend.Gate
	ahead     *ahead
}

var _ backend.Backend = (*Backend)(nil)

// New decides on the walls. A required wall that this host cannot give is an
// error here, before anything runs.
func New(options Options) (*Backend, error) {
	b := &Backend{options: options.resolved(), init: -1, probed: make(chan cgroup.Features, 1), opened: make(chan struct{})}
	b.gate = backend.NewGate(b.options.Concurrent, b.options.Queue)
	b.ahead = newAhead(b)
	var err error
	if b.grants, err = b.options.Policy.NetGrants(); err != nil {
		return nil, run.Wrap(run.Invalid, err)
	}
	// What takes time goes on beside what has to be decided.
	go b.openGroups()
	if err = b.makePlan(); err == nil {
		err = b.prepare()
	}
	if err == nil && !b.options.OneShot {
		err = b.awaitGroups()
	}
	if err != nil {
		return nil, errors.Join(err, b.release())
	}
	return b, nil
}

func (b *Backend) makePlan() error {
	features := hostfeature.Quick()
	for _, path := range slices.Concat(b.options.Policy.Read, b.options.Policy.Write) {
		info, err := os.Stat(path)
		if err != nil {
			return run.Errorf(run.Invalid, "the policy grants %s, which cannot be: %w", path, err)
		}
		if !info.IsDir() {
			features.PlainFiles = append(features.PlainFiles, path)
		}
	}
	mounts, err := systemMounts()
	if err != nil {
		return run.Errorf(run.Internal, "the host's system: %w", err)
	}
	for _, m := range mounts {
		b.system = append(b.system, m.Path)
	}
	groups := <-b.probed
	features.Cgroup = hostfeature.Yes("memory and processes by what is really used")
	if !groups.Usable() {
		features.Cgroup = hostfeature.No(groups.Reason, groups.Remedy)
	} else if !groups.CountsProcesses() {
		features.Cgroup = hostfeature.Yes("memory by what is really used; processes by rlimit alone: " + groups.ProcessReason)
	}
	if b.options.Policy.Jail == policy.JailBwrap {
		features.Landlock = hostfeature.No("bubblewrap mounts, which Landlock forbids", "jail: native")
		features.Seccomp = hostfeature.Yes("violations are not observed")
		features.SeccompNotify = hostfeature.No("bubblewrap installs filters without a listener", "jail: native")
	}
	b.plan, err = confine.Make(confine.Inputs{
		Policy: b.options.Policy, Features: features, Files: mounts, Command: true, Without: b.options.Without,
	})
	if err == nil {
		err = b.fixGrants()
	}
	return err
}

// openGroups looks for cgroups, and opens them while the rest is decided.
func (b *Backend) openGroups() {
	defer close(b.opened)
	found := cgroup.Probe()
	b.probed <- found
	if !found.Usable() || slices.Contains(b.options.Without, policy.WallCgroup) {
		return
	}
	if b.groups, b.groupErr = cgroup.Open(found); b.groupErr != nil || !b.options.OneShot {
		return
	}
	// The only command will want one while its caller waits.
	g, err := b.groups.Lease(b.groupLimits(b.options.Policy.Limits))
	if b.groupErr = err; err == nil {
		g.ReturnEmpty()
	}
}

func (b *Backend) groupLimits(l policy.Limits) cgroup.Limits {
	return cgroup.Limits{Memory: int64(l.Memory), Processes: l.Processes + ourProcesses}
}

// awaitGroups returns when the cgroups are open, or are known not to be used.
func (b *Backend) awaitGroups() error {
	<-b.opened
	if b.groupErr != nil {
		return run.Errorf(run.Internal, "cgroup: %w", b.groupErr)
	}
	return nil
}

// fixGrants says what the granted paths mean once and for all: a command that may
// change a folder on the way must not choose what the next one is granted.
func (b *Backend) fixGrants() (err error) {
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

func (b *Backend) prepare() (err error) {
	if b.init, err = confine.OpenInit(); err != nil {
		return run.Wrap(run.Unsupported, err)
	}
	var filter []byte
	if b.plan.Seccomp != confine.SeccompOff {
		if filter, err = seccomp.Program(seccomp.Command, seccomp.Mode(b.plan.Seccomp)); err != nil {
			return err
		}
	}
	if b.options.Policy.Jail != policy.JailBwrap {
		b.builder = &native{filter}
		return nil
	}
	built, err := newBwrap(filter, b.plan.Root, b.system)
	if err != nil {
		return err
	}
	b.builder = built
	return nil
}

// release lets go of what is held for all commands.
func (b *Backend) release() (err error) {
	if b.init >= 0 {
		unix.Close(b.init)
	}
	if b.builder != nil {
		b.builder.close()
	}
	<-b.opened
	b.owners.Close()
	b.returning.Wait()
	if b.groups != nil {
		err = b.groups.Close()
	}
	return err
}

// Tier is `jail`.
func (b *Backend) Tier() policy.Tier { return policy.TierJail }

// Enforcement is the plan's report.
func (b *Backend) Enforcement() run.Enforcement {
	e := run.Enforcement{
		Tier: policy.TierJail, Jail: b.options.Policy.Jail, Walls: maps.Clone(b.plan.Walls),
		ViolationsObserved: b.plan.Seccomp == confine.SeccompNotify,
	}
	e.Walls[policy.WallCommand] = "enforced"
	if b.options.Policy.AllowInterpreters {
		e.Walls[policy.WallCommand] = "enforced (interpreters are allowed)"
	}
	e.Walls[policy.WallEgress] = egressWords(b.options.Policy)
	return e
}

func egressWords(p policy.Policy) string {
	switch p.Egress {
	case policy.EgressNone:
		return "missing: the policy asks for none"
	case policy.EgressPreflight:
		return "enforced (hosts in the arguments alone, before the start)"
	}
	if len(p.AllowNet) == 0 {
		return "enforced (nothing can be reached)"
	}
	return "enforced (by a proxy to " + strings.Join(p.AllowNet, ", ") + ")"
}

// Open waits for the job's turn.
func (b *Backend) Open(ctx context.Context, _ backend.Job) (backend.Sandbox, error) {
	if err := b.gate.Enter(ctx); err != nil {
		return nil, err
	}
	return &sandbox{b}, nil
}

// Close ends every command and leaves nothing behind.
func (b *Backend) Close() error {
	b.gate.Close()
	b.ahead.close()
	return b.release()
}

// sandbox is one turn.
type sandbox struct{ backend *Backend }

func (s *sandbox) Run(ctx context.Context, job backend.Job) (run.Result, error) {
	result, err := s.backend.run(ctx, job)
	result.Enforcement = s.backend.Enforcement()
	return result, err
}

func (s *sandbox) Close() error {
	s.backend.gate.Leave()
	return nil
}
