package mcpserver_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/internal/admission"
	"github.com/cordon-sandbox/cordon/internal/mcpserver"
	"github.com/cordon-sandbox/cordon/internal/service"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// fakeRunner always returns the same Results. Its scripts are single words. Like a Runner, it
// validates a request and waits for its turn.
type fakeRunner struct {
	line *admission.Line // nil: requests do not wait
}

func (f fakeRunner) Run(ctx context.Context, r run.Request) (run.Result, error) {
	if err := r.Validate(); err != nil {
		return run.Result{}, err
	}
	if f.line != nil {
		turn, err := f.line.Enter(ctx, nil)
		if err != nil {
			return run.Result{}, err
		}
		defer turn.Leave()
	}
	result := run.Result{
		Status: run.StatusOK, Outcome: run.Succeeded, ExitCode: new(int), Stdout: "42\n",
		Usage:       run.Usage{WallTime: 2 * time.Millisecond, CPUTime: time.Millisecond, Memory: 9 * policy.MiB, Output: 3},
		Enforcement: run.Enforcement{Tier: policy.TierProcess},
	}
	end := func(o run.Outcome, message string) {
		result.Outcome, result.Status, result.ErrorType, result.Error = o, o.Status(), o.ErrorType(), message
		result.Stdout, result.ExitCode = "", nil
	}
	word, _, _ := strings.Cut(strings.TrimSpace(r.Script.Source), " ")
	if len(r.Command.Args) > 0 {
		word = "command"
		result.Stdout, result.Enforcement.Tier = strings.Join(r.Command.Args, " ")+"\n", policy.TierJail
	}
	switch word {
	case "result":
		result.Value, result.Variables = json.RawMessage(`{"a":[1]}`), map[string]json.RawMessage{"x": json.RawMessage(`3`)}
	case "memory":
		end(run.OutOfMemory, "memory limit reached")
		result.Signal = "SIGKILL"
	case "raise":
		end(run.Raised, "ValueError: no (line 3)")
		result.Exception = &run.Exception{Type: "ValueError", Message: "no", Line: 3, Traceback: "Traceback …"}
		result.Violations = []run.Violation{{Wall: "seccomp", Op: "socket", Detail: "AF_INET", Line: 3, Count: 2, Hint: "pass the data in as input"}}
	case "block":
		<-ctx.Done()
		end(run.Canceled, "canceled")
	case "fail":
		return run.Result{}, run.Errorf(run.Unsupported, "no such wall here")
	}
	return result, nil
}

func (fakeRunner) Check(_ context.Context, c run.Check) ([]run.Finding, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if strings.Contains(c.Script, "import os") {
		return []run.Finding{{Rule: "import-not-allowed", Line: 1, Column: 1, Reason: "os is not allowed", Allowed: []string{"math"}}}, nil
	}
	return nil, nil
}

func (fakeRunner) Tiers() []policy.Tier { return []policy.Tier{policy.TierProcess, policy.TierJail} }

func (fakeRunner) Enforcement() run.Enforcement {
	return run.Enforcement{Tier: policy.TierProcess, Walls: map[policy.Wall]policy.WallStatus{"seccomp": policy.EnforcedWall("")}}
}

// fakeServer returns a server with a fake Runner.
func fakeServer(t testing.TB, change func(*service.Options, *mcpserver.Options)) *mcpserver.Server {
	t.Helper()
	so := service.Options{
		Runner: fakeRunner{}, Version: "1.2.3", Commands: true, OpenSession: openFake,
	}
	mo := mcpserver.Options{Version: "1.2.3", Commands: true}
	if change != nil {
		change(&so, &mo)
	}
	mo.Service = service.New(so)
	t.Cleanup(func() {
		if err := mo.Service.Close(); err != nil {
			t.Error(err)
		}
	})
	return mcpserver.New(mo)
}
