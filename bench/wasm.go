package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/bench/proc"
	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/backend/wasm"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

var (
	insideRequest = run.Request{Script: run.Script{Source: "result = 1 + 1"}, Tier: policy.TierWasm}
	wantInside    = "2"
)

// wasm measures guests inside this process: Python, and modules.
func (b *bench) wasm(ctx context.Context, t *table) (err error) {
	p := policy.Policy{Maxima: policy.Limits{CPUTime: 10 * time.Minute, WallTime: 10 * time.Minute}}
	ahead, err := cordon.NewRunnerContext(ctx, cordon.Options{Policy: p, Tier: policy.TierWasm})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ahead.Close()) }()
	if _, err := ahead.Run(ctx, insideRequest); run.ClassOf(err) == run.NotFound {
		t.add(row{position: rowWasm, Measure: "Python on wasm", Value: "not built", Note: "make python-wasm"})
		return nil
	}
	for _, measure := range []func(context.Context, *table, *cordon.Runner, policy.Policy) error{
		b.wasmStarts, b.wasmCores, b.wasmMemory, b.wasmModules, b.wasmSpeed, b.wasmCounting,
	} {
		if err := measure(ctx, t, ahead, p); err != nil {
			return err
		}
	}
	return nil
}

// once measures one run on the wasm tier.
func once(runner *cordon.Runner) func(context.Context) (time.Duration, error) {
	return func(ctx context.Context) (time.Duration, error) {
		begin := time.Now()
		result, err := runner.Run(ctx, insideRequest)
		d := time.Since(begin)
		return d, errors.Join(err, wants(result, wantInside))
	}
}

// wasmStarts measures interpreters that were made ahead, and those made on demand.
func (b *bench) wasmStarts(ctx context.Context, t *table, ahead *cordon.Runner, p policy.Policy) (err error) {
	demand, err := cordon.NewRunnerContext(ctx, cordon.Options{Policy: p, Tier: policy.TierWasm, OneShot: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, demand.Close()) }()
	session, err := ahead.OpenSession(ctx, run.SessionOptions{Tier: policy.TierWasm})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	fork := func(context.Context) (time.Duration, error) {
		begin := time.Now()
		forked, err := session.Fork()
		d := time.Since(begin)
		if err != nil {
			return 0, err
		}
		return d, forked.Close()
	}
	var plain, ready, made, forks samples
	for range b.few(20, 2) {
		if err := startTurn(ctx, &plain, b.plainLine(), "", ""); err != nil {
			return err
		}
		if err := b.paced(ctx, &ready, 50, slow, once(ahead)); err != nil {
			return err
		}
		if err := b.paced(ctx, &made, 50, slow, once(demand)); err != nil {
			return err
		}
		if err := b.paced(ctx, &forks, 20, slow, fork); err != nil {
			return err
		}
	}
	for _, m := range []struct {
		name  string
		of    samples
		most  float64
		words string
	}{
		{"Python on wasm, made ahead, 100 runs/s, p50", ready, 1.0 / 10, "1/10"},
		{"Python on wasm, made on demand, 100 runs/s, p50", made, 1.0 / 3, "1/3"},
	} {
		t.add(row{
			position: rowWasm, Measure: m.name, Value: milliseconds(m.of.p50()), Number: m.of.p50().Seconds(),
			Ratio: over(m.of.p50(), plain.p50()), Must: atMost(m.most, m.words), Note: "(p99 " + milliseconds(m.of.p99()) + ")",
		})
	}
	t.add(row{
		position: rowWasm, Measure: "a session on wasm, forked, p50", Value: milliseconds(forks.p50()), Number: forks.p50().Seconds(),
		Ratio: over(forks.p50(), plain.p50()), Note: "(p99 " + milliseconds(forks.p99()) + ")",
	})
	return nil
}

