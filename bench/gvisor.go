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
	"github.com/cordon-sandbox/cordon/bench/proc"
	"github.com/cordon-sandbox/cordon/internal/hostpath"
	"github.com/cordon-sandbox/cordon/internal/runsc"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// gvisor measures guests on gVisor: scripts and commands in sandboxes that were booted ahead,
// next to those that were not and to runsc alone; the memory of a sandbox that waits; and the
// speed of long scripts. Where gVisor does not run, the table says why.
func (b *bench) gvisor(ctx context.Context, t *table) error {
	for _, part := range []struct {
		row     row
		measure func(context.Context, *row) error
	}{
		{row{Measure: "a script on gVisor, p50", Must: atMost(1, "1 ×")}, b.gvisorScript},
		{row{Measure: "the same, vs runsc from cold", Must: atMost(1.0/10, "1/10")}, b.gvisorCold},
		{row{Measure: "a command on gVisor, in a sandbox that was booted ahead, p50", Must: atMost(1.0/5, "1/5")}, b.gvisorCommand},
		{row{Measure: "sandbox on gVisor with an interpreter that waits"}, b.gvisorMemory},
		{row{Measure: "speed of a long script on gVisor: " + programs[0].name, Must: atLeast(0.75, "0.75 ×")}, b.gvisorSpeed},
	} {
		r := part.row
		r.position = rowGVisor
		if err := part.measure(ctx, &r); errors.Is(err, run.ErrUnsupported) {
			r.Value, r.Must, r.Note = "not measured", promise{}, err.Error()
		} else if err != nil {
			return err
		}
		t.add(r)
	}
	return nil
}

// onGVisor runs requests on the tier, one at a time.
type onGVisor struct{ runner *cordon.Runner }

func (b *bench) onGVisor(ctx context.Context, use func(onGVisor) error) error {
	runner, err := cordon.NewRunnerContext(ctx, cordon.Options{Policy: policy.Policy{Python: b.python}, Tier: policy.TierGVisor})
	if err != nil {
		return err
	}
	return errors.Join(use(onGVisor{runner}), runner.Close())
}

func (g onGVisor) run(ctx context.Context, request run.Request) (run.Result, error) {
	request.Tier = policy.TierGVisor
	result, err := g.runner.Run(ctx, request)
	if err == nil && !result.OK() {
		err = errors.New(result.Error)
	}
	return result, err
}

// timed adds one run.
func (g onGVisor) timed(ctx context.Context, into *samples, request run.Request) error {
	return into.once(func() error {
		_, err := g.run(ctx, request)
		return err
	})
}

// booted waits until a sandbox waits.
func (g onGVisor) booted(ctx context.Context) error {
	for g.runner.Stats()[policy.TierGVisor].Idle == 0 {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
	return nil
}

var pass = run.Request{Script: run.Script{Source: "pass"}}

// warmScripts measures scripts whose interpreter waited, in turns with something else.
func (b *bench) warmScripts(ctx context.Context, scripts *samples, other func() error) error {
	return b.onGVisor(ctx, func(g onGVisor) error {
		if _, err := g.run(ctx, pass); err != nil {
			return err
		}
		for range b.few(50, 2) {
			if err := g.booted(ctx); err != nil {
				return err
			}
			if err := errors.Join(g.timed(ctx, scripts, pass), other()); err != nil {
				return err
			}
		}
		return nil
	})
}

func (b *bench) gvisorScript(ctx context.Context, r *row) error {
	var scripts, plain samples
	if err := b.warmScripts(ctx, &scripts, func() error { return startTurn(ctx, &plain, b.plainLine(), "", "") }); err != nil {
		return err
	}
	r.Value, r.Number = milliseconds(scripts.p50()), scripts.p50().Seconds()
	r.Ratio, r.Note = over(scripts.p50(), plain.p50()), "of a plain start"
	return nil
}

func (b *bench) gvisorCold(ctx context.Context, r *row) (err error) {
	program, err := runsc.Find(hostpath.Guests{})
	if err != nil {
		return run.Wrap(run.Unsupported, err)
	}
	state, err := os.MkdirTemp("", "cordon-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(state)) }()
	var scripts, cold samples
	err = b.warmScripts(ctx, &scripts, func() error {
		return cold.once(func() error {
			alone := exec.CommandContext(ctx, program.Path, append([]string{
				"--root=" + state, "--rootless", "--network=none", "--ignore-cgroups", "--platform=systrap", "do",
			}, b.plainLine()...)...)
			if out, err := alone.CombinedOutput(); err != nil {
				return fmt.Errorf("runsc: %w: %s", err, out)
			}
			return nil
		})
	})
	if err != nil {
		return err
	}
	r.Value, r.Number = milliseconds(scripts.p50()), scripts.p50().Seconds()
	r.Ratio, r.Note = over(scripts.p50(), cold.p50()), "of "+milliseconds(cold.p50())
	return nil
}

func (b *bench) gvisorCommand(ctx context.Context, r *row) (err error) {
	workspace, err := os.MkdirTemp("", "cordon-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(workspace)) }()
	request := run.Request{Command: run.Command{Args: []string{"/bin/true"}, Workspace: workspace}}
	var booted, cold samples
	for range b.few(10, 1) {
		err := b.onGVisor(ctx, func(g onGVisor) error {
			if err := g.timed(ctx, &cold, request); err != nil {
				return err
			}
			for range b.few(5, 1) {
				if err := errors.Join(g.booted(ctx), g.timed(ctx, &booted, request)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	r.Value, r.Number = milliseconds(booted.p50()), booted.p50().Seconds()
	r.Ratio, r.Note = over(booted.p50(), cold.p50()), "of "+milliseconds(cold.p50())+" without"
	return nil
}

func (b *bench) gvisorMemory(ctx context.Context, r *row) error {
	return b.onGVisor(ctx, func(g onGVisor) error {
		before, err := proc.Descendants(os.Getpid())
		if err != nil {
			return err
		}
		if _, err := g.run(ctx, pass); err != nil {
			return err
		}
		if err := g.booted(ctx); err != nil {
			return err
		}
		all, err := proc.Descendants(os.Getpid())
		if err != nil {
			return err
		}
		size, err := proc.Held(slices.DeleteFunc(all, func(pid int) bool { return slices.Contains(before, pid) }))
		if err != nil {
			r.Value, r.Note = "unknown", "only root may read it"
			return nil
		}
		r.Value, r.Number = mebibytes(size), float64(size)
		return nil
	})
}

func (b *bench) gvisorSpeed(ctx context.Context, r *row) error {
	return b.onGVisor(ctx, func(g onGVisor) error {
		inside := func(ctx context.Context, source string) (times, string, error) {
			result, err := g.run(ctx, run.Request{
				Script: run.Script{Source: source + clock + "result = [wall, cpu, str(value)]"}, Limits: policy.Limits{CPUTime: 10 * time.Second},
			})
			if err != nil {
				return times{}, "", err
			}
			return parseTimes(result.Value)
		}
		in, out, err := b.compare(ctx, programs[0], 20, shortTurn, inside, b.outside)
		if err != nil {
			return err
		}
		r.Value, r.Number, r.Ratio = milliseconds(in.wall), in.wall.Seconds(), over(out.wall, in.wall)
		return nil
	})
}
