package main

import (
	"context"

	"github.com/cordon-sandbox/cordon/internal/cli"
	"github.com/cordon-sandbox/cordon/run"
)

// exitHelp is the table in help texts. A test compares it with the codes below.
const exitHelp = `Exit codes:
  0         success
  1 … 255   the guest's own code: 1 for an uncaught exception in a script
  2         bad usage, request or policy: nothing ran
  75        busy: try again
  124       the wall time limit was reached
  125       this host cannot run it, or cordon failed
  126, 127  the command or interpreter cannot be executed, or does not exist
  128 + n   signal n ended it: 139 is a segmentation fault
  134       a module did what WebAssembly forbids, like a division by zero
  130, 143  SIGINT or SIGTERM ended cordon
  137       killed: out of memory, CPU time, output, disk, processes or fuel,
            or for hammering at a wall; the message (or --json) says which
  141       the reader of the output is gone
`

// Two outcomes have no fixed code.
const (
	guestsOwn = -1 // the guest's exit code
	bySignal  = -2 // 128 plus the number of the signal, as in a shell
)

const (
	codeRefused     = 126
	codeInterrupted = 130
	codeTrapped     = 134 // as for SIGABRT, the closest thing that a shell has
	codeKilled      = 137
)

// outcomeCodes has an entry for each run.Outcome that is not of a limit, whose table has it; cli.ClassCode has one for
// each run.Class.
var outcomeCodes = map[run.Outcome]int{
	run.Succeeded:     0,
	run.Exited:        guestsOwn,
	run.Raised:        guestsOwn,
	run.Malformed:     guestsOwn,
	run.Refused:       guestsOwn,
	run.InvalidOutput: 1, // the guest's code would be 0, and callers would read a missing result
	run.Trapped:       codeTrapped,
	run.Denied:        codeKilled,
	run.Signaled:      bySignal,
	run.Canceled:      codeInterrupted,
}

// resultCode returns the exit code for a Result. The cause of ctx says which signal
// canceled the run.
func resultCode(ctx context.Context, res run.Result) int {
	if res.Outcome == run.Canceled && ctx.Err() != nil {
		return cli.CauseCode(ctx)
	}
	if limit, is := res.Outcome.Limit(); is {
		return limit.ExitCode
	}
	switch code := outcomeCodes[res.Outcome]; code {
	case guestsOwn:
		if res.ExitCode == nil || *res.ExitCode == 0 {
			return 1 // it failed, whatever code it gave
		}
		return *res.ExitCode
	case bySignal:
		if n, known := run.SignalNumber(res.Signal); known {
			return 128 + n
		}
		return codeKilled
	default:
		return code
	}
}

// commandCode is resultCode for a command. A refused command never ran: it gets the code
// that a shell gives to what may not be executed.
func commandCode(ctx context.Context, res run.Result) int {
	if res.Outcome == run.Refused {
		return codeRefused
	}
	return resultCode(ctx, res)
}
