package report

import (
	"reflect"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

var watched = ok.with("modules", []any{[]any{"pandas.io", []any{"/data/a\nb"}, 2, 1}}).
	with("denied", []any{[]any{"pandas.io", "pandas", "/data/c", 7, 4}})

func TestReadModules(t *testing.T) {
	r := run.Result{Violations: []run.Violation{{Wall: policy.WallSeccomp, Op: "bind", Count: 1}}}
	Read(&r, encodeReport(t, watched), Run{Limits: policy.DefaultLimits(), Modules: true})
	if want := []run.ModuleUse{{Module: "pandas.io", Files: []string{`/data/a\nb`}, Omitted: 2, Threads: 1}}; !reflect.DeepEqual(r.Modules, want) {
		t.Errorf("%+v", r.Modules)
	}
	if len(r.Violations) != 2 {
		t.Fatalf("%+v", r.Violations)
	}
	v := r.Violations[1]
	if v.Wall != policy.WallLanguage || v.Op != "open" || v.Detail != "/data/c: not in module_rules.pandas.read" || !v.Claimed ||
		v.Module != "pandas.io" || v.Line != 7 || v.Count != 4 || v.HintCode != run.HintModuleRule {
		t.Errorf("%+v", v)
	}
	if r.Outcome != run.Succeeded || string(r.Value) != "42" {
		t.Errorf("%s %s", r.Outcome, r.Value)
	}
}

// Without module rules, a report of modules is forged and has no effect.
func TestReadModulesWithoutRules(t *testing.T) {
	var r run.Result
	Read(&r, encodeReport(t, watched), Run{Limits: policy.DefaultLimits()})
	if r.Modules != nil || r.Violations != nil || r.Outcome != run.Succeeded {
		t.Errorf("%+v", r)
	}
}

func TestReadRefusesWrongModules(t *testing.T) {
	many := func(n int) (all []any) {
		for range n {
			all = append(all, []any{"m", []any{}, 0, 0})
		}
		return all
	}
	var files, denied []any
	for range maxFiles + 1 {
		files = append(files, "/x")
	}
	for range maxDenied + 1 {
		denied = append(denied, []any{"m", "*", "/x", 1, 1})
	}
	for name, report := range map[string]fields{
		"modules that are none":  watched.with("modules", 1),
		"denied that is none":    watched.with("denied", "x"),
		"a module that is none":  watched.with("modules", []any{"x"}),
		"few fields":             watched.with("modules", []any{[]any{"x"}}),
		"a name that is none":    watched.with("modules", []any{[]any{1, []any{}, 0, 0}}),
		"files that are none":    watched.with("modules", []any{[]any{"x", []any{1}, 0, 0}}),
		"a number that is none":  watched.with("modules", []any{[]any{"x", []any{}, "0", 0}}),
		"a denial of few fields": watched.with("denied", []any{[]any{"x"}}),
		"too many modules":       watched.with("modules", many(maxModules+1)),
		"too many files":         watched.with("modules", []any{[]any{"x", files, 0, 0}}),
		"too many denials":       watched.with("denied", denied),
	} {
		var r run.Result
		Read(&r, encodeReport(t, report), Run{Limits: policy.DefaultLimits(), Modules: true})
		if r.Outcome != run.InvalidOutput || r.Modules != nil || r.Violations != nil {
			t.Errorf("%s: %s %+v", name, r.Outcome, r)
		}
	}
	long := watched.with("modules", []any{[]any{strings.Repeat("x", 1000), []any{}, -1, -1}})
	var r run.Result
	Read(&r, encodeReport(t, long), Run{Limits: policy.DefaultLimits(), Modules: true})
	if len(r.Modules) != 1 || len(r.Modules[0].Module) > maxModuleName || r.Modules[0].Omitted != 0 || r.Modules[0].Threads != 0 {
		t.Errorf("%+v", r.Modules)
	}
}
