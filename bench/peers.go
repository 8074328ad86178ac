package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/cordon-sandbox/cordon/internal/backend/jail"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// peersPhase is measured with -peers: other sandboxes, which `scripts/setup peers` installs.
var peersPhase = phase{"peers", policy.TierProcess, (*bench).peers}

const (
	sandlockProgram = ".cache/peers/bin/sandlock"
	montyPython     = ".cache/peers/monty/bin/python"
)

//go:embed monty.py
var montySource string

// peers compares commands with sandlock, and scripts with Monty.
func (b *bench) peers(ctx context.Context, t *table) error {
	for _, peer := range []struct {
		name, program string
		measure       func(context.Context, *table, string) error
	}{
		{"sandlock", sandlockProgram, b.sandlock}, {"Monty", montyPython, b.monty},
	} {
		program, err := filepath.Abs(peer.program)
		if err != nil {
			return err
		}
		if _, err := os.Stat(program); err != nil {
			t.add(row{position: rowPeers, Measure: "cordon beside " + peer.name, Value: "not installed", Note: "scripts/setup peers"})
			continue
		}
		if err := peer.measure(ctx, t, program); err != nil {
			return fmt.Errorf("%s: %w", peer.name, err)
		}
	}
	return nil
}

// beside measures an act in turns with one of a peer, and adds a row for each.
func (b *bench) beside(ctx context.Context, t *table, rounds, each int, peer, ours *act) error {
	if err := b.turns(ctx, b.few(rounds, 1), b.few(each, 2), slow, peer, ours); err != nil {
		return err
	}
	for _, a := range []*act{ours, peer} {
		t.add(row{
			position: rowPeers, Measure: a.name + ", p50", Value: milliseconds(a.p50()), Number: a.p50().Seconds(),
			Ratio: over(a.p50(), peer.p50()), Note: fmt.Sprintf("to %s; p99 %s", peer.name, milliseconds(a.p99())),
		})
	}
	return nil
}

// sandlock compares commands in a workspace: one from a cold start, many at once, and one
// with 200 granted directories.
func (b *bench) sandlock(ctx context.Context, t *table, program string) (err error) {
	granted, err := makeDirectories(200)
	if err != nil {
		return err
	}
	workspace := filepath.Dir(granted[0])
	defer func() { err = errors.Join(err, os.RemoveAll(workspace)) }()
	bare := starting("sandlock run -- /bin/true", sandlockLine(program, workspace, nil), "", "")
	some := starting("sandlock run with 200 grants", sandlockLine(program, workspace, granted), "", "")
	if err := b.beside(ctx, t, 10, 10, bare, some); err != nil {
		return err
	}
	if b.cordon != "" {
		bare.samples = nil
		if err := b.beside(ctx, t, 10, 10, bare, starting("cordon exec -- /bin/true", b.coldCommand(workspace), "", "")); err != nil {
			return err
		}
	}
	return b.sandlockRate(ctx, t, bare, workspace)
}

// sandlockRate keeps all cores busy with commands, in turns.
func (b *bench) sandlockRate(ctx context.Context, t *table, peer *act, workspace string) (err error) {
	runner, err := commandRunner(ctx, policy.JailAuto)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, runner.Close()) }()
	ours := runs("Runner.Run of /bin/true", runner, run.Request{Command: run.Command{Args: []string{"/bin/true"}, Workspace: workspace}}, ended(run.Succeeded))
	rates, err := b.rates(
		func() error { _, err := ours.once(ctx); return err },
		func() error { _, err := peer.once(ctx); return err },
	)
	if err != nil {
		return err
	}
	t.add(row{
		position: rowPeers, Measure: "Runner.Run of /bin/true, all cores, sustained, vs sandlock", Value: fmt.Sprintf("%.0f commands/s", rates[0]), Number: rates[0],
		Ratio: rates[0] / rates[1], Note: fmt.Sprintf("of sandlock: %.0f/s", rates[1]),
	})
	return nil
}

// sandlockLine grants what a command in cordon sees: the system, its workspace, and more.
func sandlockLine(program, workspace string, granted []string) []string {
	line := []string{program, "run", "--cwd", workspace, "-w", workspace}
	for _, path := range append(jail.SystemPaths(), granted...) {
		if _, err := os.Stat(path); err == nil {
			line = append(line, "-r", path)
		}
	}
	return append(line, "--", "/bin/true")
}

// monty compares a small script and 50 MB of context. Monty has no kernel walls, and its
// values do not pass through JSON.
func (b *bench) monty(ctx context.Context, t *table, python string) (err error) {
	size := 50 * megabyte / b.few(1, 50)
	p, err := startClocked("Monty", exec.CommandContext(ctx, python, "-I", "-c", montySource, fmt.Sprint(size)))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.stop()) }()
	runner, err := b.roomyRunner(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, runner.Close()) }()
	in := func(name, measure, want string) *act {
		return &act{name: name, once: func(context.Context) (time.Duration, error) {
			var took samples
			err := p.turn(&took, want, measure)
			return took.p50(), err
		}}
	}
	data := scriptOf("result = len(context)")
	data.Script.Context = json.RawMessage(`"` + strings.Repeat("x", size) + `"`)
	return errors.Join(
		b.beside(ctx, t, 10, 30, in("Monty, a small script", "warm", wantWarm), runs("warm Runner.Run", b.runner, warmRequest, value(wantWarm))),
		b.beside(ctx, t, 5, 3, in("Monty, 50 MB of context", "data", fmt.Sprint(size)), runs("50 MB of context, one string", runner, data, value(fmt.Sprint(size)))),
	)
}
