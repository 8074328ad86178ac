package cordon_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// moduleRunner returns a Runner for modules, which works on every system.
func moduleRunner(t testing.TB, p policy.Policy) *cordon.Runner {
	t.Helper()
	r, err := cordon.NewRunner(cordon.Options{Policy: p, Tier: policy.TierWasm, Idle: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func openModule(t testing.TB, r *cordon.Runner, binary []byte) *cordon.Module {
	t.Helper()
	m, err := r.OpenModule(t.Context(), binary)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// scorer is a library, and program a program that takes its action as first argument.
func scorer(t testing.TB) []byte {
	t.Helper()
	binary, err := os.ReadFile("examples/score.wasm")
	if err != nil {
		t.Fatal(err)
	}
	return binary
}

var program = sync.OnceValues(func() ([]byte, error) {
	directory, err := os.MkdirTemp("", "cordon-guest")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(directory)
	out := filepath.Join(directory, "guest.wasm")
	cmd := exec.Command("go", "build", "-o", out, ".")
	cmd.Dir = "internal/backend/wasm/testdata/guest"
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=")
	if text, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, text)
	}
	return os.ReadFile(out)
})

func openProgram(t testing.TB, r *cordon.Runner) *cordon.Module {
	t.Helper()
	binary, err := program()
	if err != nil {
		t.Fatal(err)
	}
	return openModule(t, r, binary)
}

// endless returns the streams of a program that writes "begun" and never ends.
func endless(began chan<- struct{}) run.Streams {
	var once sync.Once
	return run.Streams{Out: beginning(func() { once.Do(func() { close(began) }) })}
}

type beginning func()

func (b beginning) Write(data []byte) (int, error) { b(); return len(data), nil }

func TestModule(t *testing.T) {
	r := moduleRunner(t, policy.Policy{})
	m := openProgram(t, r)
	res, err := r.Run(t.Context(), run.Request{ID: "7", Module: run.ModuleRun{Module: m, Name: "me", Args: []string{"hello", "you"}}})
	if err != nil || !res.OK() || res.Stdout != "me hello you\n" || res.ID != "7" || res.Enforcement.Tier != policy.TierWasm || res.Usage.Fuel == 0 {
		t.Errorf("%+v, %v", res, err)
	}
	if res, err = r.Run(t.Context(), run.Request{Module: run.ModuleRun{Module: m, Args: []string{"exit", "3"}}}); err != nil || res.Outcome != run.Exited || *res.ExitCode != 3 {
		t.Errorf("%+v, %v", res, err)
	}
	if r.Enforcement().Tier != policy.TierWasm || r.Enforcement().Walls[policy.WallWasm].State == "" {
		t.Errorf("%+v", r.Enforcement())
	}
}

func TestModuleCalls(t *testing.T) {
	r := moduleRunner(t, policy.Policy{})
	m := openModule(t, r, scorer(t))
	if len(m.Digest()) != 64 {
		t.Errorf("digest %q", m.Digest())
	}
	for _, test := range []struct {
		argument any
		want     string
	}{
		{nil, "0"}, {[]int{40, 2}, "42"}, {map[string]any{"points": 3, "bonus": 4}, "7"}, {json.RawMessage(`[1, [2]]`), "3"},
	} {
		res, err := m.Call(t.Context(), "score", test.argument)
		if err != nil || !res.OK() || string(res.Value) != test.want {
			t.Errorf("%v: %+v, %v", test.argument, res, err)
		}
	}
	res, err := m.CallWith(t.Context(), run.Request{ID: "a", Limits: policy.Limits{Fuel: 100}}, "score", strings.Repeat("1", 1000))
	if err != nil || res.Outcome != run.OutOfFuel || res.ID != "a" {
		t.Errorf("%+v, %v", res, err)
	}
	if res, err := m.Call(t.Context(), "score", strings.Repeat("1", 64<<10)); err != nil || res.Outcome != run.InvalidOutput {
		t.Errorf("no room: %+v, %v", res, err)
	}
	for name, test := range map[string]struct {
		function string
		argument any
		class    run.Class
	}{
		"no such function": {"missing", nil, run.NotFound},
		"no JSON":          {"score", make(chan int), run.Invalid},
		"too large":        {"score", strings.Repeat("1", run.MaxPayload), run.Invalid},
	} {
		if _, err := m.Call(t.Context(), test.function, test.argument); run.ClassOf(err) != test.class {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Each call has a new instance, and concurrent callers get their own answers.
func TestHammerModule(t *testing.T) {
	r := moduleRunner(t, policy.Policy{})
	library, program := openModule(t, r, scorer(t)), openProgram(t, r)
	var wait sync.WaitGroup
	for i := range 40 {
		wait.Go(func() {
			if res, err := library.Call(t.Context(), "score", []int{i, 1000}); err != nil || string(res.Value) != fmt.Sprint(i+1000) {
				t.Errorf("call %d: %s %s, %v", i, res.Value, res.Error, err)
			}
		})
		if i%4 == 0 {
			wait.Go(func() {
				res, err := r.Run(t.Context(), run.Request{Module: run.ModuleRun{Module: program, Args: []string{"hello", fmt.Sprint(i)}}})
				if want := fmt.Sprintf("module hello %d\n", i); err != nil || res.Stdout != want {
					t.Errorf("run %d: %q %s, %v", i, res.Stdout, res.Error, err)
				}
			})
		}
	}
	wait.Wait()
}

func TestRunRefusesModuleOfAnotherRunner(t *testing.T) {
	one, two := moduleRunner(t, policy.Policy{}), moduleRunner(t, policy.Policy{})
	m := openProgram(t, one)
	if _, err := two.Run(t.Context(), run.Request{Module: run.ModuleRun{Module: m, Args: []string{"hello"}}}); run.ClassOf(err) != run.Invalid || !strings.Contains(err.Error(), "another Runner") {
		t.Errorf("%v", err)
	}
	if err := one.Close(); err != nil {
		t.Error(err)
	}
	if res, err := two.Run(t.Context(), run.Request{Module: run.ModuleRun{Module: openProgram(t, two), Args: []string{"hello"}}}); err != nil || !res.OK() {
		t.Errorf("%+v, %v", res, err)
	}
	if _, err := two.Run(t.Context(), run.Request{Module: run.ModuleRun{Module: unknownModule{}}}); run.ClassOf(err) != run.Invalid {
		t.Errorf("a module that nobody has opened: %v", err)
	}
}

// unknownModule is a module that no Runner has opened.
type unknownModule struct{}

func (unknownModule) Digest() string { return "" }

func TestClosedModule(t *testing.T) {
	r := moduleRunner(t, policy.Policy{})
	m := openModule(t, r, scorer(t))
	for range 2 {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := m.Call(t.Context(), "score", nil); !errors.Is(err, run.ErrClosed) {
		t.Errorf("a call after the end: %v", err)
	}
	// The Runner still works, with the same module too.
	if res, err := openModule(t, r, scorer(t)).Call(t.Context(), "score", 5); err != nil || string(res.Value) != "5" {
		t.Errorf("%+v, %v", res, err)
	}
}

// Closing a module does not end its runs; closing the Runner does.
func TestCloseWhileModulesRun(t *testing.T) {
	r := moduleRunner(t, policy.Policy{})
	m := openProgram(t, r)
	type end struct {
		res run.Result
		err error
	}
	ends := make(chan end, 3)
	for _, args := range [][]string{{"forever"}, {"forever", "sleep"}, {"forever", "input"}} {
		began := make(chan struct{})
		silent, hold := newBlockingReader()
		defer hold()
		go func() {
			streams := endless(began)
			streams.In = silent
			res, err := r.Run(t.Context(), run.Request{Module: run.ModuleRun{Module: m, Args: args}, Streams: streams})
			ends <- end{res, err}
		}()
		<-began
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	select {
	case e := <-ends:
		t.Fatalf("ended with its module: %+v, %v", e.res, e.err)
	case <-time.After(50 * time.Millisecond):
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	for range cap(ends) {
		if e := <-ends; !errors.Is(e.err, run.ErrClosed) {
			t.Errorf("%+v, %v", e.res, e.err)
		}
	}
	if _, err := r.OpenModule(t.Context(), scorer(t)); !errors.Is(err, run.ErrClosed) {
		t.Errorf("a module after the end: %v", err)
	}
	if _, err := m.Call(t.Context(), "score", nil); err == nil {
		t.Error("a call after the end")
	}
}

// newBlockingReader returns an input that blocks until end is called.
func newBlockingReader() (reader *blockingReader, end func()) {
	s := &blockingReader{make(chan struct{})}
	return s, func() { close(s.over) }
}

// blockingReader blocks reads until over is closed.
type blockingReader struct{ over chan struct{} }

func (s *blockingReader) Read([]byte) (int, error) { <-s.over; return 0, os.ErrClosed }

func TestModuleRequests(t *testing.T) {
	r := moduleRunner(t, policy.Policy{})
	m := openModule(t, r, scorer(t))
	tools := map[string]run.Tool{"f": {Call: func(context.Context, run.ToolCall) (any, error) { return 1, nil }}}
	for _, test := range []struct {
		name  string
		req   run.Request
		class run.Class
		words string
	}{
		{"a module with a script", run.Request{Module: run.ModuleRun{Module: m}, Script: run.Script{Source: "pass"}}, run.Invalid, "script: this is for scripts, and the request is for modules"},
		{"a module with a command", run.Request{Module: run.ModuleRun{Module: m}, Command: run.Command{Args: []string{"true"}}}, run.Invalid, "module: this is for modules"},
		{"a module with a context", run.Request{Module: run.ModuleRun{Module: m}, Script: run.Script{Context: 1}}, run.Invalid, "context: this is for scripts"},
		{"a module by the rules", run.Request{Module: run.ModuleRun{Module: m}, Script: run.Script{Restricted: true}}, run.Invalid, "restricted: this is for scripts"},
		{"a script with fuel", run.Request{Script: run.Script{Source: "pass"}, Limits: policy.Limits{Fuel: 5}}, run.Invalid, "limits.fuel: this is for modules"},
		{"a script with arguments", run.Request{Script: run.Script{Source: "pass"}, Module: run.ModuleRun{Args: []string{"a"}}}, run.Invalid, "args: this is for modules"},
		{"a NUL", run.Request{Module: run.ModuleRun{Module: m, Args: []string{"\x00"}}}, run.Invalid, "args[0]: a NUL byte"},
		{"a library", run.Request{Module: run.ModuleRun{Module: m}}, run.Invalid, "exports no _start"},
		{"another tier", run.Request{Module: run.ModuleRun{Module: m}, Tier: policy.TierJail}, run.Invalid, `tier "jail" does not run modules`},
		{"third-party code", run.Request{Module: run.ModuleRun{Module: m}, Trust: policy.TrustThirdParty}, run.Unsupported, "third-party code cannot be a module"},
		{"tools on another tier", run.Request{Script: run.Script{Source: "pass", Tools: tools}}, run.Unsupported, `deterministic and tools are for tier "wasm", and this is "process"`},
		{"determinism on another tier", run.Request{Script: run.Script{Source: "pass", Deterministic: true}}, run.Unsupported, `are for tier "wasm"`},
	} {
		if _, err := r.Run(t.Context(), test.req); run.ClassOf(err) != test.class || !strings.Contains(fmt.Sprint(err), test.words) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	if _, err := m.CallWith(t.Context(), run.Request{Trust: policy.TrustThirdParty}, "score", nil); run.ClassOf(err) != run.Unsupported {
		t.Errorf("a call of third-party code: %v", err)
	}
	stricter := moduleRunner(t, policy.Policy{Trust: policy.TrustThirdParty})
	if _, err := openModule(t, stricter, scorer(t)).Call(t.Context(), "score", nil); run.ClassOf(err) != run.Unsupported {
		t.Errorf("under a policy that trusts nobody: %v", err)
	}
	restricting := moduleRunner(t, policy.Policy{Require: []policy.Wall{policy.WallLanguage}})
	if _, err := openModule(t, restricting, scorer(t)).Call(t.Context(), "score", nil); run.ClassOf(err) != run.Invalid {
		t.Errorf("under a policy that wants the language rules: %v", err)
	}
}

// A script on WebAssembly can call the tools of its request.
func TestScriptWithTools(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles CPython")
	}
	r := moduleRunner(t, policy.Policy{PythonWasm: hosttest.NeedsExtra(t, hosttest.PythonWasm)})
	prices := map[string]int{"apple": 3}
	res, err := r.Run(t.Context(), run.Request{
		Tier: policy.TierWasm,
		Script: run.Script{Source: "result = [tools.price('apple') * context, tools.price(name='pear')]", Context: 14, Tools: map[string]run.Tool{"price": {Call: func(_ context.Context, c run.ToolCall) (any, error) {
			argument := c.Kwargs["name"]
			if len(c.Args) > 0 {
				argument = c.Args[0]
			}
			var name string
			if err := json.Unmarshal(argument, &name); err != nil {
				return nil, err
			}
			return prices[name], nil
		}}}},
	})
	if err != nil || string(bytes.ReplaceAll(res.Value, []byte(" "), nil)) != "[42,0]" {
		t.Errorf("%s %s, %v", res.Value, res.Error, err)
	}
}

// examples/score.wasm is compiled from examples/score.c.
func TestExampleModuleIsUpToDate(t *testing.T) {
	clang := hosttest.NeedsExtra(t, hosttest.Clang)
	out := filepath.Join(t.TempDir(), "score.wasm")
	cmd := exec.Command(clang, "--target=wasm32", "-O2", "-nostdlib", "-Wl,--no-entry", "-o", out, "examples/score.c")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	built, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(built, scorer(t)) {
		t.Errorf("make it anew: %s", cmd)
	}
}
