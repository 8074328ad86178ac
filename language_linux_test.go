package cordon_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

func TestCheck(t *testing.T) {
	r := newRunner(t, cordon.Options{Policy: policy.Policy{Language: policy.Language{Modules: []string{"heapq"}, Builtins: []string{"input"}}}})
	for _, tt := range []struct {
		script string
		preset policy.LanguagePreset
		want   string // rules with their positions
	}{
		{"import math\nprint(math.pi)", "", ""},
		{"import math, os\nfrom sys import path", "", "1:14 import-not-allowed, 2:1 import-not-allowed"},
		{"import decimal", "", ""},
		{"import decimal", policy.LanguageHook, "1:8 import-not-allowed"},
		{"import heapq\nx = input()", "", ""},
		{"import heapq\nx = input()", policy.LanguageHook, ""},
		{"x = 1\ny =", "", "2:4 syntax"},
		{"from . import x\nfrom math import *\nfrom random import _inst", "", "1:1 import-relative, 2:1 import-star, 3:1 import-private"},
		{"class A(metaclass=B): pass\ntype('X', (), {})", "", "1:1 metaclass, 2:1 type-call"},
	} {
		findings, err := r.Check(t.Context(), run.Check{Script: tt.script, Preset: tt.preset})
		var got []string
		for _, f := range findings {
			got = append(got, fmt.Sprintf("%d:%d %s", f.Line, f.Column, f.Rule))
			if f.Reason == "" || !strings.HasPrefix(f.String(), fmt.Sprintf("%d:%d: %s: ", f.Line, f.Column, f.Rule)) {
				t.Errorf("%+v", f)
			}
		}
		if err != nil || strings.Join(got, ", ") != tt.want {
			t.Errorf("%q: %q, %v; want %q", tt.script, got, err, tt.want)
		}
	}
	if _, err := r.Check(t.Context(), run.Check{Script: "x", Preset: "mild"}); !errors.Is(err, run.ErrInvalid) {
		t.Errorf("%v", err)
	}
}

func TestRestricted(t *testing.T) {
	r := newRunner(t, cordon.Options{})
	for range 4 { // the third time, the code comes from the cache
		res, err := r.Run(t.Context(), run.Request{Script: run.Script{Source: "import os\nx = ().__class__", Restricted: true}})
		if err != nil {
			t.Fatal(err)
		}
		if res.Outcome != run.Refused || res.ErrorType != "policy" || len(res.Violations) != 2 || !strings.Contains(res.Error, "import of module 'os' is not allowed") {
			t.Errorf("%s %q %+v", res.Outcome, res.Error, res.Violations)
		}
		if v := res.Violations[1]; v.Wall != policy.WallLanguage || v.Op != "dunder-attribute" || v.Line != 2 || v.Column != 5 || v.Hint == "" {
			t.Errorf("%+v", v)
		}
		res, err = r.Run(t.Context(), run.Request{Script: run.Script{Source: "import math\nf = '{0.__class__}'\nresult = f.format(math)", Restricted: true}})
		if err != nil || res.Outcome != run.Raised || res.Exception.Line != 3 {
			t.Errorf("%s %q %v", res.Outcome, res.Error, err)
		}
		// The same text without the rules is another script.
		res, err = r.Run(t.Context(), run.Request{Script: run.Script{Source: "import math\nf = '{0.__class__}'\nresult = f.format(math)"}})
		if err != nil || string(res.Value) != `"<class 'module'>"` {
			t.Errorf("%s %q %v", res.Outcome, res.Error, err)
		}
	}
	r = newRunner(t, cordon.Options{Policy: policy.Policy{Require: []policy.Wall{policy.WallLanguage}}})
	if res, err := r.Run(t.Context(), run.Request{Script: run.Script{Source: "import os"}}); err != nil || res.Outcome != run.Refused {
		t.Errorf("where the policy requires it: %s %v", res.Outcome, err)
	}
	if _, err := r.Run(t.Context(), run.Request{Script: run.Script{Source: "x"}, Tier: policy.TierHook}); !errors.Is(err, run.ErrInvalid) || !strings.Contains(err.Error(), "OpenHook") {
		t.Errorf("%v", err)
	}
}

// An unknown module or builtin in the policy is an error, not a Result of a guest.
func TestRunRefusesUnknownLanguageOfPolicy(t *testing.T) {
	for words, language := range map[string]policy.Language{
		"nosuchmodule":  {Modules: []string{"nosuchmodule"}},
		"nosuchbuiltin": {Builtins: []string{"nosuchbuiltin"}},
	} {
		r := newRunner(t, cordon.Options{Policy: policy.Policy{Language: language}})
		if _, err := r.Run(t.Context(), run.Request{Script: run.Script{Source: "x", Restricted: true}}); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v", words, err)
		}
	}
}
