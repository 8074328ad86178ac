package doctor

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/backend/jail"
	"github.com/cordon-sandbox/cordon/internal/cgroup"
	"github.com/cordon-sandbox/cordon/internal/plainjson"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Commands says whether this host can run commands.
type Commands struct {
	OK      bool   `json:"ok"`
	Verdict string `json:"verdict"`
	// Class is the class of the problem.
	Class run.Class `json:"class,omitempty"`
	// Remedy strengthens a wall that is weaker here than elsewhere.
	Remedy string `json:"remedy,omitempty"`
	// First is the duration of the first command.
	First plainjson.Milliseconds `json:"first_ms"`
}

// examineCommands runs one command.
func examineCommands(ctx context.Context, p policy.Policy) Commands {
	began := time.Now()
	backend, err := runCommand(ctx, p)
	if err != nil {
		return Commands{Verdict: "commands do not run here: " + err.Error(), Class: run.ClassOf(err)}
	}
	c := Commands{OK: true, First: plainjson.Milliseconds(time.Since(began)), Verdict: "commands run here"}
	if backend == policy.JailLandlock {
		c.Verdict = "commands run here without namespaces (jail: landlock); " + jail.WatchedProcesses
	}
	f := cgroup.Probe()
	if runtime.GOOS == "linux" && !f.Usable() {
		c.Verdict, c.Remedy = c.Verdict+"; "+jail.WatchedMemory, f.Remedy
	} else if backend != policy.JailLandlock && !f.CountsProcesses() && f.ProcessReason != "" {
		c.Verdict += "; the limit on processes is per user, not per command: " + f.ProcessReason
		c.Remedy = f.ProcessRemedy
	}
	return c
}

// runCommand returns what built the sandbox.
func runCommand(ctx context.Context, p policy.Policy) (policy.JailBackend, error) {
	b, err := jail.New(jail.Options{Policy: p})
	if err != nil {
		return "", err
	}
	result, err := runOnce(ctx, b, backend.Job{Request: run.Request{Command: run.Command{Args: IdleCommand(runtime.GOOS)}}, Limits: p.Resolved().Limits})
	if err == nil && !result.OK() {
		err = run.Errorf(run.Unsupported, "the program `%s` does not run here: %s: %s", IdleCommand(runtime.GOOS)[0], result.Outcome, result.Error)
	}
	return result.Enforcement.Jail, errors.Join(err, b.Close())
}

func runOnce(ctx context.Context, b backend.Backend, job backend.Job) (run.Result, error) {
	sandbox, err := b.Open(ctx, job)
	if err != nil {
		return run.Result{}, err
	}
	result, err := sandbox.Run(ctx, job)
	return result, errors.Join(err, sandbox.Close())
}

func (c Commands) String() string {
	text := c.Verdict
	if c.OK {
		text += fmt.Sprintf(" (the first took %v)", rounded(c.First))
	}
	if c.Remedy != "" {
		text += "; to fix it: " + c.Remedy
	}
	return text
}
