package process

import (
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/run"
)

// A script behaves the same at its first run, when its code is asked for, and when its
// code is cached.
func TestCachedCodeBehavesTheSame(t *testing.T) {
	b := open(t, Options{Idle: 2})
	for _, test := range []struct {
		name, script string
		outcome      run.Outcome
		stderr       string
	}{
		{"value", "def f(x):\n    return x * 2\nresult = f(context)", run.Succeeded, ""},
		{"exception", "def f(x):\n    return 1 / (x - x)\n\nf(context)", run.Raised, "line 2, in f\n    return 1 / (x - x)"},
		{"warning of the compiler", "result = context is 21", run.Succeeded, "SyntaxWarning"},
		{"syntax error", "result = context +", run.Malformed, "SyntaxError"},
		{"introspection", "import sys\nresult = [__name__, __file__, sys._getframe().f_code.co_filename]", run.Succeeded, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			var first run.Result
			for i := range 4 {
				got := runJob(t, b, jobOf(b, test.script, 21))
				if got.Outcome != test.outcome {
					t.Fatalf("run %d: %s, %v", i, got.Outcome, got.Exception)
				}
				if !strings.Contains(got.Stderr, test.stderr) {
					t.Errorf("run %d: stderr is %q", i, got.Stderr)
				}
				if i == 0 {
					first = got
				}
				if got.Outcome != first.Outcome || string(got.Value) != string(first.Value) || got.Stderr != first.Stderr {
					t.Errorf("run %d: %s %s %q, the first was %s %s %q", i, got.Outcome, got.Value, got.Stderr, first.Outcome, first.Value, first.Stderr)
				}
			}
		})
	}
}

// A guest cannot change the code that later runs of its script get: neither when its
// worker was asked for the code, nor when it had none to send.
func TestCodeCannotBeForged(t *testing.T) {
	b := open(t, Options{Idle: 2})
	for name, prelude := range map[string]string{"code": "", "no code": "context is 1\n"} {
		t.Run(name, func(t *testing.T) {
			script := prelude + `
import marshal, os
if context == "forge":
    code = marshal.dumps(compile("result = 'forged'", "<script>", "exec"))
    os.write(3, b"C" + len(code).to_bytes(4, "little") + code)
result = "honest"
`
			for i, context := range []string{"forge", "forge", "forge", "", "", "forge", ""} {
				got := runJob(t, b, jobOf(b, script, context))
				want := run.Succeeded
				if context == "forge" {
					want = run.InvalidOutput
				}
				if got.Outcome != want || want == run.Succeeded && string(got.Value) != `"honest"` {
					t.Errorf("run %d: %s, %s", i, got.Outcome, got.Value)
				}
			}
		})
	}
}
