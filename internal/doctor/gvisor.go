package doctor

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/backend/gvisor"
	"github.com/cordon-sandbox/cordon/internal/plainjson"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// GVisor says whether this host can run guests on gVisor.
type GVisor struct {
	// OK means that gVisor's program is there and, if Tried, that a script and a command ran
	// on it.
	OK      bool   `json:"ok"`
	Tried   bool   `json:"tried"`
	Verdict string `json:"verdict"`
	// Class is the class of the problem.
	Class run.Class `json:"class,omitempty"`
	// Command is the duration of the first command, and Script of the first script.
	Command plainjson.Milliseconds `json:"command_ms,omitempty"`
	Script  plainjson.Milliseconds `json:"script_ms,omitempty"`
}

// examineGVisor looks for gVisor's program, and tries it if that is asked for.
func examineGVisor(ctx context.Context, p policy.Policy, try bool) GVisor {
	if err := gvisor.Lacks(p); err != nil {
		return GVisor{Verdict: "tier gvisor is not available: " + err.Error(), Class: run.Unsupported}
	}
	if !try {
		return GVisor{OK: true, Verdict: "tier gvisor: runsc is installed; cordon doctor --tier gvisor tries it"}
	}
	g := GVisor{Tried: true}
	if err := g.try(ctx, p); err != nil {
		g.Verdict, g.Class = "tier gvisor does not work here: "+err.Error(), run.ClassOf(err)
		return g
	}
	g.OK = true
	g.Verdict = fmt.Sprintf("tier gvisor works here: rootless, platform systrap; a command took %v, a script %v", rounded(g.Command), rounded(g.Script))
	return g
}

func (g *GVisor) try(ctx context.Context, p policy.Policy) (err error) {
	b, err := gvisor.New(ctx, gvisor.Options{Policy: p})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	for _, one := range []struct {
		request run.Request
		took    *plainjson.Milliseconds
	}{
		{run.Request{Command: run.Command{Args: IdleCommand(runtime.GOOS)}}, &g.Command},
		{run.Request{Script: run.Script{Source: "pass"}}, &g.Script},
	} {
		began := time.Now()
		result, err := runOnce(ctx, b, backend.Job{Request: one.request, Limits: p.Resolved().Limits})
		if err != nil {
			return err
		}
		if !result.OK() {
			return run.Errorf(run.Unsupported, "%s: %s", result.Outcome, result.Error)
		}
		*one.took = plainjson.Milliseconds(time.Since(began))
	}
	return nil
}
