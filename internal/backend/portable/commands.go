package portable

import (
	"context"
	"errors"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/command"
	"github.com/cordon-sandbox/cordon/internal/egress"
	"github.com/cordon-sandbox/cordon/internal/launch"
	"github.com/cordon-sandbox/cordon/internal/observe"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Commands is the `jail` tier: it runs any command with all processes that it starts.
type Commands struct {
	options     Options
	network     network
	read, write []string // the policy's grants, without links
	gate        *backend.Gate
	walls       map[policy.Wall]policy.WallStatus
	setups      observe.Histogram
}

var _ backend.Backend = (*Commands)(nil)

// NewCommands plans the walls. A required wall that this host cannot provide is an error
// here, before anything runs.
func NewCommands(options Options) (*Commands, error) {
	b := &Commands{gate: backend.NewGate(options.Load)}
	options.Policy = options.Policy.Resolved()
	b.options = options
	if options.Policy.Jail != policy.JailAuto && options.Policy.Jail != policy.JailNative {
		return nil, run.Errorf(run.Unsupported, "backend %s needs Linux: leave it out, or write %s", options.Policy.Jail, policy.JailNative)
	}
	var err error
	if b.network, err = newNetwork(options.Policy, options.Policy.Egress); err != nil {
		return nil, err
	}
	if b.read, err = resolved(options.Policy.Read); err == nil {
		b.write, err = resolved(options.Policy.Write)
	}
	if err != nil {
		return nil, err
	}
	if b.walls, err = options.Launcher.Walls(b.access(paths{}, 0)); err != nil {
		return nil, err
	}
	asked := options.Policy
	if b.network.mode != policy.EgressStrict {
		// A policy that asks for the host's network does not require a network wall.
		asked.Prefer = append(slices.Clone(asked.Prefer), policy.WallNetwork)
	}
	return b, refuse(asked, b.walls)
}

// Tier is `jail`.
func (b *Commands) Tier() policy.Tier { return policy.TierJail }

// Enforcement reports which walls stand.
func (b *Commands) Enforcement() run.Enforcement {
	e := run.Enforcement{Tier: policy.TierJail, Jail: policy.JailNative, Walls: maps.Clone(b.walls)}
	e.Walls[policy.WallCommand] = commandWords(b.options.Policy.AllowInterpreters)
	b.network.report(&e)
	return e
}

// Stats returns the tier's metrics.
func (b *Commands) Stats() observe.Stats {
	return observe.Stats{policy.TierJail: {Busy: b.gate.Busy(), Setups: b.setups.Durations()}}
}

// Open refuses what this tier cannot run.
func (b *Commands) Open(ctx context.Context, job backend.Job) (backend.Sandbox, error) {
	if err := refuseJob(job); err != nil {
		return nil, err
	}
	pass, err := b.gate.Enter(ctx)
	if err != nil {
		return nil, err
	}
	return &turn{pass, b.run}, nil
}

// Close ends every command and leaves nothing behind.
func (b *Commands) Close() error {
	b.gate.Close()
	return nil
}

// paths are the directories of a command.
type paths struct {
	scratch
	workspace string // canonical, empty for none
	readOnly  bool
}

// start is the command's working directory.
func (p paths) start() string {
	if p.workspace != "" {
		return p.workspace
	}
	return p.scratch.dir
}

func (b *Commands) access(p paths, port int) launch.Access {
	access := launch.Access{Read: slices.Clone(b.read), Write: slices.Clone(b.write), Programs: true}
	if p.dir != "" {
		access.Write = append(access.Write, p.dir)
	}
	switch {
	case p.workspace == "":
	case p.readOnly:
		access.Read = append(access.Read, p.workspace)
	default:
		access.Write = append(access.Write, p.workspace)
	}
	b.network.open(&access, port)
	return access
}

// writable lists the directories of the host that a command may write to.
func (b *Commands) writable(p paths) []string {
	directories := slices.Clone(b.write)
	if p.workspace != "" && !p.readOnly {
		directories = append(directories, p.workspace)
	}
	return directories
}

func (b *Commands) run(ctx context.Context, job backend.Job) (result run.Result, err error) {
	p := paths{readOnly: job.Command.WorkspaceReadOnly}
	if job.Command.Workspace != "" {
		if p.workspace, err = command.Workspace(job.Command.Workspace, b.options.Policy.DangerousWorkspace); err != nil {
			return result, err
		}
	}
	if p.scratch, err = makeScratch(); err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, p.remove()) }()
	program, refusals, err := b.admit(job, p)
	if err != nil {
		return result, err
	}
	if refusals = append(refusals, b.preflight(job)...); len(refusals) > 0 {
		result = backend.NotStarted(refusals)
		result.Enforcement = b.Enforcement()
		return result, nil
	}
	result, err = b.execute(ctx, job, p, program)
	result.Enforcement = b.Enforcement()
	return result, err
}

