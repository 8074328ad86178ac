package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/internal/attack"
	"github.com/cordon-sandbox/cordon/internal/cli"
	"github.com/cordon-sandbox/cordon/internal/newfile"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// exitSlow means that nothing escaped, but not all attempts ended in time.
const exitSlow = 3

// proof is the JSON form of a verdict.
type proof struct {
	Name   string `json:"name"`
	Attack string `json:"attack"`
	State  string `json:"state"`
	Detail string `json:"detail,omitempty"`
}

// runProve makes the attempts of `cordon doctor --prove`.
func runProve(ctx context.Context, opts doctorOptions) (err error) {
	p, err := opts.Load()
	if err != nil {
		return err
	}
	var report *newfile.File
	if opts.junit != "" {
		// Fail before minutes of work, not after.
		if report, err = newfile.Create(opts.junit, 0o644); err != nil {
			return run.Errorf(run.Invalid, "--junit: %w", err)
		}
		defer report.Discard()
	}
	// Canaries first: what a host may leak has to exist when the first process of the
	// sandbox starts.
	dir, err := os.MkdirTemp("", "cordon-prove-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	// Only the walls may keep a guest out, not the mode of this directory.
	if err := os.Chmod(dir, 0o755); err != nil {
		return err
	}
	suite, err := attack.NewSuite(dir)
	if err != nil {
		return err
	}
	defer suite.Close()
	if err := suite.Keep(opts.areas); err != nil {
		return run.Errorf(run.Invalid, "--area: %w", err)
	}
	suite.Maxima = p.Resolved().Maxima
	runner, err := cordon.NewRunnerContext(ctx, cordon.Options{Policy: p, Tier: opts.provenTier()})
	if err != nil {
		return err
	}
	defer runner.Close()
	onTier := tierRunner{runner, opts.provenTier()}

	out := &tap{ctx: ctx, to: os.Stdout}
	color := colored(os.Stdout)
	verdicts, err := suite.Prove(ctx, onTier, func(v attack.Verdict) {
		if opts.json {
			_ = printDocument(out, proof{v.Attempt.Name, v.Attempt.Title, v.State, v.Detail}, false) // the tap keeps the first error
			return
		}
		_ = out.line(showVerdict(v, color)) // likewise
	})
	if report != nil {
		if err := attack.JUnit(report, verdicts); err != nil {
			return err
		}
		if err := report.Commit(); err != nil {
			return run.Errorf(run.Internal, "--junit: %w", err)
		}
	}
	if err := cmp.Or(err, out.err); err != nil {
		return err
	}
	if !opts.json {
		if err := out.line("\n" + summary(verdicts)); err != nil {
			return err
		}
	}
	switch {
	case len(attack.Failed(verdicts)) > 0:
		return cli.ExitCode(1)
	case attack.Counts(verdicts)[attack.StateSlow] > 0:
		return cli.ExitCode(exitSlow)
	}
	return nil
}

// provenTier is the tier on which the attempts run: gvisor if it is named, and otherwise the one
// that the policy gives to scripts.
func (o *doctorOptions) provenTier() policy.Tier {
	if policy.Tier(o.tier) == policy.TierGVisor {
		return policy.TierGVisor
	}
	return ""
}

// tierRunner runs every request on one tier; empty means the one that the policy gives.
type tierRunner struct {
	*cordon.Runner
	tier policy.Tier
}

func (r tierRunner) Run(ctx context.Context, req run.Request) (run.Result, error) {
	req.Tier = r.tier
	return r.Runner.Run(ctx, req)
}

// stateColors: only what needs no attention is green.
var stateColors = map[string]string{
	attack.StateHeld: "\x1b[32m", attack.StateEscaped: "\x1b[1;31m", attack.StateBroken: "\x1b[33m", attack.StateSlow: "\x1b[33m", attack.StateSkipped: "\x1b[2m",
}

func showVerdict(v attack.Verdict, color bool) string {
	state := v.State
	if state == attack.StateEscaped {
		state = strings.ToUpper(state)
	}
	padded := fmt.Sprintf("%-7s", state)
	if color {
		padded = stateColors[v.State] + padded + "\x1b[0m"
	}
	text := fmt.Sprintf("%s  %-28s  %s", padded, v.Attempt.Name, v.Attempt.Title)
	if v.State != attack.StateHeld {
		text += "\n" + strings.Repeat(" ", 9) + oneLine(v.Detail)
	}
	return text
}

func summary(verdicts []attack.Verdict) string {
	counts := attack.Counts(verdicts)
	return fmt.Sprintf("%d attempts: %d held, %d escaped, %d broken, %d slow, %d skipped", len(verdicts),
		counts[attack.StateHeld], counts[attack.StateEscaped], counts[attack.StateBroken], counts[attack.StateSlow], counts[attack.StateSkipped])
}
