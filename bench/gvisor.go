package main

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// gvisor measures guests on gVisor: the start of a script, a command in a sandbox that was
// booted ahead next to one that was not, and the speed of long scripts. Without runsc, nothing
// is measured.
func (b *bench) gvisor(ctx context.Context, t *table) (err error) {
	script := row{position: rowGVisor, Measure: "a script on gVisor, p50", Value: "not measured"}
	command := row{position: rowGVisor, Measure: "a command on gVisor, in a sandbox that was booted ahead, p50", Value: "not measured"}
	speed := row{position: rowGVisor, Measure: "speed of a long script on gVisor: " + programs[0].name, Value: "not measured"}
	defer func() { t.add(script); t.add(command); t.add(speed) }()
	workspace, err := os.MkdirTemp("", "cordon-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(workspace)) }()
	runner, err := cordon.NewRunnerContext(ctx, cordon.Options{Policy: policy.Policy{Python: b.python}, Tier: policy.TierGVisor})
	if errors.Is(err, run.ErrUnsupported) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, runner.Close()) }()

	once := func(request run.Request) func(context.Context) (time.Duration, error) {
		request.Tier = policy.TierGVisor
		return func(ctx context.Context) (time.Duration, error) {
			begin := time.Now()
			result, err := runner.Run(ctx, request)
			d := time.Since(begin)
			if err == nil && !result.OK() {
				err = errors.New(result.Error)
			}
			return d, err
		}
	}
	var plain, scripts, booted, cold samples
	for i := range b.few(10, 1) {
		if err := startTurn(ctx, &plain, b.plainLine(), "", ""); err != nil {
			return err
		}
		if err := b.backToBack(ctx, &scripts, b.few(5, 1), once(run.Request{Script: run.Script{Source: "pass"}})); err != nil {
			return err
		}
		// Another limit makes another sandbox, so that the first command has to boot it.
		request := run.Request{Command: run.Command{Args: []string{"/bin/true"}, Workspace: workspace}, Limits: policy.Limits{OpenFiles: 64 + i}}
		if err := b.backToBack(ctx, &cold, 1, once(request)); err != nil {
			return err
		}
		for range b.few(5, 1) {
			time.Sleep(time.Second / 2) // the next sandbox boots in a fifth of that
			if err := b.backToBack(ctx, &booted, 1, once(request)); err != nil {
				return err
			}
		}
	}
	script.Value, script.Number = milliseconds(scripts.p50()), scripts.p50().Seconds()
	script.Ratio, script.Note, script.Must = over(scripts.p50(), plain.p50()), "of a plain start", atMost(1, "1 ×")
	command.Value, command.Number = milliseconds(booted.p50()), booted.p50().Seconds()
	command.Ratio, command.Note, command.Must = over(booted.p50(), cold.p50()), "of "+milliseconds(cold.p50())+" without", atMost(1.0/5, "1/5")

	inside := func(ctx context.Context, source string) (times, string, error) {
		request := run.Request{Script: run.Script{Source: source + clock + "result = [wall, cpu, str(value)]"}, Tier: policy.TierGVisor, Limits: policy.Limits{CPUTime: 10 * time.Second}}
		result, err := runner.Run(ctx, request)
		if err == nil && !result.OK() {
			err = errors.New(result.Error)
		}
		if err != nil {
			return times{}, "", err
		}
		return parseTimes(result.Value)
	}
	in, out, err := b.compare(ctx, programs[0], 20, shortTurn, inside, b.outside)
	if err != nil {
		return err
	}
	speed.Value, speed.Number = milliseconds(in.wall), in.wall.Seconds()
	speed.Ratio, speed.Must = over(out.wall, in.wall), atLeast(0.75, "0.75 ×")
	return nil
}
