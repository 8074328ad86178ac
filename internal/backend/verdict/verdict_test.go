package verdict

import (
	"errors"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/output"
	"github.com/cordon-sandbox/cordon/internal/wire"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// reportOf returns the report of a script.
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

func TestJudge(t *testing.T) {
	ok := reportOf(t, wire.Field{Name: "end", Value: "ok"}, wire.Field{Name: "code", Value: 0}, wire.Field{Name: "result", Value: 42})
	limits := policy.DefaultLimits()
	signal := func(name string) *Exit { return &Exit{Code: -1, Signal: name} }
	overtime := run.Usage{CPUTime: limits.CPUTime}
	bad := errors.New("rubbish")
	for _, test := range []struct {
		name     string
		evidence Evidence
		outcome  run.Outcome
		words    string
	}{
		{"a value", Evidence{Report: ok}, run.Succeeded, ""},
		{"a clock that fires behind the report", Evidence{Report: ok, Killed: "wall_time", Exit: signal("SIGKILL")}, run.Succeeded, ""},
		{"too much output, whatever it reports", Evidence{Report: ok, Killed: "output"}, run.OutOfOutput, "output limit of 64KiB"},
		{"too much on disk, whatever it reports", Evidence{Report: ok, Killed: "disk"}, run.OutOfDisk, "disk limit of 64MiB"},
		{"canceled", Evidence{Killed: Canceled, Exit: signal("SIGKILL")}, run.Canceled, "caller"},
		{"hammering", Evidence{Guest: Command, Killed: Hammering}, run.Denied, "the command kept trying"},
		{"closed channel", Evidence{Guest: Script, Killed: Channel, Exit: signal("SIGKILL")}, run.InvalidOutput, "the guest closed its result channel"},
		{"closed channel, but it crashed by itself", Evidence{Killed: Channel, Exit: signal("SIGSEGV")}, run.Signaled, "SIGSEGV"},
		{"not needed any more", Evidence{Killed: "done", Report: ok}, run.Succeeded, ""},
		{"a reason goes before an exit", Evidence{Killed: "wall_time", Exit: &Exit{Code: 3}}, run.TimedOut, "30s"},
		{"a signal", Evidence{Guest: Command, Exit: signal("SIGSEGV")}, run.Signaled, "the command was ended by SIGSEGV"},
		{"a crash", Evidence{Guest: Script, Exit: signal("SIGSEGV")}, run.Signaled, "the guest crashed with SIGSEGV"},
		{"the filter's signal, which a guest can send too", Evidence{Exit: signal("SIGSYS")}, run.Signaled, "ended by SIGSYS, as programs are that"},
		{"the kernel's limit of CPU time", Evidence{Exit: signal("SIGXCPU"), Usage: overtime}, run.OutOfCPU, "10s"},
		{"its signal, before the time", Evidence{Exit: signal("SIGXCPU")}, run.Signaled, "SIGXCPU"},
		{"a crash behind its time", Evidence{Exit: signal("SIGSEGV"), Usage: overtime}, run.Signaled, "SIGSEGV"},
		{"memory goes before CPU time", Evidence{Exit: signal("SIGKILL"), Usage: overtime, Refused: []string{"memory"}}, run.OutOfMemory, "256MiB"},
		{"CPU time goes before processes", Evidence{Exit: signal("SIGKILL"), Usage: overtime, Refused: []string{"processes"}}, run.OutOfCPU, "10s"},
		{"refused, and it gave up", Evidence{Exit: &Exit{Code: 1}, Refused: []string{"processes", "scratch"}}, run.OutOfProcs, "limit of 64 processes"},
		{"refused, and it went on", Evidence{Exit: &Exit{}, Refused: []string{"memory", "scratch"}}, run.Succeeded, ""},
		{"too many open files", Evidence{Exit: &Exit{Code: 1}, Refused: []string{"open_files"}}, run.Exited, "limit of 64 open files reached"},
		{"an exit code", Evidence{Guest: Module, Exit: &Exit{Code: 3}}, run.Exited, "the module left with exit code 3"},
		{"an exit without a word", Evidence{Exit: &Exit{}}, run.Succeeded, ""},
		{"an exit goes before a bad report", Evidence{Exit: signal("SIGSEGV"), Malformed: bad}, run.Signaled, "SIGSEGV"},
		{"half a report, and a proper end", Evidence{Exit: &Exit{}, Malformed: bad}, run.InvalidOutput, "rubbish"},
		{"rubbish on the channel", Evidence{Malformed: bad}, run.InvalidOutput, "rubbish"},
		{"nothing at all", Evidence{}, run.InvalidOutput, "result channel"},
		{"a trap", Evidence{Trap: &Trap{Message: "unreachable"}}, run.Trapped, "trap: unreachable"},
		{"a trap for want of memory", Evidence{Trap: &Trap{Message: "unreachable"}, Refused: []string{"memory"}}, run.OutOfMemory, "256MiB"},
		{"a limit goes before a trap", Evidence{Killed: "fuel", Trap: &Trap{Message: "unreachable"}}, run.OutOfFuel, "limit of 1T instructions"},
		{"larger than its memory", Evidence{TooLarge: errors.New("needs 1GiB")}, run.OutOfMemory, "needs 1GiB"},
		{"a module's value", Evidence{Value: &Value{JSON: []byte("1")}}, run.Succeeded, ""},
		{"a module's value that is none", Evidence{Value: &Value{Wrong: "not JSON"}}, run.InvalidOutput, "not JSON"},
		{"a module's value above the limit", Evidence{Value: &Value{TooLarge: true}}, run.OutOfResult, "result limit of 8MiB"},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := test.evidence
			e.Limits, e.Stdout = limits, output.Capture{Data: []byte("x"), Size: 2, Dropped: 1}
			r, _ := Judge(e)
			if r.Outcome != test.outcome || !strings.Contains(r.Error, test.words) || (r.Error == "") != r.OK() {
				t.Errorf("%s %q, want %s with %q", r.Outcome, r.Error, test.outcome, test.words)
			}
			if r.Status != r.Outcome.Status() || r.ErrorType != r.Outcome.ErrorType() || !r.StdoutTruncated || r.Usage.Output != 2 || r.Usage.CPUTime != e.Usage.CPUTime {
				t.Errorf("%+v", r)
			}
			if r.Signal != "" && r.ExitCode != nil {
				t.Errorf("signal %s and exit code %d", r.Signal, *r.ExitCode)
			}
		})
	}
}

// Each limit that ends a run has the message of its row in the limit table.
func TestJudgeEveryLimit(t *testing.T) {
	for _, limit := range policy.LimitTable() {
		if limit.Outcome == "" {
			continue
		}
		r, _ := Judge(Evidence{Killed: limit.Key, Limits: policy.DefaultLimits(), Exit: &Exit{Signal: "SIGKILL"}})
		if r.Outcome != run.Outcome(limit.Outcome) || r.Error != limit.Message(policy.DefaultLimits()) || string(r.ErrorType) != limit.ErrorType || r.Signal != "SIGKILL" {
			t.Errorf("%s: %s %q", limit.Key, r.Outcome, r.Error)
		}
	}
}
