package compat_test

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// humanEval has 164 problems with solutions and tests; scripts/setup downloads it.
const humanEval = "../.cache/human-eval/HumanEval.jsonl.gz"

var agentPolicy = policy.Policy{Language: policy.Language{Preset: policy.LanguageAgent}}

// TestHumanEval runs each HumanEval solution with its tests under the rules of the agent preset.
func TestHumanEval(t *testing.T) {
	file, err := os.Open(humanEval)
	if errors.Is(err, os.ErrNotExist) {
		hosttest.Lacks(t, "%v: run scripts/setup test", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	var cells []cell
	for problems := json.NewDecoder(unpacked); ; {
		var p struct {
			ID       string `json:"task_id"`
			Prompt   string `json:"prompt"`
			Solution string `json:"canonical_solution"`
			Test     string `json:"test"`
			Entry    string `json:"entry_point"`
		}
		if err := problems.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		script := p.Prompt + p.Solution + "\n" + p.Test + "\ncheck(" + p.Entry + ")\nresult = 'checked'\n"
		cells = append(cells, cell{name: p.ID, script: script, until: 99})
	}
	if len(cells) != 164 {
		t.Errorf("%d problems, want 164", len(cells))
	}
	for _, p := range mainPythons(t) {
		t.Run(p.name, func(t *testing.T) {
			r := p.runner(t, agentPolicy)
			eachCell(t, p, cells, func(c cell) error {
				res, err := r.Run(t.Context(), run.Request{Script: run.Script{Source: c.script, Restricted: true}})
				if err == nil && string(res.Value) != `"checked"` {
					err = fmt.Errorf("%s: %s", res.Outcome, res.Error)
				}
				return err
			})
		})
	}
}

// TestRestrictedInput checks that a restricted script can read the stdin of its request.
func TestRestrictedInput(t *testing.T) {
	const add = "first = input('a? ')\nsecond = input()\ntry: input()\nexcept EOFError as e: third = str(e)\nresult = [first, second, third]"
	const lines = "import sys\nfirst = input()\nresult = [first, [line.strip() for line in sys.stdin]]"
	for _, p := range mainPythons(t) {
		for name, with := range map[string]policy.Policy{"standard": {}, "agent": agentPolicy} {
			r := p.runner(t, with)
			res, err := r.Run(t.Context(), run.Request{Script: run.Script{Source: add, Restricted: true}, Stdin: "1\nzwei ü"})
			if err != nil {
				t.Fatal(err)
			}
			if res.Stdout != "a? " || string(res.Value) != `["1","zwei ü","input(): there is no more input: give the request a stdin"]` {
				t.Errorf("%s, %s: %s %q %s", p, name, res.Outcome, res.Stdout, res.Value)
			}
			if name == "standard" {
				continue
			}
			if res, err = r.Run(t.Context(), run.Request{Script: run.Script{Source: lines, Restricted: true}, Stdin: "a\nb\nc\n"}); err != nil || string(res.Value) != `["a",["b","c"]]` {
				t.Errorf("%s, %s: %s %s %v", p, name, res.Error, res.Value, err)
			}
		}
	}
}

// TestPresetOfThePolicy checks that the policy sets the preset of restricted scripts, and that
// the Result reports it.
func TestPresetOfThePolicy(t *testing.T) {
	for _, p := range mainPythons(t) {
		for preset, want := range map[policy.LanguagePreset]run.Outcome{"": run.Refused, policy.LanguageStandard: run.Refused, policy.LanguageAgent: run.Succeeded} {
			r := p.runner(t, policy.Policy{Language: policy.Language{Preset: preset}})
			res, err := r.Run(t.Context(), run.Request{Script: run.Script{Source: "import heapq\nresult = getattr(heapq, 'nlargest')(1, [1, 2])", Restricted: true}})
			if err != nil || res.Outcome != want {
				t.Errorf("%s, %s: %s %s %v", p, preset, res.Outcome, res.Error, err)
			}
			rules := policy.Policy{Language: policy.Language{Preset: preset}}.ScriptRules()
			if status := res.Enforcement.Walls[policy.WallLanguage]; status != policy.EnforcedWall(string(rules)) {
				t.Errorf("%s, %s: %s", p, preset, status)
			}
		}
	}
}
