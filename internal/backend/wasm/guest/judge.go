package guest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tetratelabs/wazero/sys"

	"github.com/cordon-sandbox/cordon/internal/backend/verdict"
	"github.com/cordon-sandbox/cordon/internal/backend/wasm/scratch"
	"github.com/cordon-sandbox/cordon/internal/report"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// errnoNOSPC is WASI's number for ENOSPC.
const errnoNOSPC = 51

// Evidence returns what is known about the end of a guest; err is the engine's error. A guest
// that returned normally has neither Killed, Exit nor Trap.
func (g *Guest) Evidence(err error) verdict.Evidence {
	wallTime := time.Since(g.started)
	e := verdict.Evidence{
		Guest: verdict.Module, Limits: g.limits, Stdout: g.stdout.Capture, Stderr: g.stderr.Capture, Violations: g.violations,
		Usage: run.Usage{
			WallTime: wallTime, CPUTime: g.cpu.used(wallTime - g.waited),
			Memory: policy.Bytes(g.Memory.Size), Fuel: policy.Count(g.granted),
		},
	}
	if g.fuel < 0 {
		e.Usage.Fuel = 0
	}
	var exit *sys.ExitError
	limit, limited := g.outcome.Limit()
	switch {
	case limited:
		e.Killed = limit.Key
	case g.outcome == run.Canceled:
		e.Killed = verdict.Canceled
	case g.outcome != "":
		e.Trap = trapOf(cmp.Or(g.trap, fmt.Sprint(err)))
	case errors.As(err, &exit):
		e.Exit = &verdict.Exit{Code: int(exit.ExitCode())}
	case err != nil:
		e.Trap = trapOf(err.Error())
	}
	if g.Memory.Refused {
		e.Refused = append(e.Refused, "memory")
	}
	if g.full != "" {
		e.Refused = append(e.Refused, g.full)
	}
	return e
}

// trapOf reads the engine's error, which has a trap only as text: the message, then the
// calls of the guest, then those of the host.
func trapOf(words string) *verdict.Trap {
	words, _, _ = strings.Cut(words, "\n\nGo runtime stack trace")
	message, trace, _ := strings.Cut(strings.TrimPrefix(words, "wasm error: "), "\n")
	if strings.HasPrefix(message, "runtime error") { // a panic of a host function
		message = "a host function was called with invalid arguments"
	}
	return &verdict.Trap{Message: message, Trace: trace}
}

// Complaint returns the last line of a guest's standard error.
func (g *Guest) Complaint() string {
	text := strings.TrimSpace(string(g.stderr.Capture.Data))
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// ExplainScratch changes the outcome of a script that ended with an error about a full /tmp to
// OutOfDisk.
func ExplainScratch(e verdict.Evidence, r *run.Result, cause report.OSError) {
	if r.Outcome != run.Raised || cause.Errno != errnoNOSPC || !slices.Contains(e.Refused, scratch.Limit) {
		return
	}
	limit, _ := policy.LimitNamed(scratch.Limit)
	r.Outcome, r.Error = run.OutOfDisk, fmt.Sprintf("%s (line %d)", limit.Message(e.Limits), r.Exception.Line)
	r.Status, r.ErrorType = r.Outcome.Status(), r.Outcome.ErrorType()
}