// wasmCores compares the throughput of two cores with that of one.
func (b *bench) wasmCores(ctx context.Context, t *table, ahead *cordon.Runner, _ policy.Policy) error {
	if b.cores < 2 {
		t.add(row{position: rowWasm, Measure: "Python on wasm, two cores vs one", Value: "only one core"})
		return nil
	}
	window := 2 * time.Second
	if b.quick {
		window = 300 * time.Millisecond
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var rates [2]float64
	rounds := b.few(5, 1)
	for range rounds {
		for i := range rates {
			runtime.GOMAXPROCS(i + 1)
			n, err := b.rate(window, func() error {
				_, err := once(ahead)(ctx)
				return err
			})
			if err != nil {
				return err
			}
			rates[i] += n / float64(rounds)
		}
	}
	t.add(row{
		position: rowWasm, Measure: "Python on wasm, two cores vs one", Value: fmt.Sprintf("%.0f runs/s", rates[1]), Number: rates[1],
		Ratio: rates[1] / rates[0], Must: atLeast(1.6, "1.6 ×"),
	})
	return nil
}

// wasmMemory measures the memory of one more interpreter after a small script.
func (b *bench) wasmMemory(ctx context.Context, t *table, ahead *cordon.Runner, _ policy.Policy) (err error) {
	n := b.few(200, 20)
	waitForRefill()
	before, err := proc.Private()
	if err != nil {
		return err
	}
	for range n {
		s, err := ahead.OpenSession(ctx, run.SessionOptions{Tier: policy.TierWasm})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.Close()) }()
		if result, err := s.Run(ctx, run.Request{Script: insideRequest.Script}); err != nil || !result.OK() {
			return errors.Join(err, wants(result, wantInside))
		}
	}
	after, err := proc.Private()
	if err != nil {
		return err
	}
	each := (after - before) / int64(n)
	t.add(row{
		position: rowWasm, Measure: fmt.Sprintf("Python on wasm, one more interpreter (%d of them)", n), Value: mebibytes(each), Number: float64(each),
		Must: promise{AtMost: float64(policy.MiB), Text: "≤ 1 MiB", OnValue: true},
	})
	return nil
}

