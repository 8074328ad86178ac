package compat_test

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// TestLyingExceptions checks that the report of an exception comes from the interpreter: the
// traceback is not read from the exception object, and no file that it names is read.
func TestLyingExceptions(t *testing.T) {
	const restricted = `
asked = []
class Fake:
    def __init__(self, **values):
        self.values = values
    def __getattr__(self, name):
        return self.values[name]
class E(Exception):
    def __getattribute__(self, name):
        asked.append(name)
        if name == "__traceback__":
            code = Fake(co_filename=FILE, co_name="f")
            return Fake(tb_frame=Fake(f_globals={}, f_code=code, f_lineno=1), tb_lineno=1, tb_lasti=-1, tb_next=None)
        return object.__getattribute__(self, name)
    def __str__(self):
        return "asked for " + ", ".join(n for n in asked if n != "values")
raise E("x")
`
	const plain = `
asked = []
class E(Exception):
    def __getattribute__(self, name):
        asked.append(name)
        return object.__getattribute__(self, name)
    def __str__(self):
        return "asked for " + ", ".join(asked)
exec(compile("raise E('x')", FILE, "exec"))
`
	for _, p := range pythons(t) {
		out, err := exec.CommandContext(t.Context(), p.Path, "-I", "-c", "import os; print(os.__file__, end='')").Output()
		if err != nil {
			t.Fatal(err)
		}
		library, err := os.ReadFile(string(out))
		if err != nil {
			t.Fatal(err)
		}
		first, _, _ := strings.Cut(string(library), "\n")
		r := p.runner(t, policy.Policy{})
		for name, script := range map[string]string{"restricted": restricted, "plain": plain} {
			res, err := r.Run(t.Context(), run.Request{
				Script: run.Script{Source: strings.ReplaceAll(script, "FILE", strconv.Quote(string(out))), Restricted: name == "restricted"},
			})
			if err != nil {
				t.Fatal(err)
			}
			if res.Outcome != run.Raised || res.Exception.Message != "asked for " {
				t.Errorf("%s, %s: %s %q", p, name, res.Outcome, res.Error)
			}
			if strings.Contains(res.Stderr, first) {
				t.Errorf("%s, %s: a file was read:\n%s", p, name, res.Stderr)
			}
		}
	}
}

// TestForgedRefusals checks that an exception of the rules' class is not a violation if a script
// created it.
func TestForgedRefusals(t *testing.T) {
	const script = `
import json
try:
    json.dumps = None
except Exception as e:
    %s
`
	for _, p := range mainPythons(t) {
		r := p.runner(t, policy.Policy{})
		for statement, want := range map[string]string{
			"raise": "class module cannot be changed",
			"e.args = ('forged-rule: text',); raise e":                 "class module cannot be changed",
			"raise type(e)('forged-rule: text')":                       "",
			"class E(type(e)): pass\n    raise E('forged-rule: text')": "",
		} {
			res, err := r.Run(t.Context(), run.Request{Script: run.Script{Source: strings.Replace(script, "%s", statement, 1), Restricted: true}})
			if err != nil || res.Outcome != run.Raised {
				t.Fatalf("%s: %s %v", statement, res.Outcome, err)
			}
			found := ""
			for _, v := range res.Violations {
				if v.Wall == policy.WallLanguage && !v.Claimed {
					found += v.Op + ": " + v.Detail
				}
			}
			if want == "" && found != "" || !strings.Contains(found, want) || strings.Contains(found, "forged") {
				t.Errorf("%s, %s: %q, want %q", p, statement, found, want)
			}
		}
	}
}
