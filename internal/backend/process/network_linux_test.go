package process_test

import (
	"testing"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Hooks do not get the hosts that are granted to scripts, and their results say so.
func TestHooksHaveNoNetwork(t *testing.T) {
	r, err := cordon.NewRunner(cordon.Options{Policy: policy.Policy{AllowNet: []string{"192.0.2.1:80"}}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	script, err := r.Run(t.Context(), run.Request{Script: run.Script{Source: "result = 1"}})
	if err != nil || script.Enforcement.Walls[policy.WallEgress].String() != "enforced (by a proxy to 192.0.2.1:80)" {
		t.Errorf("a script: %q, %v", script.Enforcement.Walls[policy.WallEgress], err)
	}
	h, err := r.OpenHook(t.Context(), run.HookSpec{Script: "result['output'] = 1"})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	called, err := h.Call(t.Context(), nil, nil)
	if err != nil || called.Enforcement.Walls[policy.WallEgress].String() != "enforced (nothing can be reached)" {
		t.Errorf("a hook: %q, %v", called.Enforcement.Walls[policy.WallEgress], err)
	}
}

// Without a grant no socket can be made.
func TestScriptsWithoutGrants(t *testing.T) {
	r, err := cordon.NewRunner(cordon.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	res, err := r.Run(t.Context(), run.Request{Script: run.Script{Source: "import os, socket\nresult = [k for k in os.environ if 'proxy' in k.lower()]\nsocket.socket()"}})
	if err != nil {
		t.Fatal(err)
	}
	if res.OK() || len(res.Violations) != 1 || res.Violations[0].Op != "socket" {
		t.Errorf("%s: %+v", res.Outcome, res.Violations)
	}
}
