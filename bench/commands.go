package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"time"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/internal/backend/jail"
	"github.com/cordon-sandbox/cordon/internal/hostpath"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// commands measures the start of a command in its sandbox, next to bubblewrap with the same
// binds: warm, as a service runs one command after another in a workspace, and cold, as a
// person types it.
func (b *bench) commands(ctx context.Context, t *table) (err error) {
	workspace, err := os.MkdirTemp("", "cordon-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(workspace)) }()
	runner, err := commandRunner(ctx, policy.JailAuto)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, runner.Close()) }()
	command := trueIn(runner, workspace)

	var rival, brief, plain, warm, cold, chased samples
	line, short := bubblewrapLines(workspace)
	for range b.few(20, 2) {
		for _, m := range []struct {
			into *samples
			line []string
		}{
			{&plain, []string{"/bin/true"}}, {&rival, line}, {&brief, short},
			{&cold, b.coldCommand(workspace)},
		} {
			if len(m.line) == 0 {
				continue
			}
			if err := startTurn(ctx, m.into, m.line, "", ""); err != nil {
				return err
			}
		}
		if err := b.paced(ctx, &warm, 50, slow, command); err != nil {
			return err
		}
		if err := b.backToBack(ctx, &chased, 30, command); err != nil {
			return err
		}
		waitForRefill()
	}

	base := rival.p50()
	compared := func(position int, measure string, s samples, must, aim promise) {
		if len(s) == 0 {
			t.add(row{position: position, Measure: measure, Value: "not measured"})
			return
		}
		r := row{position: position, Measure: measure, Value: milliseconds(s.p50()), Number: s.p50().Seconds()}
		if len(rival) > 0 {
			r.Ratio, r.Note, r.Must, r.Aim = over(s.p50(), base), "of bubblewrap", must, aim
		}
		t.add(r)
	}
	compared(rowCommand, "warm Runner.Run of /bin/true, 100 runs/s, p50", warm, atMost(1.0/2, "1/2"), atMost(1.0/4, "1/4"))
	compared(rowColdCommand, "cordon exec -- /bin/true from a cold start, p50", cold, atMost(1.5, "1.5 ×"), atMost(1, "1 ×"))
	if len(brief) > 0 && len(cold) > 0 {
		t.add(row{
			position: rowColdCommandBrief, Measure: "the same, vs bubblewrap with one bind", Value: milliseconds(cold.p50()), Number: cold.p50().Seconds(),
			Ratio: over(cold.p50(), brief.p50()), Must: atMost(1.3, "1.3 ×"), Aim: atMost(1, "1 ×"), Note: "of " + milliseconds(brief.p50()),
		})
	}
	compared(rowCommandMore, "Runner.Run of /bin/true, back to back, p50", chased, promise{}, promise{})
	compared(rowCommandMore, "bubblewrap with the same binds, /bin/true, p50", rival, promise{}, promise{})
	compared(rowCommandMore, "bubblewrap with one bind, /bin/true, p50", brief, promise{}, promise{})
	compared(rowCommandMore, "/bin/true without a sandbox, p50", plain, promise{}, promise{})
	return b.commandRate(ctx, t, command, line)
}

// trueIn returns what runs /bin/true in a workspace.
func trueIn(runner *cordon.Runner, workspace string) func(context.Context) (time.Duration, error) {
	return func(ctx context.Context) (time.Duration, error) {
		begin := time.Now()
		result, err := runner.Run(ctx, run.Request{Command: run.Command{Args: []string{"/bin/true"}, Workspace: workspace}})
		d := time.Since(begin)
		if err == nil && !result.OK() {
			err = fmt.Errorf("/bin/true: %s: %s", result.Outcome, result.Error)
		}
		return d, err
	}
}

// commandRunner starts a Runner for commands.
func commandRunner(ctx context.Context, jail policy.JailBackend) (*cordon.Runner, error) {
	chosen, err := policy.Preset("command")
	if err != nil {
		return nil, err
	}
	chosen.Jail = jail
	return cordon.NewRunnerContext(ctx, cordon.Options{Policy: chosen, Tier: policy.TierJail})
}

// commandRate keeps all cores busy with commands, alternating with bubblewrap.
func (b *bench) commandRate(ctx context.Context, t *table, command func(context.Context) (time.Duration, error), rival []string) error {
	acts := []func() error{func() error { _, err := command(ctx); return err }}
	if len(rival) > 0 {
		acts = append(acts, func() error { _, err := start(ctx, rival, "", ""); return err })
	}
	rates, err := b.rates(acts...)
	if err != nil {
		return err
	}
	r := row{position: rowCommandRate, Measure: "Runner.Run of /bin/true, all cores, sustained", Value: fmt.Sprintf("%.0f commands/s", rates[0]), Number: rates[0]}
	if len(rival) > 0 {
		r.Ratio, r.Must, r.Aim = rates[0]/rates[1], atLeast(1.1, "1.1 ×"), atLeast(2, "2 ×")
		r.Note = fmt.Sprintf("of bubblewrap with the same binds: %.0f/s", rates[1])
	}
	t.add(r)
	return nil
}

func (b *bench) coldCommand(workspace string, flags ...string) []string {
	if b.cordon == "" {
		return nil
	}
	return slices.Concat([]string{b.cordon, "exec", "--workspace", workspace}, flags, []string{"--", "/bin/true"})
}

// bubblewrapLines binds what a command in cordon sees, and, for the shortest sandbox that
// people use, the whole host. Both have no filter and no limits, so they have less to do.
func bubblewrapLines(workspace string) (same, whole []string) {
	program, err := hostpath.FindProgram("bwrap", hostpath.Writable())
	if err != nil {
		return nil, nil
	}
	same = []string{
		program.Path, "--unshare-all", "--die-with-parent", "--new-session", "--uid", "1000", "--gid", "1000", "--hostname", "cordon",
		"--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--dir", "/run", "--symlink", "/tmp", "/var/tmp",
	}
	same = append(same, systemBinds(jail.SystemPaths())...)
	same = append(same, "--bind", workspace, workspace, "--chdir", workspace, "--", "/bin/true")
	whole = []string{program.Path, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--unshare-all", "/bin/true"}
	for _, line := range [][]string{same, whole} {
		if exec.Command(line[0], line[1:]...).Run() != nil {
			return nil, nil // it does not work here
		}
	}
	return same, whole
}

// systemBinds returns the arguments for the paths that this host has. Symlinks stay
// symlinks, as in a jail.
func systemBinds(paths []string) []string {
	var binds []string
	for _, path := range paths {
		info, err := os.Lstat(path)
		if err != nil {
			continue
		}
		if info.Mode()&os.ModeSymlink == 0 {
			binds = append(binds, "--ro-bind", path, path)
		} else if target, err := os.Readlink(path); err == nil {
			binds = append(binds, "--symlink", target, path)
		}
	}
	return binds
}
