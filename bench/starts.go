package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/cordon-sandbox/cordon/internal/text"
	"github.com/cordon-sandbox/cordon/run"
)

// The paces of a service. At the steady pace, processors and caches stay warm; at the slow
// one, much of a run's time goes into waking processors and filling caches. The pool has
// time to refill at both.
const (
	steady = time.Second / 300
	slow   = time.Second / 100
)

// subprocess is what people write without a sandbox: one process per run, JSON in and out.
const subprocess = `import json, sys
context = json.load(sys.stdin)
script = "result = context['a'] + 1"
scope = {"context": context}
exec(script, scope)
json.dump({"result": scope["result"]}, sys.stdout)`

var (
	warmRequest = run.Request{Script: run.Script{Source: `result = context["a"] + 1`, Context: map[string]any{"a": 41}}}
	wantWarm    = "42"
	// warmJSON is warmRequest for the frontends.
	warmJSON = `{"script": "result = context[\"a\"] + 1", "context": {"a": 41}}`
)

// starts measures everything that takes milliseconds.
func (b *bench) starts(ctx context.Context, t *table) error {
	var plain, child, bwrap, cold, warm, paced, fresh, ruled, chased samples
	rounds := b.few(20, 2)
	for range rounds {
		for _, m := range []struct {
			into  *samples
			line  []string
			stdin string
			want  string
		}{
			{&plain, b.plainLine(), "", ""},
			{&child, []string{b.python, "-I", "-S", "-c", subprocess}, `{"a": 41}`, `{"result": 42}`},
			{&bwrap, appendIf(b.bwrap, b.plainLine()...), "", ""},
			{&cold, b.coldLine(), "", ""},
		} {
			if len(m.line) == 0 {
				continue
			}
			if err := startTurn(ctx, m.into, m.line, m.stdin, m.want); err != nil {
				return err
			}
		}
		if err := b.paced(ctx, &warm, 100, steady, b.warm); err != nil {
			return err
		}
		if err := b.paced(ctx, &paced, 100, slow, b.warm); err != nil {
			return err
		}
		if err := b.paced(ctx, &fresh, 50, slow, b.another); err != nil {
			return err
		}
		if err := b.paced(ctx, &ruled, 50, slow, b.ruled); err != nil {
			return err
		}
		if err := b.backToBack(ctx, &chased, 100, b.warm); err != nil {
			return err
		}
		waitForRefill()
	}

	base := plain.p50()
	t.add(row{position: rowPlain, Measure: "plain python3 -I -S -c pass, p50", Value: milliseconds(base), Number: base.Seconds(), Ratio: 1})
	t.add(row{
		position: rowWarm, Measure: "warm Runner.Run, 100 runs/s, p50", Value: milliseconds(paced.p50()), Number: paced.p50().Seconds(),
		Ratio: over(paced.p50(), base), Must: atMost(1.0/25, "1/25"), Aim: atMost(1.0/60, "1/60"),
	})
	t.add(row{
		position: rowSteady, Measure: "warm Runner.Run, 100 runs/s, a new script each time, p50", Value: milliseconds(fresh.p50()), Number: fresh.p50().Seconds(),
		Ratio: over(fresh.p50(), base),
	})
	t.add(row{
		position: rowSteady, Measure: "warm Runner.Run, restricted, 100 runs/s, p50", Value: milliseconds(ruled.p50()), Number: ruled.p50().Seconds(),
		Ratio: over(ruled.p50(), base),
	})
	t.add(row{
		position: rowSteady, Measure: "warm Runner.Run, 300 runs/s, p50", Value: milliseconds(warm.p50()), Number: warm.p50().Seconds(),
		Ratio: over(warm.p50(), base),
	})
	t.add(row{
		position: rowPaced, Measure: fmt.Sprintf("the same, 100 runs/s, p99 of %d", len(paced)), Value: milliseconds(paced.p99()), Number: paced.p99().Seconds(),
		Ratio: over(paced.p99(), base), Must: atMost(1.0/8, "1/8"), Aim: atMost(1.0/20, "1/20"),
	})
	t.add(row{
		position: rowBackToBack, Measure: "Runner.Run, back to back, p50", Value: milliseconds(chased.p50()),
		Number: chased.p50().Seconds(), Ratio: over(chased.p50(), base),
	})
	t.add(row{
		position: rowSubprocess, Measure: "a plain subprocess per run, JSON in and out, p50", Value: milliseconds(child.p50()),
		Number: child.p50().Seconds(), Ratio: over(child.p50(), base),
	})
	if len(bwrap) > 0 {
		t.add(row{
			position: rowBubblewrap, Measure: "bubblewrap with Python, p50", Value: milliseconds(bwrap.p50()),
			Number: bwrap.p50().Seconds(), Ratio: over(bwrap.p50(), base),
		})
	} else {
		t.add(row{position: rowBubblewrap, Measure: "bubblewrap with Python, p50", Value: "not installed"})
	}
	if len(cold) > 0 {
		t.add(row{
			position: rowCold, Measure: "cordon run -c pass from a cold start, p50", Value: milliseconds(cold.p50()), Number: cold.p50().Seconds(),
			Ratio: over(cold.p50(), base), Must: atMost(2, "2 ×"), Aim: atMost(1.3, "1.3 ×"),
			Note: "bubblewrap with Python: " + cmp.Or(ratioText(over(bwrap.p50(), base)), "not installed"),
		})
	} else {
		t.add(row{position: rowCold, Measure: "cordon run -c pass from a cold start, p50", Value: "no -cordon given"})
	}
	return nil
}

