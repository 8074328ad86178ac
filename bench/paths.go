package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// failures compares scripts that fail with one that succeeds.
func (b *bench) failures(ctx context.Context, t *table) error {
	succeeds := runs("a script that succeeds", b.runner, warmRequest, value(wantWarm))
	fails := []*act{
		runs("a script that raises", b.runner, scriptOf("raise ValueError('no')"), ended(run.Raised)).most(2, 1.2),
		runs("a restricted script that raises", b.runner, restricted("raise ValueError('no')"), ended(run.Raised)),
		runs("a script that raises in the library", b.runner, scriptOf("import json\njson.loads('{')"), ended(run.Raised)),
		runs("a script with a syntax error", b.runner, scriptOf("x = ="), ended(run.Malformed)),
		runs("a script that exits", b.runner, scriptOf("raise SystemExit(3)"), ended(run.Exited)),
	}
	return b.against(ctx, t, b.few(10, 1), b.few(20, 2), slow, succeeds, fails...)
}

// otherLimits compares requests with limits of their own with one that has the defaults.
func (b *bench) otherLimits(ctx context.Context, t *table) error {
	with := func(name string, limits policy.Limits) *act {
		req := warmRequest
		req.Limits = limits
		return runs("a request with "+name, b.runner, req, value(wantWarm)).most(1.2, 1.05)
	}
	defaults := with("the default limits", policy.Limits{})
	others := []*act{
		with("more wall time", policy.Limits{WallTime: 40 * time.Second}),
		with("more CPU time", policy.Limits{CPUTime: 20 * time.Second}),
		with("more memory", policy.Limits{Memory: 512 * policy.MiB}),
		with("a higher output limit", policy.Limits{Output: 200 * policy.KiB}),
		with("fewer open files", policy.Limits{OpenFiles: 32}),
		with("fewer threads", policy.Limits{Threads: 4}),
		with("more of the first four", policy.Limits{
			WallTime: 40 * time.Second, CPUTime: 20 * time.Second, Memory: 512 * policy.MiB, Output: 200 * policy.KiB,
		}),
		with("less of all six", policy.Limits{
			WallTime: 2 * time.Second, CPUTime: 2 * time.Second, Memory: 32 * policy.MiB, Output: 16 * policy.KiB, OpenFiles: 32, Threads: 1,
		}),
	}
	return b.against(ctx, t, b.few(10, 1), b.few(20, 2), slow, defaults, others...)
}

// imports measures what the first import of a common module adds to a warm run.
func (b *bench) imports(ctx context.Context, t *table) error {
	without := runs("a script without imports", b.runner, scriptOf("result = 42"), value(wantWarm))
	var acts []*act
	for _, module := range []string{
		"json", "asyncio", "dataclasses", "typing", "statistics", "decimal", "csv", "collections.abc", "enum", "pathlib", "urllib.parse",
	} {
		acts = append(acts, runs("import "+module, b.runner, scriptOf("import "+module+"\nresult = 42"), value(wantWarm)))
	}
	if err := b.against(ctx, t, b.few(5, 1), b.few(10, 2), slow, without, acts...); err != nil {
		return err
	}
	var sum time.Duration
	for _, a := range acts[1:] { // json is preloaded for all
		sum += max(0, a.p50()-without.p50())
	}
	t.add(row{
		position: rowPaths, Measure: "first imports of ten common modules, beyond a run without, p50", Value: milliseconds(sum), Number: sum.Seconds(),
		Must: promise{AtMost: 2e-3, Text: "≤ 2 ms", OnValue: true}, Note: "the sum of the ten",
	})
	return addIdle(t, "idle worker with the most modules", 3.5)
}