func (b *Commands) preflight(job backend.Job) []run.Violation {
	if b.network.mode == policy.EgressNone {
		return nil
	}
	return egress.Preflight(b.network.grants, job.Command.Args[1:])
}

func (b *Commands) execute(ctx context.Context, job backend.Job, p paths, program string) (result run.Result, err error) {
	proxy, err := b.network.serve()
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, proxy.close()) }()
	w := watch{scratch: p.scratch, directories: b.writable(p), closed: b.gate.Closed()}
	w.before = measure(w.directories)
	running, err := start(b.options.Launcher, launch.Order{
		Program: program, Args: job.Command.Args, Dir: p.start(), Env: b.environment(job, p, b.network.environment(proxy)),
		Access: b.access(p, proxy.port()), Limits: job.Limits,
	}, job, false)
	if err != nil {
		return result, notStarted(program, err)
	}
	b.setups.Since(running.began)
	e, err := running.run(ctx, nil, w)
	if err != nil {
		return result, err
	}
	e.Violations = proxy.violations()
	result, _ = judge(e)
	result.Traffic = proxy.traffic()
	return result, nil
}

// notStarted returns errors of the classes for which shells have exit codes.
func notStarted(program string, err error) error {
	switch {
	case run.ClassOf(err) != run.Internal:
		return err
	case errors.Is(err, os.ErrNotExist):
		return run.Errorf(run.NotFound, "%s cannot be executed: %w", program, err)
	case errors.Is(err, os.ErrPermission):
		return run.Errorf(run.NotExecutable, "%s cannot be executed: %w", program, err)
	}
	return run.Errorf(run.Internal, "%s cannot be started: %w", program, err)
}

// environment builds the command's environment. Nothing is inherited from the Runner.
func (b *Commands) environment(job backend.Job, p paths, proxy []string) []string {
	env := map[string]string{
		"HOME": p.dir, "TMPDIR": p.dir, "TEMP": p.dir, "TMP": p.dir, "PWD": p.start(),
		"USER": "guest", "LOGNAME": "guest", "LANG": "C.UTF-8",
	}
	for _, setting := range slices.Concat(systemEnvironment(), proxy) {
		name, value, _ := strings.Cut(setting, "=")
		env[name] = value
	}
	maps.Copy(env, job.Command.Env)
	env["PATH"] = strings.Join(b.searchDirectories(job), string(os.PathListSeparator))
	settings := make([]string, 0, len(env))
	for _, name := range slices.Sorted(maps.Keys(env)) {
		settings = append(settings, name+"="+env[name])
	}
	return settings
}

// searchDirectories is the PATH of a command. The check before the start and the command
// itself must find the same program, so both use this list.
func (b *Commands) searchDirectories(job backend.Job) []string {
	if value, ok := job.Command.Env["PATH"]; ok {
		return strings.Split(value, string(os.PathListSeparator))
	}
	return b.options.Launcher.System().Path
}
