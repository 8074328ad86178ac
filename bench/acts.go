package main

import (
	"context"
	"fmt"
	"time"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/run"
)

// act is an action that is measured in turns with others, and its times.
type act struct {
	name      string
	once      func(context.Context) (time.Duration, error)
	must, aim promise // on its ratio to another act
	samples
}

// most promises that the act takes at most so many times as long as what it is compared
// with, and names the aim; 0 means none.
func (a *act) most(must, aim float64) *act {
	a.must = atMost(must, fmt.Sprintf("%v ×", must))
	if aim > 0 {
		a.aim = atMost(aim, fmt.Sprintf("%v ×", aim))
	}
	return a
}

// turns measures acts in alternating turns. The first of each turn does not count: it warms
// the caches after the other acts.
func (b *bench) turns(ctx context.Context, rounds, each int, pace time.Duration, acts ...*act) error {
	for range rounds {
		for _, a := range acts {
			var turn samples
			if err := b.paced(ctx, &turn, each+1, pace, a.once); err != nil {
				return fmt.Errorf("%s: %w", a.name, err)
			}
			a.samples = append(a.samples, turn[1:]...)
		}
	}
	return nil
}

// runs is an act that runs a request and checks its end.
func runs(name string, runner *cordon.Runner, req run.Request, check func(run.Result) error) *act {
	return &act{name: name, once: func(ctx context.Context) (time.Duration, error) { return timed(ctx, runner, req, check) }}
}

// starting is an act that starts a process, and checks its output.
func starting(name string, line []string, stdin, want string) *act {
	return &act{name: name, once: func(ctx context.Context) (time.Duration, error) { return start(ctx, line, stdin, want) }}
}

// timed runs a request and checks its end.
func timed(ctx context.Context, runner *cordon.Runner, req run.Request, check func(run.Result) error) (time.Duration, error) {
	begin := time.Now()
	result, err := runner.Run(ctx, req)
	d := time.Since(begin)
	if err == nil {
		err = check(result)
	}
	return d, err
}

// value checks that a run gave this value.
func value(want string) func(run.Result) error {
	return func(result run.Result) error { return wants(result, want) }
}

// ended checks how a run ended.
func ended(outcome run.Outcome) func(run.Result) error {
	return func(result run.Result) error {
		if result.Outcome != outcome {
			return fmt.Errorf("%s instead of %s: %s", result.Outcome, outcome, result.Error)
		}
		return nil
	}
}

// against measures acts in turns with another one, and adds a row for each: its median, and
// the ratio to that of the other one.
func (b *bench) against(ctx context.Context, t *table, rounds, each int, pace time.Duration, to *act, acts ...*act) error {
	if err := b.turns(ctx, rounds, each, pace, append(acts, to)...); err != nil {
		return err
	}
	for _, a := range acts {
		t.add(row{
			position: rowPaths, Measure: a.name + ", p50", Value: milliseconds(a.p50()), Number: a.p50().Seconds(),
			Ratio: over(a.p50(), to.p50()), Must: a.must, Aim: a.aim, Note: fmt.Sprintf("to %s; p99 %s", to.name, milliseconds(a.p99())),
		})
	}
	return nil
}
