package wasm

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

func TestPrograms(t *testing.T) {
	onBoth(t, func(t *testing.T, options Options) {
		b := newBench(t, options)
		g, c := b.open(goGuest(t)), b.open(cGuest(t, "hello.c"))
		for _, test := range []struct {
			name    string
			module  *Module
			req     run.Request
			outcome run.Outcome
			words   string
		}{
			{"arguments", g, run.Request{Module: run.ModuleRun{Name: "me", Args: []string{"hello", "a b", ""}}}, run.Succeeded, "me hello a b \n"},
			{"no name", g, run.Request{Module: run.ModuleRun{Args: []string{"hello"}}}, run.Succeeded, "module hello\n"},
			{"no environment", g, run.Request{Module: run.ModuleRun{Args: []string{"environment"}}}, run.Succeeded, "[]\n"},
			{"environment", g, run.Request{Module: run.ModuleRun{Args: []string{"environment"}, Env: map[string]string{"B": "2", "A": "1"}}}, run.Succeeded, "[A=1 B=2]\n"},
			{"stdin", g, run.Request{Module: run.ModuleRun{Args: []string{"upper"}}, Stdin: "one\ntwo\n"}, run.Succeeded, "ONE\nTWO\n"},
			{"no stdin", g, run.Request{Module: run.ModuleRun{Args: []string{"input"}}}, run.Succeeded, "0 <nil>\n"},
			{"exit code", g, run.Request{Module: run.ModuleRun{Args: []string{"exit", "7"}}}, run.Exited, "exit code 7"},
			{"panic", g, run.Request{Module: run.ModuleRun{Args: []string{"panic"}}}, run.Exited, "on request"},
			{"C", c, run.Request{Module: run.ModuleRun{Args: []string{"x", "y"}}}, run.Succeeded, "hello from C, 2 arguments\n"},
		} {
			t.Run(test.name, func(t *testing.T) { expect(t, b.run(test.module, test.req), test.outcome, test.words) })
		}
	})
}

// A guest finds nothing that was not granted.
func TestDenyByDefault(t *testing.T) {
	b := newBench(t, Options{Cache: testCache})
	m := b.open(goGuest(t))
	for _, path := range []string{"/", "/etc/passwd", "../../etc/passwd", ".", "testdata/c/hello.c"} {
		if r := b.run(m, run.Request{Module: run.ModuleRun{Args: []string{"read", path}}}); !r.OK() || !strings.Contains(r.Stdout, "open "+path+": Bad file number") && !strings.Contains(r.Stdout, "open "+path+": ") {
			t.Errorf("%s: %s %s", path, r.Stdout, r.Error)
		}
	}
}

func TestStreams(t *testing.T) {
	b := newBench(t, Options{Cache: testCache})
	m := b.open(goGuest(t))
	var out bytes.Buffer
	r := b.run(m, run.Request{Module: run.ModuleRun{Args: []string{"upper"}}, Streams: run.Streams{In: strings.NewReader("one\n"), Out: &out}})
	expect(t, r, run.Succeeded, "ONE\n")
	if out.String() != "ONE\n" {
		t.Errorf("live: %q", out.String())
	}
}

// blocked is an input that blocks.
type blocked struct{ until <-chan struct{} }

func (b blocked) Read([]byte) (int, error) {
	<-b.until
	return 0, context.Canceled
}

func TestLimits(t *testing.T) {
	onBoth(t, func(t *testing.T, options Options) {
		b := newBench(t, options)
		m := b.open(goGuest(t))
		done := make(chan struct{})
		defer close(done)
		for _, test := range []struct {
			name    string
			req     run.Request
			outcome run.Outcome
			words   string
		}{
			{"endless loop", run.Request{Module: run.ModuleRun{Args: []string{"loop"}}, Limits: policy.Limits{WallTime: short}}, run.TimedOut, "timed out: wall time limit of 300ms reached"},
			{"CPU time", run.Request{Module: run.ModuleRun{Args: []string{"loop"}}, Limits: policy.Limits{CPUTime: short}}, run.OutOfCPU, "CPU time limit of 300ms reached"},
			{"endless sleep", run.Request{Module: run.ModuleRun{Args: []string{"sleep", "1h"}}, Limits: policy.Limits{WallTime: short}}, run.TimedOut, "wall time limit"},
			{"sleep is no work", run.Request{Module: run.ModuleRun{Args: []string{"sleep", "400ms"}}, Limits: policy.Limits{CPUTime: short}}, run.Succeeded, "4"},
			{"endless input", run.Request{Module: run.ModuleRun{Args: []string{"input"}}, Streams: run.Streams{In: blocked{done}}, Limits: policy.Limits{WallTime: short}}, run.TimedOut, "wall time limit"},
			{"endless host calls", run.Request{Module: run.ModuleRun{Args: []string{"randomly"}}, Limits: policy.Limits{WallTime: short}}, run.TimedOut, "wall time limit"},
			{"fuel", run.Request{Module: run.ModuleRun{Args: []string{"loop"}}, Limits: policy.Limits{Fuel: 20e6}}, run.OutOfFuel, "limit of 20M instructions reached"},
			{"memory", run.Request{Module: run.ModuleRun{Args: []string{"memory", "64"}}, Limits: policy.Limits{Memory: 32 * policy.MiB}}, run.OutOfMemory, "memory limit of 32MiB reached"},
			{"enough memory", run.Request{Module: run.ModuleRun{Args: []string{"memory", "64"}}, Limits: policy.Limits{Memory: 256 * policy.MiB}}, run.Succeeded, "64\n"},
			{"output is cut", run.Request{Module: run.ModuleRun{Args: []string{"flood", "100"}}, Limits: policy.Limits{Output: 4 * policy.KiB}}, run.Succeeded, "x"},
			{"output ends it", run.Request{Module: run.ModuleRun{Args: []string{"flood", "100000"}}, Limits: policy.Limits{Output: 4 * policy.KiB}, OnOutputLimit: policy.OutputKill}, run.OutOfOutput, "output limit of 4KiB reached"},
			{"recursion", run.Request{Module: run.ModuleRun{Args: []string{"recurse"}}}, run.Trapped, "nested too deeply"},
		} {
			t.Run(test.name, func(t *testing.T) {
				r := b.run(m, test.req)
				if options.Interpreter && test.name == "recursion" {
					test.words = "stack overflow" // the interpreter's limit is reached first
				}
				expect(t, r, test.outcome, test.words)
				if limit := test.req.Limits.Output; limit > 0 && (len(r.Stdout) != int(limit) || !r.StdoutTruncated) {
					t.Errorf("kept %d of %v", len(r.Stdout), r.StdoutSize)
				}
			})
		}
		expect(t, b.run(m, run.Request{Module: run.ModuleRun{Args: []string{"hello"}}}), run.Succeeded, "hello")
	})
}

