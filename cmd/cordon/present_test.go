package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cordon-sandbox/cordon/internal/hints"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

func TestPresent(t *testing.T) {
	for _, tt := range []struct {
		name           string
		res            run.Result
		how            presentation
		open           bool
		stdout, stderr string
	}{
		{"nothing to say", run.Result{Outcome: run.Succeeded, Value: json.RawMessage("42")}, presentation{}, false, "", ""},
		{
			"a terminal", run.Result{Outcome: run.Raised, Error: "PermissionError: no", Violations: []run.Violation{{Op: "socket", Count: 1, Hint: "there is no network: say cordon: instead"}}},
			presentation{width: 40, color: true}, false, "",
			"cordon: \x1b[1;31mexception\x1b[0m: PermissionError: no\ncordon: \x1b[1;31mblocked\x1b[0m: socket, once — there is\n        no network: say cordon: instead\n",
		},
		{"somebody is looking", run.Result{Outcome: run.Succeeded, Value: json.RawMessage("42")}, presentation{person: true}, false, "", "cordon: result: 42\n"},
		{"no result", run.Result{Outcome: run.Succeeded, Value: json.RawMessage("null")}, presentation{person: true}, false, "", ""},
		{"its own exit code", run.Result{Outcome: run.Exited, Error: "left with 7"}, presentation{}, false, "", ""},
		{"timeout", run.Result{Outcome: run.TimedOut, Error: "timed out: wall time limit of 2s reached"}, presentation{}, false, "", "cordon: timed out: wall time limit of 2s reached\n"},
		{"quiet", run.Result{Outcome: run.TimedOut, Error: "timed out: wall time limit of 2s reached"}, presentation{quiet: true}, false, "", ""},
		{"an open line", run.Result{Outcome: run.TimedOut, Error: "timed out: late"}, presentation{}, true, "", "\ncordon: timed out: late\n"},
		{"colors", run.Result{Outcome: run.TimedOut, Error: "timed out: late"}, presentation{color: true}, false, "", "cordon: \x1b[1;31mtimed out\x1b[0m: late\n"},
		{
			"violations", run.Result{Outcome: run.Raised, Error: "PermissionError (line 3)", Violations: []run.Violation{
				{Op: "socket", Detail: "AF_INET, SOCK_STREAM", Line: 3, Count: 1, Hint: "no network"}, {Op: "fork", Count: 4},
			}},
			presentation{}, false, "",
			"cordon: exception: PermissionError (line 3)\ncordon: blocked: socket (AF_INET, SOCK_STREAM) at line 3, once — no network\ncordon: blocked: fork, 4 times\n",
		},
		{
			"refused", run.Result{Outcome: run.Refused, Error: "1:8: import-not-allowed: os", Violations: []run.Violation{
				{Wall: policy.WallLanguage, Op: "import-not-allowed", Detail: "os", Line: 1, Column: 8, Count: 1, Hint: "no files", Allowed: []string{"json"}},
			}},
			presentation{name: "a.py"}, true, "",
			"\na.py:1:8: import-not-allowed: os\n    no files\nimports allowed here: json\ncordon: refused: 1 finding; nothing of the script ran\n",
		},
		{
			"a rule that spoke while it ran", run.Result{Outcome: run.Raised, Error: "RuleViolation: no (line 3)", Violations: []run.Violation{
				{Wall: policy.WallLanguage, Op: "attribute-by-string", Count: 1}, {Wall: policy.WallSeccomp, Op: "fork", Count: 1},
			}},
			presentation{}, false, "", "cordon: exception: RuleViolation: no (line 3)\ncordon: blocked: fork, once\n",
		},
		{
			"module rules", run.Result{Outcome: run.Raised, Error: "PermissionError (line 3)", Violations: []run.Violation{
				hints.ModuleRule(run.Violation{Wall: policy.WallLanguage, Op: "open", Detail: "/data/a", Line: 3, Module: "pandas.io", Claimed: true, Count: 1}, "pandas", "read", "/data/a"),
			}},
			presentation{}, false, "",
			"cordon: exception: PermissionError (line 3)\ncordon: blocked: open (/data/a) at line 3 by module pandas.io, says the script — the script itself may use it, this module may not: do it in the script, or add /data/a to module_rules.pandas.read in the policy\n",
		},
		{"violations that did no harm", run.Result{Outcome: run.Succeeded, Violations: []run.Violation{{Op: "fork", Count: 4}}}, presentation{}, false, "", ""},
		{
			"variables", run.Result{Outcome: run.Succeeded, Variables: map[string]json.RawMessage{
				"x": json.RawMessage("42"), "s": json.RawMessage(`{"$type":"set","$repr":"{1, 2}"}`),
			}},
			presentation{variables: []string{"x", "s", "z"}}, true, "\nx = 42\ns = {1, 2}  # set\n", "cordon: not set: the script has no variable z\n",
		},
		{
			"words in cordon's name", run.Result{Outcome: run.Raised, Error: "E: a\ncordon: all is well\x1b[2J"}, presentation{}, false, "",
			`cordon: exception: E: a\ncordon: all is well\x1b[2J` + "\n",
		},
		{
			"a command that was refused", run.Result{Outcome: run.Refused, Error: "the command was not started: interpreter: sh is a shell", Violations: []run.Violation{
				{Wall: policy.WallCommand, Op: "interpreter", Detail: "sh is a shell", Count: 1, Hint: "run a program"}, {Wall: policy.WallEgress, Op: "preflight", Detail: "evil.example", Count: 1},
			}},
			presentation{command: true}, false, "",
			"cordon: refused: the command was not started\ncordon: blocked: interpreter (sh is a shell) — run a program\ncordon: blocked: preflight (evil.example)\n",
		},
		{"a command that was interrupted", run.Result{Outcome: run.Signaled, Signal: "SIGINT", Error: "ended by SIGINT"}, presentation{command: true}, false, "", ""},
		{"a script that was interrupted", run.Result{Outcome: run.Signaled, Signal: "SIGINT", Error: "ended by SIGINT"}, presentation{}, false, "", "cordon: crashed: ended by SIGINT\n"},
		{"a command that was killed", run.Result{Outcome: run.Signaled, Signal: "SIGTERM", Error: "ended by SIGTERM"}, presentation{command: true}, false, "", "cordon: killed: ended by SIGTERM\n"},
		{"a command that crashed", run.Result{Outcome: run.Signaled, Signal: "SIGBUS", Error: "ended by SIGBUS"}, presentation{command: true}, false, "", "cordon: crashed: ended by SIGBUS\n"},
		{
			"an account", run.Result{
				Outcome: run.Succeeded, Violations: []run.Violation{{Op: "mount", Count: 2}},
				Usage:   run.Usage{WallTime: 1_234_567_890, CPUTime: 2_000_000, Memory: 5 << 20, Output: 12},
				Traffic: []run.Traffic{{Host: "a.example", Port: 443, Connections: 2, Sent: 1500, Received: 3 << 20}, {Host: "b\x1b.example", Port: 80, Module: "requests.api", Connections: 1}},
				Modules: []run.ModuleUse{{Module: "pandas.io", Files: []string{"/data/a"}, Omitted: 1, Threads: 1}},
				Enforcement: run.Enforcement{Walls: map[policy.Wall]policy.WallStatus{
					policy.WallEgress: policy.EnforcedWall(""), policy.WallSeccomp: policy.MissingWall("no kernel"), policy.WallUser: policy.EnforcedWall(""),
				}},
			},
			presentation{command: true, verbose: true, color: true, hidden: errors.New("/root is a home directory")}, false, "",
			"cordon: \x1b[1;31mblocked\x1b[0m: mount, 2 times\n" +
				"cordon: used: 1.23457s of wall time, 2ms of CPU time, 5MiB of memory, 12B of output\n" +
				"cordon: workspace: none; /root is a home directory\n" +
				"cordon: traffic: a.example port 443, 2 connections, 1.5KiB sent, 3MiB received\n" +
				"cordon: traffic: b\\x1b.example port 80, 1 connection, 0B sent, 0B received, by module requests.api\n" +
				"cordon: module: pandas.io opened 2 files and started 1 thread\n" +
				"cordon: wall: userns is enforced\ncordon: wall: seccomp is missing: no kernel\ncordon: wall: egress is enforced\n",
		},
		{
			"truncated", run.Result{Outcome: run.Succeeded, Stdout: "abc", StdoutSize: 1000, StdoutTruncated: true}, presentation{}, false, "",
			"cordon: truncated: stdout was cut at the output limit: 1000B were written; -o allows more, up to the policy's maximum\n",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out, errs bytes.Buffer
			stdout := &tap{ctx: context.Background(), to: &out, open: tt.open && len(tt.how.variables) > 0}
			stderr := &tap{ctx: context.Background(), to: &errs, open: tt.open && len(tt.how.variables) == 0}
			if err := present(stdout, stderr, tt.res, tt.how); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.stdout, out.String()); diff != "" {
				t.Error("stdout", diff)
			}
			if diff := cmp.Diff(tt.stderr, errs.String()); diff != "" {
				t.Error("stderr", diff)
			}
		})
	}
}

func TestOneLineIsBounded(t *testing.T) {
	if n := len(oneLine(strings.Repeat("é ", 10_000))); n > 700 {
		t.Errorf("%d bytes", n)
	}
}

// The message of a timeout, which other programs know, begins with its heading.
func TestOnlyTimeoutsNameTheirHeading(t *testing.T) {
	for _, limit := range policy.LimitTable() {
		if begins := strings.HasPrefix(limit.Reached, limit.Heading+": "); limit.Outcome != "" && begins != (limit.Outcome == string(run.TimedOut)) {
			t.Errorf("%s: %q, heading %q", limit.Key, limit.Reached, limit.Heading)
		}
	}
}