func (b *bench) plainLine() []string { return []string{b.python, "-I", "-S", "-c", "pass"} }

// coldLine lets cordon find the interpreter, as a user would: the search is part of a cold
// start.
func (b *bench) coldLine() []string {
	switch {
	case b.cordon == "":
		return nil
	case b.options.python != "":
		return []string{b.cordon, "run", "--python", b.options.python, "-c", "pass"}
	}
	return []string{b.cordon, "run", "-c", "pass"}
}

func appendIf(head []string, tail ...string) []string {
	if len(head) == 0 {
		return nil
	}
	return append(head[:len(head):len(head)], tail...)
}

// startTurn makes ten starts, after one that does not count: the caches hold the files of
// the turn before.
func startTurn(ctx context.Context, into *samples, line []string, stdin, want string) error {
	for i := range 11 {
		d, err := start(ctx, line, stdin, want)
		if err != nil {
			return err
		}
		if i > 0 {
			*into = append(*into, d)
		}
	}
	return nil
}

// start runs one process from its fork to its end.
func start(ctx context.Context, line []string, stdin, want string) (time.Duration, error) {
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	var out, problem bytes.Buffer
	// Use pipes and their readers only if they are needed: a plain start must not pay
	// for them.
	if want != "" {
		out.Grow(len(want) + bytes.MinRead)
		cmd.Stdin, cmd.Stdout = strings.NewReader(stdin), &out
	}
	begin := time.Now()
	err := cmd.Run()
	d := time.Since(begin)
	if err != nil {
		cmd := exec.CommandContext(ctx, line[0], line[1:]...)
		cmd.Stdin, cmd.Stderr = strings.NewReader(stdin), &problem
		_ = cmd.Run() // once more, for its error output
		return 0, fmt.Errorf("%s: %w: %s", strings.Join(line, " "), err, bytes.TrimSpace(problem.Bytes()))
	}
	if out.String() != want {
		return 0, fmt.Errorf("%s: wrote %s", line[0], text.Clip(out.String(), 200))
	}
	return d, nil
}

// paced starts a run each tick, and measures from the call to the answer.
func (b *bench) paced(ctx context.Context, into *samples, n int, pace time.Duration, once func(context.Context) (time.Duration, error)) error {
	waitForRefill()
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for range n {
		<-tick.C
		d, err := once(ctx)
		if err != nil {
			return err
		}
		*into = append(*into, d)
	}
	return nil
}

// backToBack measures a single caller without pauses: it uses up the workers that were forked
// ahead, and then each run waits for a fork.
func (b *bench) backToBack(ctx context.Context, into *samples, n int, once func(context.Context) (time.Duration, error)) error {
	for range n {
		d, err := once(ctx)
		if err != nil {
			return err
		}
		*into = append(*into, d)
	}
	return nil
}

func (b *bench) warm(ctx context.Context) (time.Duration, error) { return b.timed(ctx, warmRequest) }

// another is warm with a new script, which has to be compiled.
func (b *bench) another(ctx context.Context) (time.Duration, error) {
	b.scripts++
	req := warmRequest
	req.Script.Source += fmt.Sprintf(" # %d", b.scripts)
	return b.timed(ctx, req)
}

// ruled is warm under the language rules, behind all the walls.
func (b *bench) ruled(ctx context.Context) (time.Duration, error) {
	req := warmRequest
	req.Script.Restricted = true
	return b.timed(ctx, req)
}

func (b *bench) timed(ctx context.Context, req run.Request) (time.Duration, error) {
	return timed(ctx, b.runner, req, value(wantWarm))
}

// wants checks the value of a result: a fast wrong answer does not count.
func wants(result run.Result, value string) error {
	if string(result.Value) != value {
		return fmt.Errorf("%s: result %s, %s", result.Outcome, result.Value, result.Error)
	}
	return nil
}

// waitForRefill gives the pool time to refill, so that its forks do not slow the next
// measure.
func waitForRefill() { time.Sleep(100 * time.Millisecond) }