func TestClosedModule(t *testing.T) {
	b := newBench(t, Options{Cache: testCache})
	m := b.open(cGuest(t, "hello.c"))
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := m.run(t.Context(), jobOf(m, run.Request{})); run.ClassOf(err) != run.Closed {
		t.Error(err)
	}
}

func TestCancel(t *testing.T) {
	b := newBench(t, Options{Cache: testCache})
	m := b.open(goGuest(t))
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	expect(t, b.runIn(ctx, m, run.Request{Module: run.ModuleRun{Args: []string{"loop"}}}), run.Canceled, "canceled")
}

// With the same input, a module uses the same fuel on both engines, and runs out of it at the
// same instruction.
func TestFuelIsExact(t *testing.T) {
	var seen []policy.Count
	onBoth(t, func(t *testing.T, options Options) {
		b := newBench(t, options)
		m := b.open(cGuest(t, "hello.c"))
		for range 3 {
			r := b.run(m, run.Request{Module: run.ModuleRun{Deterministic: true}})
			expect(t, r, run.Succeeded, "hello")
			seen = append(seen, r.Usage.Fuel)
		}
	})
	for _, used := range seen {
		if used != seen[0] || used == 0 {
			t.Fatalf("fuel: %v", seen)
		}
	}
	// The exact amount is enough, and one less is not.
	b := newBench(t, Options{Cache: testCache})
	m := b.open(cGuest(t, "hello.c"))
	expect(t, b.run(m, run.Request{Limits: policy.Limits{Fuel: seen[0]}}), run.Succeeded, "hello")
	expect(t, b.run(m, run.Request{Limits: policy.Limits{Fuel: seen[0] / 2}}), run.OutOfFuel, "instructions reached")
}

func TestDeterministic(t *testing.T) {
	b := newBench(t, Options{Cache: testCache})
	m := b.open(goGuest(t))
	for _, args := range [][]string{{"clock"}, {"random", "16"}, {"sleep", "1h"}} {
		same := func(deterministic bool) (string, string) {
			req := run.Request{Module: run.ModuleRun{Args: args, Deterministic: deterministic}, Limits: policy.Limits{WallTime: 10 * time.Second}}
			return b.run(m, req).Stdout, b.run(m, req).Stdout
		}
		if one, two := same(true); one != two || one == "" {
			t.Errorf("%v: %q and %q", args, one, two)
		}
		if args[0] == "sleep" {
			continue
		}
		if one, two := same(false); one == two {
			t.Errorf("%v: twice %q", args, one)
		}
	}
}

func TestPolicyCanMakeModulesDeterministic(t *testing.T) {
	b := newBench(t, Options{Cache: testCache, Policy: policy.Policy{Deterministic: true}})
	m := b.open(goGuest(t))
	if one, two := b.run(m, run.Request{Module: run.ModuleRun{Args: []string{"clock"}}}).Stdout, b.run(m, run.Request{Module: run.ModuleRun{Args: []string{"clock"}}}).Stdout; one != two {
		t.Errorf("%q and %q", one, two)
	}
}

func TestPolicyWithKernelWallsIsRefused(t *testing.T) {
	_, err := New(Options{Policy: policy.Policy{Require: []policy.Wall{policy.WallLandlock}}})
	if run.ClassOf(err) != run.Unsupported || !strings.Contains(err.Error(), "requires landlock") {
		t.Error(err)
	}
}
