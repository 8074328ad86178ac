package process

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/internal/confine"
	"github.com/cordon-sandbox/cordon/internal/report"
	"github.com/cordon-sandbox/cordon/internal/wire"
	"github.com/cordon-sandbox/cordon/internal/zygote"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// reportOf is what a worker would send.
func reportOf(t *testing.T, fields ...wire.Field) wire.Dict {
	t.Helper()
	payload, err := wire.AppendDict(nil, fields...)
	if err != nil {
		t.Fatal(err)
	}
	dict, err := wire.DecodeDict(payload)
	if err != nil {
		t.Fatal(err)
	}
	return dict
}

func raisedReport(t *testing.T, end, kind, message string, more ...wire.Field) wire.Dict {
	exception := map[string]any{"type": kind, "message": message, "line": 3, "traceback": "…"}
	for _, f := range more {
		exception[f.Name] = f.Value
	}
	return reportOf(t, wire.Field{Name: "end", Value: end}, wire.Field{Name: "code", Value: 1}, wire.Field{Name: "exception", Value: exception})
}

func TestJudge(t *testing.T) {
	limits := policy.DefaultLimits()
	ok := reportOf(t, wire.Field{Name: "end", Value: "ok"}, wire.Field{Name: "code", Value: 0}, wire.Field{Name: "result", Value: 42})
	killed, overtime := &zygote.Exit{Code: -1, Signal: "SIGKILL"}, &zygote.Exit{Code: -1, Signal: "SIGXCPU"}
	for _, test := range []struct {
		name     string
		evidence evidence
		outcome  run.Outcome
		words    string
	}{
		{"a value", evidence{Ending: zygote.Ending{Report: ok}}, run.Succeeded, ""},
		{"a clock that fires behind the report", evidence{Ending: zygote.Ending{Report: ok, Killed: zygote.KilledWall}}, run.Succeeded, ""},
		{"too much output, whatever it reports", evidence{Ending: zygote.Ending{Report: ok, Killed: zygote.KilledOutput}}, run.OutOfOutput, "64KiB"},
		{"wall time", evidence{Ending: zygote.Ending{Exit: killed, Killed: zygote.KilledWall}}, run.TimedOut, "30s"},
		{"CPU time", evidence{Ending: zygote.Ending{Exit: killed, Killed: zygote.KilledCPU}}, run.OutOfCPU, "10s"},
		{"canceled", evidence{Ending: zygote.Ending{Exit: killed, Killed: zygote.KilledCanceled}}, run.Canceled, "caller"},
		{"hammering", evidence{Ending: zygote.Ending{Exit: killed, Killed: zygote.KilledHammering}}, run.Denied, "kept trying"},
		{"closed channel", evidence{Ending: zygote.Ending{Exit: killed, Killed: zygote.KilledChannel}}, run.InvalidOutput, "closed"},
		{"the cgroup killed", evidence{Ending: zygote.Ending{Exit: killed}, OOMKills: 1}, run.OutOfMemory, "256MiB"},
		{"the cgroup killed, and we did while it freed memory", evidence{Ending: zygote.Ending{Exit: killed, Killed: zygote.KilledChannel}, OOMKills: 1}, run.OutOfMemory, "256MiB"},
		{"the cgroup killed, and the clock ran out meanwhile", evidence{Ending: zygote.Ending{Exit: killed, Killed: zygote.KilledWall}, OOMKills: 1}, run.OutOfMemory, "256MiB"},
		{"the cgroup killed it in the middle of its report", evidence{Ending: zygote.Ending{Exit: killed, Malformed: errors.New("unexpected EOF")}, OOMKills: 1}, run.OutOfMemory, "256MiB"},
		{"half a report, and a proper end", evidence{Ending: zygote.Ending{Exit: &zygote.Exit{}, Malformed: errors.New("unexpected EOF")}}, run.InvalidOutput, "unexpected EOF"},
		{"closed channel, but it crashed by itself", evidence{Ending: zygote.Ending{Exit: &zygote.Exit{Code: -1, Signal: "SIGSEGV"}, Killed: zygote.KilledChannel}}, run.Signaled, "SIGSEGV"},
		{"the kernel's processor limit", evidence{Ending: zygote.Ending{Exit: killed, CPUTime: 11 * time.Second}}, run.OutOfCPU, "10s"},
		{"the signal for CPU time", evidence{Ending: zygote.Ending{Exit: overtime, CPUTime: limits.CPUTime}}, run.OutOfCPU, "10s"},
		{"the signal for CPU time, before its time", evidence{Ending: zygote.Ending{Exit: overtime, CPUTime: limits.CPUTime - 1}}, run.Signaled, "SIGXCPU"},
		{"killed, and nobody knows why", evidence{Ending: zygote.Ending{Exit: killed}}, run.Signaled, "SIGKILL"},
		{"crash", evidence{Ending: zygote.Ending{Exit: &zygote.Exit{Code: -1, Signal: "SIGSEGV"}}}, run.Signaled, "SIGSEGV"},
		{"the filter's signal, which a guest can send too", evidence{Ending: zygote.Ending{Exit: &zygote.Exit{Code: -1, Signal: "SIGSYS"}}}, run.Signaled, "ended by SIGSYS, as programs are that"},
		{"os._exit(0)", evidence{Ending: zygote.Ending{Exit: &zygote.Exit{}}}, run.Succeeded, ""},
		{"os._exit(3)", evidence{Ending: zygote.Ending{Exit: &zygote.Exit{Code: 3}}}, run.Exited, "3"},
		{"rubbish on the channel", evidence{Ending: zygote.Ending{Malformed: errors.New("rubbish")}}, run.InvalidOutput, "rubbish"},
		{"a report without an end", evidence{Ending: zygote.Ending{Report: reportOf(t, wire.Field{Name: "code", Value: 0})}}, run.InvalidOutput, "result channel"},
		{"exception", evidence{Ending: zygote.Ending{Report: raisedReport(t, "raised", "ValueError", "no")}}, run.Raised, "ValueError: no (line 3)"},
		{"MemoryError", evidence{Ending: zygote.Ending{Report: raisedReport(t, "raised", "MemoryError", "", wire.Field{Name: "kind", Value: "memory"})}}, run.OutOfMemory, "256MiB reached (line 3)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.evidence.Limits = limits
			r, err := judge(test.evidence)
			if err != nil {
				t.Fatal(err)
			}
			if r.Outcome != test.outcome || !strings.Contains(r.Error, test.words) {
				t.Errorf("%s %q, want %s with %q", r.Outcome, r.Error, test.outcome, test.words)
			}
			if len(r.Violations) != 0 {
				t.Errorf("violations that nobody has seen: %+v", r.Violations)
			}
			if r.Status != r.Outcome.Status() || r.ErrorType != r.Outcome.ErrorType() {
				t.Errorf("%s is %s, %s", r.Outcome, r.Status, r.ErrorType)
			}
		})
	}
	if _, err := judge(evidence{Ending: zygote.Ending{Orphaned: true, Exit: killed}}); run.ClassOf(err) != run.Internal {
		t.Errorf("a fork server that died is our failure: %v", err)
	}
}