// data compares large inputs, results and outputs with the same through the pipes of a plain
// Python. A smoke test has a fiftieth of the data.
func (b *bench) data(ctx context.Context, t *table) (err error) {
	runner, err := b.roomyRunner(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, runner.Close()) }()
	million := 1_000_000 / b.few(1, 50)
	plain := func(name, program, stdin, want string, flags ...string) *act {
		line := append([]string{b.python, "-I", "-S"}, flags...)
		return starting(name, append(line, "-c", program), stdin, want)
	}
	const (
		line  = 80
		block = 64 << 10
		count = "import json, sys\nsys.stdout.write(str(len(json.loads(sys.stdin.buffer.read()))))"
	)
	printed := 52 * million
	large := fmt.Sprintf("'x' * %d", 20*million)
	lines := fmt.Sprintf("for _ in range(%d): print('x' * %d)", printed/line, line-1)
	inLines := strings.Repeat(strings.Repeat("x", line-1)+"\n", printed/line)
	blocks := fmt.Sprintf("import sys\nfor _ in range(%d): sys.stdout.write('x' * %d)", printed/block, block)
	inBlocks := strings.Repeat("x", printed/block*block)
	text := `"` + strings.Repeat("x", 50*million) + `"`
	records, n := someRecords(10 * million)
	takes := func(name, input string, want int) *act {
		req := scriptOf("result = len(context)")
		req.Script.Context = json.RawMessage(input)
		return runs(name, runner, req, value(fmt.Sprint(want)))
	}
	prints := func(name, script string) *act {
		req := scriptOf(script)
		req.Streams.Out, req.Streams.CaptureLimit = io.Discard, policy.KiB
		return runs(name, runner, req, ended(run.Succeeded))
	}
	inParts := prints("52 MB of output in blocks of 64 KiB", blocks)
	pairs := [][2]*act{
		{takes("50 MB of context, one string", text, 50*million).most(1.5, 1.1), plain("json.loads from a pipe", count, text, fmt.Sprint(50*million))},
		{takes("10 MB of context, records", records, n).most(1.5, 1.1), plain("json.loads from a pipe", count, records, fmt.Sprint(n))},
		{
			runs("20 MB of result", runner, scriptOf("result = "+large), ended(run.Succeeded)).most(1.3, 0),
			plain("json.dumps to a pipe", "import json, sys\nsys.stdout.write(json.dumps("+large+"))", "", `"`+strings.Repeat("x", 20*million)+`"`),
		},
		{prints("52 MB of output in lines", lines).most(2.5, 1.5), plain("a plain Python", lines, "", inLines)},
		{prints("52 MB of output in lines", lines), plain("a plain Python -u", lines, "", inLines, "-u")},
		{inParts.most(1.5, 0), plain("a plain Python", blocks, "", inBlocks)},
	}
	for _, pair := range pairs {
		if err := b.against(ctx, t, b.few(3, 1), b.few(2, 1), time.Millisecond, pair[1], pair[0]); err != nil {
			return err
		}
	}
	return addAllocated(ctx, t, inParts)
}

// addAllocated measures how much memory the host allocates for a run, as Go counts it.
func addAllocated(ctx context.Context, t *table, a *act) error {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := a.once(ctx); err != nil {
		return err
	}
	runtime.ReadMemStats(&after)
	n := int64(after.TotalAlloc - before.TotalAlloc)
	t.add(row{
		position: rowPaths, Measure: a.name + ", memory that the host allocates", Value: mebibytes(n), Number: float64(n),
		Must: promise{AtMost: float64(policy.MiB), Text: "≤ 1 MiB", OnValue: true},
	})
	return nil
}

// someRecords returns a list of objects of about this size in JSON, and how many there are.
func someRecords(size int) (list string, n int) {
	var records []string
	for length := 0; length < size; n++ {
		records = append(records, fmt.Sprintf(`{"id": %d, "name": "customer %d", "balance": %d.25, "active": true, "tags": ["a", "b"]}`, n, n, n))
		length += len(records[n])
	}
	return "[" + strings.Join(records, ",") + "]", n
}

// manyGrants compares cold starts under a policy with 200 granted directories with the same
// under one that grants nothing.
func (b *bench) manyGrants(ctx context.Context, t *table) (err error) {
	if b.cordon == "" {
		t.add(row{position: rowPaths, Measure: "200 grants, cold, p50", Value: "no -cordon given"})
		return nil
	}
	directory, err := os.MkdirTemp("", "cordon-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(directory)) }()
	var grants []string
	for i := range 200 {
		path := filepath.Join(directory, "granted", fmt.Sprint(i))
		if err := os.MkdirAll(path, 0o755); err != nil {
			return err
		}
		grants = append(grants, "  - "+path)
	}
	some, none := filepath.Join(directory, "some.yaml"), filepath.Join(directory, "none.yaml")
	for name, text := range map[string]string{some: "v: 1\nread:\n" + strings.Join(grants, "\n") + "\n", none: "v: 1\n"} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			return err
		}
	}
	cold := func(name, file string, line ...string) *act {
		return starting(name, append([]string{b.cordon, line[0], "--policy", file}, line[1:]...), "", "")
	}
	for _, line := range [][]string{{"run", "-c", "pass"}, {"exec", "--", "/bin/true"}} {
		without, with := cold("one without", none, line...), cold("cordon "+line[0]+" with 200 grants", some, line...).most(1.2, 0)
		if err := b.against(ctx, t, b.few(10, 1), b.few(10, 2), slow, without, with); err != nil {
			return err
		}
	}
	return nil
}

func scriptOf(source string) run.Request { return run.Request{Script: run.Script{Source: source}} }

func restricted(source string) run.Request {
	return run.Request{Script: run.Script{Source: source, Restricted: true}}
}
