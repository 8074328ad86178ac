package portable

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/launch"
	"github.com/cordon-sandbox/cordon/internal/output"
	"github.com/cordon-sandbox/cordon/internal/wire"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

func TestRequiredWalls(t *testing.T) {
	strict, err := policy.Preset("strict")
	if err != nil {
		t.Fatal(err)
	}
	all := map[policy.Wall]policy.WallStatus{
		policy.WallSeatbelt: policy.EnforcedWall("files"), policy.WallRlimit: policy.EnforcedWall(""), policy.WallEnvironment: policy.EnforcedWall(""), policy.WallPID: policy.MissingWall("so it is"),
	}
	without := func(wall policy.Wall, status policy.WallStatus) map[policy.Wall]policy.WallStatus {
		fewer := map[policy.Wall]policy.WallStatus{}
		for w, status := range all {
			fewer[w] = status
		}
		if fewer[wall] = status; status.State == "" {
			delete(fewer, wall)
		}
		return fewer
	}
	needsFiles := policy.Policy{Prefer: []policy.Wall{policy.WallFilesystem, policy.WallNetwork}}
	for _, tt := range []struct {
		name   string
		policy policy.Policy
		walls  map[policy.Wall]policy.WallStatus
		unmet  []policy.Wall
	}{
		{"all there", policy.Policy{}, all, nil},
		{"a policy that is resolved", policy.Policy{}.Resolved(), all, nil},
		{"an AppContainer instead", policy.Policy{}, map[policy.Wall]policy.WallStatus{
			policy.WallAppContainer: policy.EnforcedWall(""), policy.WallRlimit: policy.EnforcedWall(""), policy.WallEnvironment: policy.EnforcedWall(""),
		}, nil},
		{"none", policy.Policy{}, nil, []policy.Wall{policy.WallFilesystem, policy.WallNetwork, policy.WallRlimit, policy.WallEnvironment}},
		{"no seatbelt", policy.Policy{}, without(policy.WallSeatbelt, policy.MissingWall("Apple took it")), []policy.Wall{policy.WallFilesystem, policy.WallNetwork}},
		{"it is preferred", needsFiles, without(policy.WallSeatbelt, policy.WallStatus{}), nil},
		{"no limits", policy.Policy{}, without(policy.WallRlimit, policy.WallStatus{}), []policy.Wall{policy.WallRlimit}},
		{"a wall of Linux by name", policy.Policy{Require: []policy.Wall{policy.WallLandlock}}, all, []policy.Wall{policy.WallLandlock}},
		{"one that is missing here", policy.Policy{Require: []policy.Wall{policy.WallPID}}, all, []policy.Wall{policy.WallPID}},
		{"strict", strict, all, []policy.Wall{policy.WallUser, policy.WallMount, policy.WallPID, policy.WallNet, policy.WallLandlock}},
		{"the language rules", policy.Policy{Require: []policy.Wall{policy.WallLanguage}}, all, nil},
	} {
		unmet, reasons := Unmet(tt.policy, tt.walls)
		if !slices.Equal(unmet, tt.unmet) || len(reasons) != len(unmet) {
			t.Errorf("%s: %v (%v) instead of %v", tt.name, unmet, reasons, tt.unmet)
		}
		err := refuse(tt.policy, tt.walls)
		if (err != nil) != (len(tt.unmet) > 0) || err != nil && run.ClassOf(err) != run.Unsupported {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	err = refuse(policy.Policy{ModuleRules: map[string]policy.ModuleRule{policy.AnyModule: {AllowNet: []string{}}}}, all)
	if run.ClassOf(err) != run.Unsupported || !strings.Contains(err.Error(), "module_rules need Linux") {
		t.Errorf("module rules that nobody applies: %v", err)
	}
	err = refuse(policy.Policy{}, without(policy.WallSeatbelt, policy.MissingWall("Apple took it")))
	if err == nil || !strings.Contains(err.Error(), "filesystem (seatbelt: Apple took it)") || !strings.Contains(err.Error(), "Linux virtual machine") {
		t.Errorf("%v does not say why and what would help", err)
	}
}

func TestTerminalIsRefused(t *testing.T) {
	job := backend.Job{Request: run.Request{Command: run.Command{Args: []string{"vi"}}, Streams: run.Streams{Terminal: &run.Terminal{}}}}
	if err := refuseJob(job); run.ClassOf(err) != run.Unsupported || !strings.Contains(err.Error(), "--no-terminal") {
		t.Errorf("%v", err)
	}
}

func TestBubblewrapIsRefused(t *testing.T) {
	_, err := NewCommands(Options{Policy: policy.Policy{Jail: policy.JailBwrap}})
	if run.ClassOf(err) != run.Unsupported || !strings.Contains(err.Error(), "bwrap needs Linux") {
		t.Errorf("%v", err)
	}
}

func TestJudge(t *testing.T) {
	report := func(fields ...wire.Field) wire.Dict {
		payload, err := wire.AppendDict(nil, fields...)
		if err != nil {
			t.Fatal(err)
		}
		words, err := wire.DecodeDict(payload)
		if err != nil {
			t.Fatal(err)
		}
		return words
	}
	ok := report(wire.Field{Name: "end", Value: "ok"}, wire.Field{Name: "code", Value: 0}, wire.Field{Name: "result", Value: 1})
	limits := policy.DefaultLimits()
	command := []string{"make"}
	for _, tt := range []struct {
		name    string
		e       evidence
		outcome run.Outcome
		code    int // -1 for none
		signal  string
		words   string
	}{
		{"a value", evidence{Report: ok, Killed: killedDone, Exit: launch.Exit{Code: -1, Signal: "SIGKILL"}}, run.Succeeded, 0, "", ""},
		{"a report just before the clock", evidence{Report: ok, Killed: killedWall}, run.Succeeded, 0, "", ""},
		{"a report after too much output", evidence{Report: ok, Killed: killedOutput}, run.OutOfOutput, -1, "", "output limit of 64KiB"},
		{"a report after too many files", evidence{Report: ok, Killed: killedScratch}, run.OutOfDisk, -1, "", "scratch limit of 16MiB"},
		{"rubbish", evidence{Malformed: errors.New("rubbish"), Killed: killedDone}, run.InvalidOutput, -1, "", "rubbish"},
		{"wall time", evidence{Killed: killedWall, Exit: launch.Exit{Code: -1, Signal: "SIGKILL"}}, run.TimedOut, -1, "SIGKILL", "wall time limit of 30s"},
		{"wall time, without signals", evidence{Killed: killedWall, Exit: launch.Exit{Code: 1}}, run.TimedOut, -1, "", "wall time limit of 30s"},
		{"CPU time", evidence{Killed: killedCPU}, run.OutOfCPU, -1, "", "CPU time limit of 10s"},
		{"memory", evidence{Killed: killedMemory}, run.OutOfMemory, -1, "", "memory limit of 256MiB"},
		{"processes", evidence{Command: command, Killed: killedProcs}, run.OutOfProcs, -1, "", "limit of 64 processes"},
		{"files", evidence{Command: command, Killed: killedFiles}, run.OutOfDisk, -1, "", "limit of 50000 new files"},
		{"disk", evidence{Command: command, Killed: killedDisk}, run.OutOfDisk, -1, "", "disk limit of 64MiB"},
		{"canceled", evidence{Killed: killedCanceled}, run.Canceled, -1, "", "the caller canceled"},
		{"a crash", evidence{Exit: launch.Exit{Code: -1, Signal: "SIGSEGV"}}, run.Signaled, -1, "SIGSEGV", "crashed with SIGSEGV"},
		{"a crash on Windows", evidence{Exit: launch.Exit{Code: -1, Signal: "ACCESS_VIOLATION"}}, run.Signaled, -1, "ACCESS_VIOLATION", "ACCESS_VIOLATION"},
		{"no report, and no error", evidence{}, run.Succeeded, 0, "", ""},
		{"no report, and an exit code", evidence{Exit: launch.Exit{Code: 3}}, run.Exited, 3, "", "the guest left with exit code 3"},
		{"a command's exit code", evidence{Command: command, Exit: launch.Exit{Code: 2}}, run.Exited, 2, "", "the command left with exit code 2"},
		{"a command's signal", evidence{Command: command, Exit: launch.Exit{Code: -1, Signal: "SIGTERM"}}, run.Signaled, -1, "SIGTERM", "ended by SIGTERM"},
		{"the kernel's own time", evidence{Exit: launch.Exit{Code: -1, Signal: "SIGXCPU"}, CPUTime: 11 * time.Second}, run.OutOfCPU, -1, "SIGXCPU", "CPU time"},
		{"a signal that looks like it", evidence{Exit: launch.Exit{Code: -1, Signal: "SIGXCPU"}, CPUTime: time.Second}, run.Signaled, -1, "SIGXCPU", "SIGXCPU"},
		{"the system's memory limit", evidence{Exit: launch.Exit{Code: 1, Limit: launch.LimitMemory}}, run.OutOfMemory, 1, "", "memory limit"},
		{"the system's time limit", evidence{Exit: launch.Exit{Code: 1, Limit: launch.LimitCPUTime}}, run.OutOfCPU, 1, "", "CPU time"},
		{"the system's process limit", evidence{Command: command, Exit: launch.Exit{Code: 1, Limit: launch.LimitProcesses}}, run.OutOfProcs, 1, "", "limit of 64 processes"},
		{"a limit that did no harm", evidence{Command: command, Exit: launch.Exit{Limit: launch.LimitProcesses}}, run.Succeeded, 0, "", ""},
	} {
		tt.e.Limits = limits
		tt.e.Stdout = output.Capture{Data: []byte("out"), Size: 5, Dropped: 2}
		got, _ := judge(tt.e)
		code := -1
		if got.ExitCode != nil {
			code = *got.ExitCode
		}
		if got.Outcome != tt.outcome || code != tt.code || got.Signal != tt.signal || !strings.Contains(got.Error, tt.words) {
			t.Errorf("%s: %s, code %d, signal %q, error %q", tt.name, got.Outcome, code, got.Signal, got.Error)
		}
		if got.Stdout != "out" || !got.StdoutTruncated || got.Status != got.Outcome.Status() || got.ErrorType != got.Outcome.ErrorType() {
			t.Errorf("%s: %+v", tt.name, got)
		}
	}
}

// idle is a process that does nothing.
type idle struct{}

func (idle) Kill()                      {}
func (idle) Usage() (u launch.Usage)    { return u }
func (idle) Wait() (launch.Exit, error) { return launch.Exit{}, nil }

// What an interpreter uses while it starts is not the guest's.
func TestLimitsHoldOnceTheGuestIsReady(t *testing.T) {
	limits := policy.Limits{CPUTime: time.Second, Memory: policy.MiB, Processes: 1}
	for _, row := range []struct {
		usage launch.Usage
		want  reason
	}{
		{launch.Usage{CPUTime: 3*time.Second - 1, Memory: policy.MiB + bareInterpreter, Processes: 1}, ""},
		{launch.Usage{CPUTime: 3 * time.Second}, killedCPU},
		{launch.Usage{Memory: policy.MiB + bareInterpreter + 1}, killedMemory},
		{launch.Usage{Processes: 2}, killedProcs},
	} {
		g := &guest{process: idle{}, ready: make(chan struct{}), job: backend.Job{Limits: limits, Request: run.Request{Command: run.Command{Args: []string{"true"}}}}}
		g.cpu.Store(int64(2 * time.Second)) // used before it was ready
		g.hold(row.usage)
		if got := g.reason(); got != "" {
			t.Errorf("%+v: killed for its %s while it starts", row.usage, got)
		}
		close(g.ready)
		g.hold(row.usage)
		if got := g.reason(); got != row.want {
			t.Errorf("%+v: %q, want %q", row.usage, got, row.want)
		}
	}
}
