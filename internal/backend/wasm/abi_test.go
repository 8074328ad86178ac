package wasm

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/backend/wasm/memory"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// signedLEB128 encodes a number as instructions take it.
func signedLEB128(n int64) (out []byte) {
	for {
		low := byte(n & 0x7f)
		n >>= 7
		if n == 0 && low&0x40 == 0 || n == -1 && low&0x40 != 0 {
			return append(out, low)
		}
		out = append(out, low|0x80)
	}
}

// library returns a module whose allocator, of this name, always returns the same address, and
// whose function f always returns the same answer.
func library(pages uint32, allocator string, room uint32, answer uint64) []byte {
	return assemble(
		section(1, list([]byte{0x60, 1, 0x7f, 1, 0x7f}, []byte{0x60, 2, 0x7f, 0x7f, 1, 0x7e})),
		section(3, list([]byte{0}, []byte{1})), section(5, list(memoryOf(pages))),
		section(7, list(slices.Concat(text(allocator), []byte{0, 0}), slices.Concat(text("f"), []byte{0, 1}), slices.Concat(text("memory"), []byte{2, 0}))),
		code(append([]byte{0x41}, signedLEB128(int64(int32(room)))...), append([]byte{0x42}, signedLEB128(int64(answer))...)))
}

// packPointer packs an address and a length into one result.
func packPointer(at, length uint32) uint64 { return uint64(at)<<32 | uint64(length) }

// Addresses that a library returns are checked.
func TestCallChecksAddresses(t *testing.T) {
	const page = memory.Page
	argument := []byte(`"eight."`)
	b := newBench(t, Options{Cache: testCache})
	for _, test := range []struct {
		name    string
		pages   uint32
		room    uint32
		answer  uint64
		outcome run.Outcome
		value   string
		words   string
	}{
		{"room within", 1, 8, packPointer(8, 8), run.Succeeded, string(argument), ""},
		{"room at the end", 1, page - 8, packPointer(page-8, 8), run.Succeeded, string(argument), ""},
		{"room over the end", 1, page - 7, packPointer(8, 8), run.InvalidOutput, "", "cordon_alloc did not allocate 8 bytes"},
		{"room behind the end", 1, page + 8, packPointer(8, 8), run.InvalidOutput, "", "did not allocate"},
		{"room at the last address", 1, 1<<32 - 1, packPointer(8, 8), run.InvalidOutput, "", "did not allocate"},
		{"no room", 1, 0, packPointer(8, 8), run.InvalidOutput, "", "did not allocate"},
		{"an answer over the end", 1, 8, packPointer(page-4, 8), run.InvalidOutput, "", "is outside its memory"},
		{"an answer of all addresses", 1, 8, packPointer(8, 1<<32-1), run.InvalidOutput, "", "is outside its memory"},
		{"an answer that is too large", uint32(policy.DefaultLimits().Result/page) + 1, 8, packPointer(8, uint32(policy.DefaultLimits().Result)+1), run.OutOfResult, "", "result limit of 8MiB"},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := bench{t, b.Backend}.open(library(test.pages, "cordon_alloc", test.room, test.answer))
			r, err := m.Call(t.Context(), jobOf(m, run.Request{}), "f", argument)
			if err != nil {
				t.Fatal(err)
			}
			expect(t, r, test.outcome, test.words)
			if string(r.Value) != test.value {
				t.Errorf("value %q", r.Value)
			}
		})
	}
	// A result does not refer to the guest's memory, which other guests use later.
	m := b.open(library(1, "cordon_alloc", 8, packPointer(8, 8)))
	r, err := m.Call(t.Context(), jobOf(m, run.Request{}), "f", argument)
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		if _, err := m.Call(t.Context(), jobOf(m, run.Request{}), "f", []byte(`"other."`)); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(r.Value, argument) {
		t.Errorf("it has become %q", r.Value)
	}
}

