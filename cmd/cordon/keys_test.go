package main

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cordon-sandbox/cordon/policy"
)

// otherwiseNamed are the flags that set a key of a policy and have another name.
var otherwiseNamed = map[string]string{
	"policy": "names a whole policy",
	"preset": "the key of a check; it also takes hook, which is not for scripts",
}

// A flag that sets a key of a policy has the name of the key. Each flag of each command is
// set alone, and the policy before is compared with the policy after.
func TestFlagsAreNamedAsPolicyKeys(t *testing.T) {
	t.Chdir(t.TempDir())
	set := map[string]bool{}
	for name, effective := range policiesOf {
		before := keysOf(t, effective(t, &cobra.Command{}, nil))
		flags := constructors()[name]().Flags()
		flags.VisitAll(func(f *pflag.Flag) {
			value := sampleValue(f)
			if value == "" {
				t.Fatalf("sampleValue has none for --%s of cordon %s", f.Name, name)
			}
			after := keysOf(t, effective(t, &cobra.Command{}, []string{"--" + f.Name + "=" + value}))
			named := false
			changed := map[string]bool{}
			for _, key := range slices.Concat(slices.Collect(maps.Keys(before)), slices.Collect(maps.Keys(after))) {
				if before[key] == after[key] {
					continue
				}
				changed[key] = true
				named = named || flagOf(key) == f.Name
				set[key] = set[key] || flagOf(key) == f.Name
			}
			if len(changed) > 0 && !named && otherwiseNamed[f.Name] == "" {
				t.Errorf("cordon %s: --%s sets %q", name, f.Name, slices.Sorted(maps.Keys(changed)))
			}
			isKey := slices.ContainsFunc(slices.Collect(maps.Keys(before)), func(key string) bool { return flagOf(key) == f.Name })
			if isKey && !named {
				t.Errorf("cordon %s: --%s has the name of a key and does not set it", name, f.Name)
			}
		})
	}
	for _, limit := range policy.LimitTable() {
		if !set["limits."+limit.Key] {
			t.Errorf("no flag sets limits.%s", limit.Key)
		}
	}
	for _, key := range []string{
		"trust", "python", "python_wasm", "on_output_limit", "read", "write", "allow_net", "egress", "jail", "allow_interpreters", "dangerous_workspace", "deterministic",
	} {
		if !set[key] {
			t.Errorf("no flag sets %s", key)
		}
	}
}

func flagOf(key string) string {
	return strings.NewReplacer("_", "-", ".", "-").Replace(strings.TrimPrefix(key, "limits."))
}

// policiesOf gives, for each command that runs guests, the policy that its flags make.
var policiesOf = map[string]func(*testing.T, *cobra.Command, []string) policy.Document{
	"run": func(t *testing.T, cmd *cobra.Command, args []string) policy.Document {
		var opts runOptions
		opts.addTo(cmd)
		p := must(t, cmd.ParseFlags(args), opts.Load)
		limits, err := opts.narrow(p)
		return document(t, err, p, limits, opts.trust, opts.onOutputLimit)
	},
	"session": func(t *testing.T, cmd *cobra.Command, args []string) policy.Document {
		var opts sessionOptions
		opts.addTo(cmd)
		p := must(t, cmd.ParseFlags(args), opts.Load)
		limits, err := opts.narrow(p)
		return document(t, err, p, limits, opts.trust, opts.onOutputLimit)
	},
	"hook": func(t *testing.T, cmd *cobra.Command, args []string) policy.Document {
		var opts hookOptions
		opts.addTo(cmd)
		p := must(t, cmd.ParseFlags(args), opts.Load)
		narrowed, err := forCalls(p, opts.limitOptions)
		return document(t, err, p, narrowed.Limits, opts.trust, "")
	},
	"check": func(t *testing.T, cmd *cobra.Command, args []string) policy.Document {
		var opts checkOptions
		opts.addTo(cmd)
		p := must(t, cmd.ParseFlags(args), opts.Load)
		if opts.preset != "" {
			p.Language.Preset = policy.LanguagePreset(opts.preset)
		}
		return document(t, nil, p, p.Limits, "", "")
	},
	"doctor": func(t *testing.T, cmd *cobra.Command, args []string) policy.Document {
		var opts doctorOptions
		opts.addTo(cmd)
		p := must(t, cmd.ParseFlags(args), opts.Load)
		return document(t, nil, p, p.Limits, "", "")
	},
	"exec": func(t *testing.T, cmd *cobra.Command, args []string) policy.Document {
		var opts execOptions
		opts.addTo(cmd)
		p := must(t, cmd.ParseFlags(args), opts.grant)
		return document(t, nil, p, p.Limits, opts.trust, opts.onOutputLimit)
	},
	"wasm": func(t *testing.T, cmd *cobra.Command, args []string) policy.Document {
		var opts wasmOptions
		opts.addTo(cmd)
		p := must(t, cmd.ParseFlags(args), opts.grant)
		limits, err := opts.narrow(p)
		p.Deterministic = p.Deterministic || opts.deterministic
		return document(t, err, p, limits, opts.trust, opts.onOutputLimit)
	},
}

func must(t *testing.T, wrong error, load func() (policy.Policy, error)) policy.Policy {
	t.Helper()
	if wrong != nil {
		t.Fatal(wrong)
	}
	p, err := load()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// document is the policy with what a request says instead of it.
func document(t *testing.T, err error, p policy.Policy, limits policy.Limits, trust, onOutputLimit string) policy.Document {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	p.Limits = limits
	if trust != "" {
		p.Trust = policy.Trust(trust)
	}
	if onOutputLimit != "" {
		p.OnOutputLimit = policy.OutputAction(onOutputLimit)
	}
	return policy.FromPolicy(p)
}

// keysOf gives the keys of a document with their values as text.
func keysOf(t *testing.T, d policy.Document) map[string]string {
	t.Helper()
	text, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	var groups map[string]json.RawMessage
	if err := json.Unmarshal(text, &groups); err != nil {
		t.Fatal(err)
	}
	keys := map[string]string{}
	for name, value := range groups {
		var group map[string]json.RawMessage
		if json.Unmarshal(value, &group) != nil {
			keys[name] = string(value)
		}
		for inner, value := range group {
			keys[name+"."+inner] = string(value)
		}
	}
	return keys
}

// sampleValue is a valid value of a flag that no command has as its default.
func sampleValue(f *pflag.Flag) string {
	for _, limit := range policy.LimitTable() {
		if limit.Flag() == f.Name {
			return limit.Text(cmp.Or(limit.Default/4, limit.Maximum)) // a default of 1 has no quarter
		}
	}
	if f.Value.Type() == "bool" {
		return "true"
	}
	return map[string]string{
		"code": "pass", "script": "a.py", "file": "a.csv", "artifacts": "out", "artifact": "*.png", "context": "1", "context-file": "a.json", "stdin": "a.txt", "variable": "x", "on-output-limit": "kill",
		"policy": "strict", "python": "/usr/bin/python3", "python-wasm": "/a.zip", "tier": "wasm", "trust": "platform", "save": "a", "load": "a",
		"concurrent": "3", "state": "1", "config": "1", "call": "f", "arg": "1", "repeat": "2", "preset": "agent", "area": "files", "junit": "a.xml",
		"workspace": "/usr", "read": "/usr", "write": "/usr", "allow-net": "example.com", "egress": "preflight", "env": "A=1", "jail": "bwrap", "input": "1",
	}[f.Name]
}
