package wasm

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

func plugin(t *testing.T) []byte {
	t.Helper()
	return cGuest(t, "plugin.c", "-mexec-model=reactor")
}

func TestCall(t *testing.T) {
	onBoth(t, func(t *testing.T, options Options) {
		b := newBench(t, options)
		m := b.open(plugin(t))
		for _, test := range []struct {
			function, argument string
			outcome            run.Outcome
			value, words       string
		}{
			{"length", `[1, 2, 3]`, run.Succeeded, `{"length":9,"calls":1}`, ""},
			{"length", `[]`, run.Succeeded, `{"length":2,"calls":1}`, ""}, // a new instance
			{"echo", `{"a": [1, "ü"]}`, run.Succeeded, `{"a":[1,"ü"]}`, ""},
			{"say", `"words"`, run.Succeeded, `true`, `"words"`},
			{"nothing", `1`, run.Succeeded, ``, ""},
			{"broken", `1`, run.InvalidOutput, ``, "the answer of broken is not JSON"},
			{"outside", `1`, run.InvalidOutput, ``, "is outside its memory"},
			{"trap", `1`, run.Trapped, ``, "unreachable"},
			{"forever", `1`, run.TimedOut, ``, "wall time limit"},
		} {
			t.Run(test.function, func(t *testing.T) {
				job := jobOf(m, run.Request{Limits: policy.Limits{WallTime: short}})
				r, err := m.Call(t.Context(), job, test.function, []byte(test.argument))
				if err != nil {
					t.Fatal(err)
				}
				expect(t, r, test.outcome, test.words)
				if string(r.Value) != test.value {
					t.Errorf("value %s", r.Value)
				}
			})
		}
	})
}

func TestCallRefuses(t *testing.T) {
	b := newBench(t, Options{Cache: testCache})
	m, program := b.open(plugin(t)), b.open(cGuest(t, "hello.c"))
	bare := b.open(assemble(section(1, list([]byte{0x60, 2, 0x7f, 0x7f, 1, 0x7e})), section(3, list([]byte{0})),
		section(7, list(slices.Concat(text("f"), []byte{0, 0}), slices.Concat(text("memory"), []byte{0, 0}))), code([]byte{0x42, 0})))
	for _, test := range []struct {
		module   *Module
		function string
		class    run.Class
		words    string
	}{
		{m, "missing", run.NotFound, `exports no function "missing"`},
		{m, "memory", run.NotFound, `exports no function "memory"`},
		{m, "number", run.Invalid, `"number" is (i32) -> i32`},
		{program, "_start", run.Invalid, `"_start" is ()`},
		{bare, "f", run.Invalid, "no memory"},
	} {
		_, err := test.module.Call(t.Context(), jobOf(test.module, run.Request{}), test.function, []byte("1"))
		if run.ClassOf(err) != test.class || !strings.Contains(err.Error(), test.words) {
			t.Errorf("%s: %v", test.function, err)
		}
	}
	s, err := b.Open(t.Context(), jobOf(m, run.Request{}))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Run(t.Context(), jobOf(m, run.Request{})); run.ClassOf(err) != run.Invalid || !strings.Contains(err.Error(), "exports no _start") {
		t.Error(err)
	}
}

func TestTools(t *testing.T) {
	onBoth(t, func(t *testing.T, options Options) {
		b := newBench(t, options)
		m := b.open(plugin(t))
		done := make(chan struct{})
		defer close(done)
		tools := map[string]run.Tool{
			"add": {Call: func(_ context.Context, c run.ToolCall) (any, error) {
				var x, y int
				if err := errors.Join(json.Unmarshal(c.Args[0], &x), json.Unmarshal(c.Kwargs["to"], &y)); err != nil {
					return nil, err
				}
				return x + y, nil
			}},
			"fails":  {Call: func(context.Context, run.ToolCall) (any, error) { return nil, errors.New("no luck") }},
			"panics": {Call: func(context.Context, run.ToolCall) (any, error) { panic("host") }},
			"odd":    {Call: func(context.Context, run.ToolCall) (any, error) { return make(chan int), nil }},
			"hangs":  {Call: func(context.Context, run.ToolCall) (any, error) { <-done; return 1, nil }},
		}
		for _, test := range []struct {
			name, question string
			outcome        run.Outcome
			value          string
		}{
			{"works", `{"tool": "add", "args": [1], "kwargs": {"to": 2}}`, run.Succeeded, `{"ok":3}`},
			{"fails", `{"tool": "fails"}`, run.Succeeded, `{"error":{"type":"tool","message":"no luck"}}`},
			{"panics", `{"tool": "panics"}`, run.Succeeded, `{"error":{"type":"tool","message":"the tool panicked"}}`},
			{"odd", `{"tool": "odd"}`, run.Succeeded, `{"error":{"type":"tool","message":"json: unsupported type: chan int"}}`},
			{"unknown", `{"tool": "rm"}`, run.Succeeded, `{"error":{"type":"call","message":"there is no tool \"rm\": there are add, fails, hangs, odd, panics"}}`},
			{"no JSON", `[`, run.Succeeded, `{"error":{"type":"call","message":"the question is not JSON: unexpected end of JSON input"}}`},
			{"hangs", `{"tool": "hangs"}`, run.TimedOut, ``},
		} {
			t.Run(test.name, func(t *testing.T) {
				job := jobOf(m, run.Request{Module: run.ModuleRun{Tools: tools}, Limits: policy.Limits{WallTime: short}})
				r, err := m.Call(t.Context(), job, "ask", []byte(test.question))
				if err != nil {
					t.Fatal(err)
				}
				expect(t, r, test.outcome, "")
				if string(r.Value) != test.value {
					t.Errorf("value %s", r.Value)
				}
			})
		}
	})
}