func TestCallNeedsAnAllocator(t *testing.T) {
	b := newBench(t, Options{Cache: testCache})
	for name, binary := range map[string][]byte{
		"none":            library(1, "another", 8, 0),
		"of another type": bytes.Replace(library(1, "malloc", 8, 0), slices.Concat(text("malloc"), []byte{0, 0}), slices.Concat(text("malloc"), []byte{0, 1}), 1),
	} {
		m := b.open(binary)
		if _, err := m.Call(t.Context(), jobOf(m, run.Request{}), "f", []byte("1")); run.ClassOf(err) != run.Invalid || !strings.Contains(err.Error(), "exports neither cordon_alloc nor malloc") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A question that is too large is refused, even if it is in the guest's memory.
func TestQuestionsAreBounded(t *testing.T) {
	b := newBench(t, Options{Cache: testCache})
	m := b.open(plugin(t))
	question := append([]byte(`{"tool": "none"}`), bytes.Repeat([]byte(" "), run.MaxPayload)...)
	r, err := m.Call(t.Context(), jobOf(m, run.Request{Limits: policy.Limits{Memory: policy.GiB}}), "ask", question)
	if err != nil || string(r.Value) != `"no answer"` {
		t.Errorf("%.100s %s %v", r.Value, r.Error, err)
	}
	// So is a question outside its memory: cordon.ask(-8, 100).
	asking := func(at, length int64) []byte {
		return assemble(
			section(1, list([]byte{0x60, 0, 0}, []byte{0x60, 2, 0x7f, 0x7f, 1, 0x7f})),
			section(2, list(slices.Concat(text("cordon"), text("ask"), []byte{0, 1}))),
			functions(1), section(5, list(memoryOf(1))), exportStart(1),
			// It traps unless it gets -1.
			code(slices.Concat([]byte{0x41}, signedLEB128(at), []byte{0x41}, signedLEB128(length), []byte{0x10, 0, 0x41, 0x7f, 0x47, 0x04, 0x40, 0x00, 0x0b})))
	}
	for _, where := range [][2]int64{{-8, 100}, {memory.Page - 8, 9}, {0, -1}, {memory.Page + 1, 0}} {
		expect(t, b.run(b.open(asking(where[0], where[1])), run.Request{}), run.Succeeded, "")
	}
}

// A tool can be called as often as its MaxCalls says, a thousand times by default.
func TestToolsHaveABudget(t *testing.T) {
	b := pythonBench(t, Options{Idle: 1})
	calls := 0
	tool := func(most int) run.Tool {
		return run.Tool{MaxCalls: most, Call: func(context.Context, run.ToolCall) (any, error) { calls++; return calls, nil }}
	}
	const script = `
done = 0
try:
    while done < 3000:
        tools.count()
        done += 1
except tools.Error as e:
    result = [done, str(e)]`
	s := b.session(false)
	for _, most := range []int{3, 0, 3} { // for each run, also in a session
		calls = 0
		want := most
		if most == 0 {
			want = run.DefaultToolCalls
		}
		r, err := s.Run(t.Context(), backend.Job{Request: run.Request{Script: run.Script{Source: script, Tools: map[string]run.Tool{"count": tool(most)}}}, Limits: policy.DefaultLimits()})
		if err != nil {
			t.Fatal(err)
		}
		if words := fmt.Sprintf("may be called %d times", want); calls != want || !strings.HasPrefix(string(r.Value), fmt.Sprintf("[%d,", want)) || !strings.Contains(string(r.Value), words) {
			t.Errorf("%d calls of %d: %s %s", calls, want, r.Value, r.Error)
		}
	}
	// The next run has no tools, so the call fails.
	if r := runIn(t, s, "tools.count()"); r.OK() || calls != 3 {
		t.Errorf("%d calls, %s %s", calls, r.Outcome, r.Error)
	}
}

// A tool's context ends with the run, and the size of its answer is bounded.
func TestToolsAreBounded(t *testing.T) {
	b := newBench(t, Options{Cache: testCache})
	m := b.open(plugin(t))
	ask := func(wall time.Duration, call func(context.Context, run.ToolCall) (any, error)) run.Result {
		t.Helper()
		limits := policy.Limits{WallTime: wall, CPUTime: wall, Memory: policy.GiB}
		r, err := m.Call(t.Context(), jobOf(m, run.Request{Module: run.ModuleRun{Tools: map[string]run.Tool{"it": {Call: call}}}, Limits: limits}), "ask", []byte(`{"tool": "it"}`))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := ask(time.Hour, func(context.Context, run.ToolCall) (any, error) { return strings.Repeat("x", run.MaxPayload), nil })
	if want := `{"error":{"type":"tool","message":"the tool's answer is not JSON, or too large"}}`; string(r.Value) != want {
		t.Errorf("%.100s %s", r.Value, r.Error)
	}
	ended := make(chan error, 1)
	r = ask(short, func(ctx context.Context, _ run.ToolCall) (any, error) {
		if until, bounded := ctx.Deadline(); !bounded || time.Until(until) > short {
			t.Errorf("a tool has until %v", until)
		}
		<-ctx.Done()
		ended <- ctx.Err()
		return nil, ctx.Err()
	})
	expect(t, r, run.TimedOut, "wall time limit")
	if err := <-ended; err == nil {
		t.Error("the tool went on")
	}
}

// A waiting guest can be canceled.
func TestCancelWhileWaiting(t *testing.T) {
	never := make(chan struct{})
	defer close(never)
	b := newBench(t, Options{Cache: testCache})
	library, program := b.open(plugin(t)), b.open(goGuest(t))
	call := func(ctx context.Context, cancel func()) (run.Result, error) {
		tool := run.Tool{Call: func(context.Context, run.ToolCall) (any, error) { cancel(); <-never; return nil, nil }}
		return library.Call(ctx, jobOf(library, run.Request{Module: run.ModuleRun{Tools: map[string]run.Tool{"it": tool}}}), "ask", []byte(`{"tool": "it"}`))
	}
	begin := func(how string) func(ctx context.Context, cancel func()) (run.Result, error) {
		return func(ctx context.Context, cancel func()) (run.Result, error) {
			out := firstWrite{make(chan struct{}, 1)}
			go func() { <-out.written; cancel() }()
			return program.run(ctx, jobOf(program, run.Request{Module: run.ModuleRun{Args: []string{"forever", how}}, Streams: run.Streams{Out: out, In: blocked{never}}}))
		}
	}
	for name, work := range map[string]func(ctx context.Context, cancel func()) (run.Result, error){
		"for a tool": call, "for time": begin("sleep"), "for input": begin("input"), "for nothing": begin(""),
	} {
		ctx, cancel := context.WithCancel(t.Context())
		r, err := work(ctx, cancel)
		cancel()
		if err != nil || r.Outcome != run.Canceled {
			t.Errorf("%s: %s %s %v", name, r.Outcome, r.Error, err)
		}
	}
}

// One call for much randomness ends at the time limit.
func TestTimeLimitEndsLongRandomRead(t *testing.T) {
	const much = 512 << 20
	b := newBench(t, Options{Cache: testCache})
	m := b.open(assemble(
		section(1, list([]byte{0x60, 0, 0}, []byte{0x60, 2, 0x7f, 0x7f, 1, 0x7f})),
		section(2, list(slices.Concat(text("wasi_snapshot_preview1"), text("random_get"), []byte{0, 1}))),
		functions(1), section(5, list(memoryOf(much/memory.Page))), exportStart(1),
		code(slices.Concat([]byte{0x41, 0, 0x41}, signedLEB128(much), []byte{0x10, 0, 0x1a}))))
	r := b.run(m, run.Request{Limits: policy.Limits{WallTime: 20 * time.Millisecond, Memory: policy.GiB}})
	expect(t, r, run.TimedOut, "wall time limit")
}

// testsBegan is slightly later than the zero of the guests' clocks.
var testsBegan = time.Now()

// A guest's clock does not reveal the uptime of the host.
func TestClocksBeginWithTheProcess(t *testing.T) {
	b := pythonBench(t, Options{Idle: 1})
	seconds := valueOf[float64](t, b.script(run.Request{Script: run.Script{Source: "import time; result = time.monotonic()"}}))
	if most := time.Since(testsBegan).Seconds() + 60; seconds < 0 || seconds > most {
		t.Errorf("%v seconds, and this process runs for less than %v", seconds, most)
	}
}

// A report that is too large is malformed, even if it is valid otherwise.
func TestReportsAreBounded(t *testing.T) {
	b := pythonBench(t, Options{Idle: 1})
	forge := func(size int) run.Result {
		return b.script(run.Request{Limits: policy.Limits{Memory: policy.GiB}, Script: run.Script{Source: fmt.Sprintf(`
import marshal, sys
ours = sys._getframe()
while "pack" not in ours.f_globals:
    ours = ours.f_back
real = ours.f_globals["pack"]
def pack(report, most):
    made = marshal.loads(real(report, most))
    made["more"] = "x" * %d
    return marshal.dumps(made, 2)
ours.f_globals["pack"] = pack
result = 42`, size)}})
	}
	if r := forge(1000); string(r.Value) != "42" {
		t.Fatalf("a forged report is not taken: %s %s", r.Outcome, r.Error)
	}
	if r := forge(run.MaxPayload); r.Outcome != run.OutOfResult {
		t.Errorf("%s %s %s", r.Outcome, r.Value, r.Error)
	}
}

// A module can be run only by the Runner that opened it, and stays open until its runs end.
func TestModulesBelongToARunner(t *testing.T) {
	b, other := newBench(t, Options{Cache: testCache}), newBench(t, Options{Cache: testCache})
	m := b.open(goGuest(t))
	place, err := other.Open(t.Context(), jobOf(m, run.Request{}))
	if err != nil {
		t.Fatal(err)
	}
	defer place.Close()
	if _, err := place.Run(t.Context(), jobOf(m, run.Request{})); run.ClassOf(err) != run.Invalid || !strings.Contains(err.Error(), "another Runner") {
		t.Error(err)
	}
	out := firstWrite{make(chan struct{}, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan run.Result, 1)
	go func() {
		ended <- b.runIn(ctx, m, run.Request{Module: run.ModuleRun{Args: []string{"forever"}}, Streams: run.Streams{Out: out}})
	}()
	<-out.written
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	if _, err := m.run(t.Context(), jobOf(m, run.Request{})); run.ClassOf(err) != run.Closed {
		t.Errorf("a run of a module that is closed: %v", err)
	}
	cancel()
	expect(t, <-ended, run.Canceled, "begun")
}

func TestCallsEndWithTheRunner(t *testing.T) {
	b, err := New(Options{Cache: testCache})
	if err != nil {
		t.Fatal(err)
	}
	m := bench{t, b}.open(plugin(t))
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Call(t.Context(), jobOf(m, run.Request{}), "echo", []byte("1")); run.ClassOf(err) != run.Closed {
		t.Error(err)
	}
}

// A call starts after the library's _initialize has set up its memory.
func TestCallRunsInitializeFirst(t *testing.T) {
	const at = 8
	b := newBench(t, Options{Cache: testCache})
	m := b.open(assemble(
		section(1, list([]byte{0x60, 0, 0}, []byte{0x60, 1, 0x7f, 1, 0x7f}, []byte{0x60, 2, 0x7f, 0x7f, 1, 0x7e})),
		section(3, list([]byte{0}, []byte{1}, []byte{2})), section(5, list(memoryOf(1))),
		section(7, list(slices.Concat(text("_initialize"), []byte{0, 0}), slices.Concat(text("malloc"), []byte{0, 1}), slices.Concat(text("f"), []byte{0, 2}), slices.Concat(text("memory"), []byte{2, 0}))),
		code([]byte{0x41, at, 0x41, '7', 0x3a, 0, 0}, []byte{0x41, 16}, append([]byte{0x42}, signedLEB128(int64(packPointer(at, 1)))...))))
	r, err := m.Call(t.Context(), jobOf(m, run.Request{}), "f", []byte("1"))
	if err != nil || string(r.Value) != "7" {
		t.Errorf("%s %s %v", r.Value, r.Error, err)
	}
}

// An answer can be copied only once.
func TestAnswersAreGivenOnce(t *testing.T) {
	b := newBench(t, Options{Cache: testCache})
	m := b.open(assemble(
		section(1, list([]byte{0x60, 0, 0}, []byte{0x60, 2, 0x7f, 0x7f, 1, 0x7f}, []byte{0x60, 1, 0x7f, 0})),
		section(2, list(slices.Concat(text("cordon"), text("ask"), []byte{0, 1}), slices.Concat(text("cordon"), text("answer"), []byte{0, 2}))),
		functions(1), section(5, list(memoryOf(1))), exportStart(2),
		// It sends an empty question, takes the answer twice, and traps if the first is
		// missing or the second is not.
		code([]byte{
			0x41, 0, 0x41, 0, 0x10, 0, 0x1a, 0x41, 16, 0x10, 1, 0x41, 32, 0x41, 0, 0x3a, 0, 0, 0x41, 0x80, 0x10, 0x10, 1,
			0x41, 16, 0x2d, 0, 0, 0x45, 0x04, 0x40, 0x00, 0x0b, 0x41, 0x80, 0x10, 0x2d, 0, 0, 0x04, 0x40, 0x00, 0x0b,
		})))
	expect(t, b.run(m, run.Request{}), run.Succeeded, "")
}

// A tool may keep its arguments, and its context is that of the run.
func TestToolsMayKeepTheirArguments(t *testing.T) {
	type key struct{}
	b := newBench(t, Options{Cache: testCache})
	m := b.open(plugin(t))
	var kept []run.ToolCall
	tools := map[string]run.Tool{"keep": {Call: func(ctx context.Context, c run.ToolCall) (any, error) {
		if ctx.Value(key{}) != "the caller's" {
			t.Error("a tool has another context")
		}
		kept = append(kept, c)
		return nil, nil
	}}}
	ctx := context.WithValue(t.Context(), key{}, "the caller's")
	for _, n := range []string{"1", "2", "3"} {
		question := fmt.Sprintf(`{"tool": "keep", "args": ["argument %s"], "kwargs": {"by name": "value %s"}}`, n, n)
		if r, err := m.Call(ctx, jobOf(m, run.Request{Module: run.ModuleRun{Tools: tools}}), "ask", []byte(question)); err != nil || !r.OK() {
			t.Fatalf("%s %v", r.Error, err)
		}
	}
	for i, c := range kept {
		if want := fmt.Sprintf(`"argument %d" "value %d"`, i+1, i+1); fmt.Sprintf("%s %s", c.Args[0], c.Kwargs["by name"]) != want {
			t.Errorf("%s %s, want %s", c.Args[0], c.Kwargs["by name"], want)
		}
	}
}
