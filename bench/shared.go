package main

import (
	"context"
	"errors"
	"os"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// sharedCommands measures commands without namespaces, next to bubblewrap with the same binds,
// and next to a cold start with namespaces.
func (b *bench) sharedCommands(ctx context.Context, t *table) (err error) {
	workspace, err := os.MkdirTemp("", "cordon-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(workspace)) }()
	if err := os.Chmod(workspace, 0o777); err != nil { // root's commands have another user
		return err
	}
	warm := row{position: rowSharedCommand, Measure: "warm Runner.Run of /bin/true without namespaces, 100 runs/s, p50", Value: "not measured"}
	cold := row{position: rowColdSharedCommand, Measure: "cordon exec without namespaces from a cold start, vs with them", Value: "not measured"}
	defer func() { t.add(warm); t.add(cold) }()
	runner, err := commandRunner(ctx, policy.JailLandlock)
	if errors.Is(err, run.ErrUnsupported) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, runner.Close()) }()

	var rival, shared, native, runs samples
	line, _ := bubblewrapLines(workspace)
	for range b.few(20, 2) {
		for _, m := range []struct {
			into *samples
			line []string
		}{{&rival, line}, {&native, b.coldCommand(workspace)}, {&shared, b.coldCommand(workspace, "--jail", "landlock")}} {
			if len(m.line) == 0 {
				continue
			}
			if err := startTurn(ctx, m.into, m.line, "", ""); err != nil {
				return err
			}
		}
		if err := b.paced(ctx, &runs, 50, slow, trueIn(runner, workspace)); err != nil {
			return err
		}
		waitForRefill()
	}
	warm.Value, warm.Number = milliseconds(runs.p50()), runs.p50().Seconds()
	if len(rival) > 0 {
		warm.Ratio, warm.Note, warm.Must = over(runs.p50(), rival.p50()), "of bubblewrap", atMost(1.0/4, "1/4")
	}
	if len(shared) > 0 {
		cold.Value, cold.Number = milliseconds(shared.p50()), shared.p50().Seconds()
		cold.Ratio, cold.Note, cold.Must = over(shared.p50(), native.p50()), "of "+milliseconds(native.p50()), atMost(1, "1 ×")
	}
	return nil
}
