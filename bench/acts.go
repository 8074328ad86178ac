package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"time"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/run"
)

// act is an action that is measured in turns with others, and its times.
type act struct {
	name string
	once func(context.Context) (time.Duration, error)
	samples
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
	return &act{name: name, once: func(ctx context.Context) (time.Duration, error) {
		begin := time.Now()
		result, err := runner.Run(ctx, req)
		d := time.Since(begin)
		if err == nil {
			err = check(result)
		}
		return d, err
	}}
}

// starting is an act that starts a process, writes to it and reads all of its output.
func starting(name string, line []string, stdin []byte, size int) *act {
	return &act{name: name, once: func(ctx context.Context) (time.Duration, error) {
		cmd := exec.CommandContext(ctx, line[0], line[1:]...)
		var out bytes.Buffer
		out.Grow(size + bytes.MinRead)
		cmd.Stdin, cmd.Stdout = bytes.NewReader(stdin), &out
		begin := time.Now()
		err := cmd.Run()
		d := time.Since(begin)
		if err == nil && out.Len() != size {
			err = fmt.Errorf("%d bytes of output instead of %d", out.Len(), size)
		}
		return d, err
	}}
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

// compare adds a row for the median of an act, with its ratio to that of another one.
func (t *table) compare(a, to *act) {
	t.add(row{
		position: rowPaths, Measure: a.name + ", p50", Value: milliseconds(a.p50()), Number: a.p50().Seconds(),
		Ratio: over(a.p50(), to.p50()), Note: fmt.Sprintf("to %s; p99 %s", to.name, milliseconds(a.p99())),
	})
}
