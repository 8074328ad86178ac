//go:build unix

package script_test

import (
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/report"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// expectation is a script and what its report must say.
type expectation struct {
	name    string
	script  string
	outcome run.Outcome
	want    string // the value as JSON; a part of the error, if there is one
}

// expect runs each script as a separate guest.
func expect(t *testing.T, e *embedding, like call, expectations []expectation) {
	t.Helper()
	for _, x := range expectations {
		t.Run(x.name, func(t *testing.T) {
			c := like
			c.script = x.script
			a := e.run(t, c)[0]
			if a.problem != "" {
				t.Fatal(a.problem)
			}
			if a.Outcome != x.outcome {
				t.Fatalf("%s %q %s, want %s", a.Outcome, a.Error, a.Stderr, x.outcome)
			}
			switch {
			case x.outcome != run.Succeeded && !strings.Contains(a.Error, x.want):
				t.Errorf("%q, want %q", a.Error, x.want)
			case x.outcome == run.Succeeded && string(a.Value) != x.want:
				t.Errorf("%s, want %s", a.Value, x.want)
			}
		})
	}
}

func TestReports(t *testing.T) {
	e := open(t, image{preload: policy.DefaultPreload(), bare: true})
	expect(t, e, call{context: map[string]any{"a": 41}}, []expectation{
		{"a value", "result = context['a'] + 1", run.Succeeded, "42"},
		{"no value", "x = 1", run.Succeeded, "null"},
		{"its surroundings", "import sys\nresult = [__name__, __file__, sys.argv]", run.Succeeded, `["__main__","<script>",["<script>"]]`},
		{"a tuple subclass", "import collections\nresult = collections.namedtuple('P', 'x')(1)", run.Succeeded, "[1]"},
		{"a value that is no JSON", "result = {'x': {1}}", run.InvalidOutput, "result['x'] is a set object"},
		{"exit", "raise SystemExit(7)", run.Exited, "exit code 7"},
		{"exit, by name", "exit()", run.Succeeded, "null"},
		{"exception", "x = 1\nx / 0", run.Raised, "ZeroDivisionError: division by zero (line 2)"},
		{"syntax", "x = (", run.Malformed, "SyntaxError"},
		{"a text that no compiler takes", "x = '\x00'", run.Malformed, "null byte"},
		{"memory", "raise MemoryError", run.OutOfMemory, "256MiB"},
		{"streams that are gone", "import sys\nsys.stdout.close()\nsys.stderr = None\nresult = 1", run.Succeeded, "1"},
		{"streams that are gone, and an exception", "import sys\nsys.stderr.close()\n1 / 0", run.Raised, "ZeroDivisionError"},
		{"exit handlers", "import atexit\natexit.register(lambda: (result := 1) and globals().update(result=2))", run.Succeeded, "2"},
		{"no tools", "tools", run.Raised, "NameError: name 'tools' is not defined"},
	})
}

// The output of a guest, and the lines of its script, are complete when its report
// arrives.
func TestOutput(t *testing.T) {
	e := open(t, image{bare: true})
	a := e.run(t, call{script: "print('out', end='')\nimport missing_module", variables: []string{"x", "__name__"}})[0]
	if a.Stdout != "out" || !strings.Contains(a.Stderr, "    import missing_module\n") || strings.Contains(a.Stderr, "<cordon>") {
		t.Errorf("%q, %q", a.Stdout, a.Stderr)
	}
	if len(a.Variables) != 1 || string(a.Variables["__name__"]) != `"__main__"` {
		t.Errorf("%s", a.Variables)
	}
}

// A guest finds nothing of an earlier one, and different random numbers.
func TestFreshCopies(t *testing.T) {
	e := open(t, image{preload: []string{"random", "tempfile", "logging", "uuid"}, bare: true})
	script := "import random, tempfile, uuid\n" +
		"result = [random.random(), next(tempfile._get_candidate_names()), str(uuid.uuid4())]\n"
	seen := map[string]bool{}
	for range 3 {
		a := e.run(t, call{script: script})[0]
		for value := range strings.SplitSeq(strings.Trim(string(a.Value), "[]"), ",") {
			if value == "" || seen[value] {
				t.Errorf("%q again", value)
			}
			seen[value] = true
		}
	}
	if a := e.run(t, call{script: "import logging, time\nresult = time.time() - logging._startTime < 5"})[0]; string(a.Value) != "true" {
		t.Errorf("%s %s", a.Value, a.Error)
	}
}

func TestSession(t *testing.T) {
	for _, restricted := range []bool{false, true} {
		i := image{preload: []string{"random"}, bare: true}
		if restricted {
			i.language = standard()
		}
		e := open(t, i)
		said := func(script string) call {
			return call{script: script, session: true, restricted: restricted, tools: names}
		}
		answers := e.run(t,
			said("import random\nclass C:\n    x = 1\nrandom.seed(3)\nresult = 5"),
			said("y = C.x + 1\nraise ValueError"),
			said("result = y"),
			said("tools.add(1, 2)"),
			said("import random\na = random.random()\nrandom.seed(3)\nresult = a == random.random()"),
		)
		for i, want := range []string{"5", "", "2", "null", "true"} {
			if a := answers[i]; string(a.Value) != want || a.problem != "" {
				t.Errorf("restricted %t, call %d: %s %q %s", restricted, i, a.Value, a.Error, a.problem)
			}
		}
		// Without session, a second call finds no globals of the first.
		answers = e.run(t, call{script: "x = 1", restricted: restricted}, call{script: "x", restricted: restricted})
		if a := answers[1]; a.Outcome != run.Raised {
			t.Errorf("%s %s", a.Outcome, a.Value)
		}
	}
}

func TestCode(t *testing.T) {
	for _, restricted := range []bool{false, true} {
		i := image{bare: true}
		if restricted {
			i.language = standard()
		}
		e := open(t, i)
		c := call{script: "result = [context, 2]", context: 1, restricted: restricted, ask: true}
		first := e.run(t, c)[0]
		code, found := strings.CutPrefix(strings.Join(first.questions, ""), "code")
		if !found || code == "" || string(first.Value) != "[1,2]" {
			t.Fatalf("%q, %s %s", first.questions, first.Value, first.Error)
		}
		// The script differs, to show that it is not read.
		c = call{script: "result = 0", context: 3, restricted: restricted, code: []byte(code)}
		if second := e.run(t, c)[0]; string(second.Value) != "[3,2]" || len(second.questions) != 0 {
			t.Errorf("%s, %q", second.Value, second.questions)
		}
		c = call{script: "x = (", restricted: restricted, ask: true}
		if third := e.run(t, c)[0]; len(third.questions) != 1 || third.questions[0] != "code" {
			t.Errorf("%q of a script that cannot be compiled", third.questions)
		}
	}
}

func TestRestricted(t *testing.T) {
	e := open(t, image{preload: policy.DefaultPreload(), language: standard(), bare: true})
	expect(t, e, call{restricted: true}, []expectation{
		{"a value", "import math\nresult = math.sqrt(16)", run.Succeeded, "4.0"},
		{"refused", "eval('1')", run.Refused, "the builtin 'eval' is not allowed"},
		{"a module that is not allowed", "import os", run.Refused, "import of module 'os' is not allowed"},
		{"not even our own", "import _cordon", run.Refused, "import of module '_cordon' is not allowed"},
		{"a guard", "import json\njson.dumps = None", run.Raised, "RuleViolation: shared-object"},
		{"exception", "{}['x']", run.Raised, "KeyError: 'x' (line 1)"},
		{"syntax", "x = (", run.Malformed, "SyntaxError"},
	})
}

func TestCheck(t *testing.T) {
	e := open(t, image{language: standard(), bare: true})
	for script, want := range map[string]string{"x = 1": "", "import os": "import-not-allowed", "x = (": "syntax"} {
		a := e.run(t, call{kind: "check", script: script, restricted: true})[0]
		findings, err := report.Findings(a.report)
		if err != nil || a.Outcome != run.Succeeded {
			t.Fatalf("%v, %s %s %s", err, a.Outcome, a.Error, a.problem)
		}
		var rules []string
		for _, f := range findings {
			rules = append(rules, f.Rule)
		}
		if got := strings.Join(rules, " "); got != want {
			t.Errorf("%q: %q, want %q", script, got, want)
		}
	}
}

// An image either has the rules or not: the guards change the library.
func TestWrongImage(t *testing.T) {
	plain, ruled := open(t, image{bare: true}), open(t, image{language: standard(), bare: true})
	for name, a := range map[string]answer{
		"restricted": plain.run(t, call{script: "1", restricted: true})[0],
		"check":      plain.run(t, call{kind: "check", script: "1"})[0],
		"plain":      ruled.run(t, call{script: "1"})[0],
	} {
		if !strings.HasPrefix(a.problem, "RuntimeError: this image is for scripts ") {
			t.Errorf("%s: %s %q", name, a.Outcome, a.problem)
		}
	}
}

func TestBootFails(t *testing.T) {
	for want, i := range map[string]image{
		"ImportError: cannot import gone (No module named 'gone')": {preload: []string{"json", "gone"}},
		"ValueError: this Python has no builtin gone":              {language: &policy.Language{Builtins: []string{"gone"}}},
	} {
		if _, problem := embed(t, i); problem != want {
			t.Errorf("%q, want %q", problem, want)
		}
	}
}
