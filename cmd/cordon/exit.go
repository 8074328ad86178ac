package main

import (
	"context"

	"github.com/cordon-sandbox/cordon/internal/cli"
	"github.com/cordon-sandbox/cordon/run"
)

// exitHelp is the table that help texts show. A test holds it to the codes
// below.
const exitHelp = `Exit codes:
  0         it came to its end
  1 … 255   its own: 1 for an exception that nobody caught in a script
  2         bad usage, request or policy: nothing ran
  75        busy: try again
  124       the wall time limit
  125       this host cannot run it, or cordon failed
  126, 127  the command or interpreter cannot be executed, or is not there
  128 + n   it was ended by signal n: 139 is a segmentation fault
  134       a module did what WebAssembly forbids, like a division by zero
  130, 143  cordon was ended by SIGINT or SIGTERM
  137       killed: out of memory, CPU time, output, disk, processes
            or fuel, or for hammering at a wall; the message (or --json) says which
  141       whoever read the output has gone
`

// Two outcomes have no code of their own.
const (
	guestsOwn = -1 // what the guest left with
	bySignal  = -2 // 128 and the number of the signal, as in a shell
)

const (
	codeRefused     = 126
	codeInterrupted = 130
	codeTrapped     = 134 // as for SIGABRT, which is what a shell has nearest
	codeKilled      = 137
)

// outcomeCodes has an entry for each run.Outcome that is not of a limit, whose table has it; run.ExitCode has one for
// each run.Class.
var outcomeCodes = map[run.Outcome]int{
	run.Succeeded:     0,
	run.Exited:        guestsOwn,
	run.Raised:        guestsOwn,
	run.Malformed:     guestsOwn,
	run.Refused:       guestsOwn,
	run.InvalidOutput: 1, // its own would be 0, and callers would read a result that is not there
	run.Trapped:       codeTrapped,
	run.Denied:        codeKilled,
	run.Signaled:      bySignal,
	run.Canceled:      codeInterrupted,
}

// resultCode is the exit code for a guest's end. The cause of ctx tells which
// signal canceled it.
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
			return 1 // it failed, whatever it says
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

// commandCode is resultCode for a command. One that was refused never ran: it has
// the code that a shell gives for what may not be executed.
func commandCode(ctx context.Context, res run.Result) int {
	if res.Outcome == run.Refused {
		return codeRefused
	}
	return resultCode(ctx, res)
}