// An exception is not connected with a denial that cannot have caused it, or with one that
// only the guest reports. A module that the proxy knows is kept.
func TestJudgeConnectsOnlyWhatFits(t *testing.T) {
	refused := run.Violation{Wall: policy.WallEgress, Op: "connect", Detail: "a.example:443"}
	for _, test := range []struct {
		name, module string
		errno        int
		seen         []run.Violation
		line         int // of the first violation
	}{
		{"another error", "", 111, []run.Violation{refused}, 0},
		{"a call, and an exception without a number", "", 0, []run.Violation{{Wall: policy.WallSeccomp, Op: "bind"}}, 0},
		{"a claim", "", 1, []run.Violation{{Wall: policy.WallLanguage, Op: "open", Claimed: true}}, 0},
		{"a call before a claim", "requests", 1, []run.Violation{{Wall: policy.WallSeccomp, Op: "bind"}, {Wall: policy.WallLanguage, Op: "open", Claimed: true}}, 3},
		{"a module of the proxy", "urllib3", 0, []run.Violation{{Wall: policy.WallEgress, Module: "urllib3"}}, 3},
	} {
		t.Run(test.name, func(t *testing.T) {
			words := raisedReport(t, "raised", "OSError", "", wire.Field{Name: "errno", Value: test.errno}, wire.Field{Name: "filename", Value: ""}, wire.Field{Name: "module", Value: "requests"})
			r, err := judge(evidence{Ending: zygote.Ending{Report: words, Violations: test.seen}, Run: report.Run{Limits: policy.DefaultLimits()}})
			if err != nil || r.Violations[0].Line != test.line || r.Violations[0].Module != test.module {
				t.Errorf("%+v, %v", r.Violations, err)
			}
		})
	}
}

// An exception is connected with the wall behind it.
func TestJudgeExplains(t *testing.T) {
	rooted := confine.Plan{Root: []confine.Mount{}, Readable: []string{"/usr/lib/python3"}}
	oserror := func(errno int, filename string) wire.Dict {
		return raisedReport(t, "raised", "OSError", "", wire.Field{Name: "errno", Value: errno}, wire.Field{Name: "filename", Value: filename}, wire.Field{Name: "module", Value: "requests"})
	}
	refused := run.Violation{Wall: policy.WallEgress, Op: "connect", Detail: "a.example:443"}
	for _, test := range []struct {
		name   string
		plan   confine.Plan
		report wire.Dict
		seen   []run.Violation
		want   string // op and detail of the last violation, with its line
	}{
		{"a path outside", rooted, oserror(2, "/etc/passwd"), nil, "mount open /etc/passwd 3"},
		{"a path outside, without a root", confine.Plan{}, oserror(13, "/etc/passwd"), nil, "landlock open /etc/passwd 3"},
		{"a missing file in its own /tmp", rooted, oserror(2, "/tmp/x"), nil, ""},
		{"a missing module file", rooted, oserror(2, "/usr/lib/python3/x.py"), nil, ""},
		{"a write beside the library", rooted, oserror(30, "/usr/lib/python3/x.py"), nil, "mount open /usr/lib/python3/x.py 3"},
		{"a relative path", rooted, oserror(2, "x"), nil, ""},
		{"a denied call", rooted, oserror(1, ""), []run.Violation{{Wall: policy.WallSeccomp, Op: "socket"}}, "seccomp socket  3"},
		{"a denied call with a file name", rooted, oserror(1, "/bin/ls"), []run.Violation{{Wall: policy.WallSeccomp, Op: "clone"}}, "seccomp clone  3"},
		{"a client that the proxy refused", rooted, oserror(0, ""), []run.Violation{refused}, "egress connect a.example:443 3"},
		{"an address past the proxy", rooted, oserror(101, ""), []run.Violation{refused}, "egress connect a.example:443 3"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r, err := judge(evidence{Ending: zygote.Ending{Report: test.report, Violations: test.seen}, Run: report.Run{Limits: policy.DefaultLimits()}, Plan: test.plan})
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if n := len(r.Violations); n > 0 {
				v := r.Violations[n-1]
				got = strings.Join([]string{string(v.Wall), v.Op, v.Detail, "3"}, " ")
				if v.Line != 3 || v.Module != "requests" {
					t.Errorf("line %d, module %q", v.Line, v.Module)
				}
			}
			if got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}