// wasmModules measures small modules from instantiation to their end.
func (b *bench) wasmModules(ctx context.Context, t *table, ahead *cordon.Runner, _ policy.Policy) (err error) {
	directory, err := os.MkdirTemp("", "cordon-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(directory)) }()
	testdata := filepath.Join("internal", "backend", "wasm", "testdata")
	for _, m := range []struct {
		name string
		args []string
		must promise
		make []string
		env  []string
	}{
		{"C", nil, promise{AtMost: 200e-6, Text: "≤ 200 µs", OnValue: true}, []string{"clang-16", "--target=wasm32-wasi", "-O2", filepath.Join(testdata, "c", "hello.c"), "-o"}, nil},
		{"Go", []string{"hello"}, promise{}, []string{"go", "build", "-C", filepath.Join(testdata, "guest"), "-o"}, []string{"GOOS=wasip1", "GOARCH=wasm"}},
	} {
		measure := "a small module in " + m.name + ", instance and call, p50"
		out := filepath.Join(directory, m.name+".wasm")
		cmd := exec.CommandContext(ctx, m.make[0], append(m.make[1:], out)...)
		cmd.Env = append(os.Environ(), m.env...)
		if err := cmd.Run(); err != nil {
			t.add(row{position: rowWasm, Measure: measure, Value: "not built", Note: err.Error()})
			continue
		}
		binary, err := os.ReadFile(out)
		if err != nil {
			return err
		}
		module, err := ahead.OpenModule(ctx, binary)
		if err != nil {
			return err
		}
		var took samples
		for range b.few(2000, 50) {
			begin := time.Now()
			result, err := ahead.Run(ctx, run.Request{Module: run.ModuleRun{Module: module, Args: m.args}})
			took = append(took, time.Since(begin))
			if err != nil || !result.OK() {
				return errors.Join(err, fmt.Errorf("%s: %s", measure, result.Error))
			}
		}
		t.add(row{
			position: rowWasm, Measure: measure, Value: fmt.Sprintf("%d µs", took.p50().Microseconds()), Number: took.p50().Seconds(),
			Must: m.must, Note: fmt.Sprintf("(p99 %d µs)", took.p99().Microseconds()),
		})
		if err := module.Close(); err != nil {
			return err
		}
	}
	return nil
}

// insidePrograms keep a processor busy for a tenth of a second.
var insidePrograms = []struct {
	name, work string
	judged     bool
}{
	{"fib", "def work():\n    def fib(n):\n        return n if n < 2 else fib(n - 1) + fib(n - 2)\n    return fib(25)\n", true},
	{"nbody", nbody, true},
	{"json", "import json\ndef work():\n    data = [{'id': i, 'name': 'n%d' % i, 'tags': ['a', 'b'], 'x': i / 3} for i in range(2000)]\n    for _ in range(8):\n        text = json.dumps(data)\n        data = json.loads(text)\n    return len(text)\n", true},
	{"regex", "import re\ndef work():\n    text = 'the quick brown fox 12 jumps over 345 lazy dogs ' * 2000\n    return sum(len(re.findall(p, text)) for p in (r'[a-z]+', r'\\d+', r'(\\w+) (\\w+)', r'o.*?x'))\n", true},
	{"dicts and strings", "def work():\n    d = {}\n    for i in range(300_000):\n        k = 'k%d' % (i % 5000)\n        d[k] = d.get(k, 0) + 1\n    return len(d)\n", false},
	{"sum(range)", "def work():\n    return sum(range(6_000_000))\n", false},
	{"loop of integers", "def work():\n    a = 0\n    for i in range(1_500_000):\n        a = (a * 31 + i) & 0xFFFFFF\n    return a\n", false},
}

const nbody = `
def work():
    bodies = [[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 39.47], [4.84, -1.16, -0.10, 0.60, 2.81, -0.02, 0.037],
              [8.34, 4.12, -0.4, -1.01, 1.82, 0.008, 0.011], [12.89, -15.11, -0.22, 1.08, 0.86, -0.01, 0.0017]]
    for _ in range(4000):
        for i, a in enumerate(bodies):
            for b in bodies[i + 1:]:
                dx, dy, dz = a[0] - b[0], a[1] - b[1], a[2] - b[2]
                m = 0.001 / (dx * dx + dy * dy + dz * dz) ** 1.5
                a[3] -= dx * b[6] * m; a[4] -= dy * b[6] * m; a[5] -= dz * b[6] * m
                b[3] += dx * a[6] * m; b[4] += dy * a[6] * m; b[5] += dz * a[6] * m
        for a in bodies:
            a[0] += 0.001 * a[3]; a[1] += 0.001 * a[4]; a[2] += 0.001 * a[5]
    return round(bodies[0][0], 9)
`

// wasmSpeed compares long scripts with the native interpreter.
func (b *bench) wasmSpeed(ctx context.Context, t *table, ahead *cordon.Runner, _ policy.Policy) error {
	inside := func(ctx context.Context, source string) (times, string, error) {
		result, err := ahead.Run(ctx, run.Request{
			Script: run.Script{Source: source + clock + "result = [wall, cpu, str(value)]"}, Tier: policy.TierWasm,
			Limits: policy.Limits{CPUTime: 2 * time.Minute, WallTime: 5 * time.Minute},
		})
		if err == nil && !result.OK() {
			err = fmt.Errorf("%s: %s", result.Outcome, result.Error)
		}
		if err != nil {
			return times{}, "", err
		}
		took, value, err := parseTimes(result.Value)
		// WASI has no CPU clock; the host has one.
		took.cpu = took.wall
		return took, value, err
	}
	for _, p := range insidePrograms {
		in, out, err := takeTurns(ctx, p.work, b.few(7, 1), inside, b.outside)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		r := row{
			position: rowWasm, Measure: "Python on wasm, time of a long script: " + p.name, Value: fmt.Sprintf("%.3f s", in.wall.Seconds()),
			Number: in.wall.Seconds(), Ratio: over(in.wall, out.wall),
		}
		if p.judged {
			r.Must = atMost(8, "8 ×")
		}
		t.add(r)
	}
	return nil
}

// wasmCounting shows the cost of the fuel counters.
func (b *bench) wasmCounting(ctx context.Context, t *table, _ *cordon.Runner, p policy.Policy) (err error) {
	var best [2]time.Duration
	var tiers [2]*wasm.Backend
	for i, uncounted := range []bool{true, false} {
		if tiers[i], err = wasm.New(wasm.Options{Policy: p, Idle: 1, Uncounted: uncounted}); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, tiers[i].Close()) }()
	}
	for _, program := range insidePrograms[:4] {
		best[0], best[1] = time.Hour, time.Hour
		// More often than elsewhere: the difference is smaller than the noise of other programs.
		for range b.few(21, 1) {
			for i, tier := range tiers {
				took, err := workOn(ctx, tier, program.work)
				if err != nil {
					return err
				}
				best[i] = min(best[i], took)
			}
		}
		t.add(row{
			position: rowWasm, Measure: "Python on wasm, with counters vs without: " + program.name, Value: fmt.Sprintf("%.3f s", best[1].Seconds()),
			Number: best[1].Seconds(), Ratio: over(best[1], best[0]), Must: atMost(1.10, "1.10 ×"),
		})
	}
	return nil
}

// workOn returns the time that a script measured.
func workOn(ctx context.Context, tier *wasm.Backend, source string) (took time.Duration, err error) {
	job := backend.Job{Request: run.Request{Script: run.Script{Source: source + clock + "result = wall"}}, Limits: policy.DefaultMaxima()}
	sandbox, err := tier.Open(ctx, job)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, sandbox.Close()) }()
	result, err := sandbox.Run(ctx, job)
	if err != nil || !result.OK() {
		return 0, errors.Join(err, fmt.Errorf("%s: %s", result.Outcome, result.Error))
	}
	var seconds float64
	err = result.Decode(&seconds)
	return time.Duration(seconds * float64(time.Second)), err
}
