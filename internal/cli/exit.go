package cli

import (
	"context"
	"errors"
	"strconv"

	"github.com/cordon-sandbox/cordon/run"
)

// ExitCode is an error that only carries an exit code: the message has been printed
// already.
type ExitCode int

func (c ExitCode) Error() string { return "exit code " + strconv.Itoa(int(c)) }

// classCodes has the exit code of each class of our own failures.
var classCodes = map[run.Class]int{
	run.Invalid: 2, run.Forbidden: 2, run.Unknown: 2, run.Gone: 2, run.Unsupported: 125, run.NotExecutable: 126,
	run.NotFound: 127, run.Busy: 75, run.Closed: 125, run.Internal: 125,
}

// ClassCode is the exit code of a class.
func ClassCode(c run.Class) int { return classCodes[c] }

// ExitCodeOf is the exit code for the error that a command returned.
func ExitCodeOf(ctx context.Context, err error) int {
	var code ExitCode
	var classed *run.Error
	switch {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return int(code)
	case ctx.Err() != nil:
		return CauseCode(ctx)
	case errors.As(err, &classed):
		return ClassCode(classed.Class)
	default:
		// Commands classify their errors; an unclassified one is cobra's own, about
		// the command line.
		return ClassCode(run.Invalid)
	}
}

// MessageOf is the message to print for an error; empty if it has been printed.
func MessageOf(ctx context.Context, err error) string {
	var code ExitCode
	switch {
	case err == nil, errors.As(err, &code):
		return ""
	case errors.Is(context.Cause(ctx), ErrPipe):
		return ""
	case ctx.Err() != nil:
		return context.Cause(ctx).Error()
	default:
		return err.Error()
	}
}

// Exit codes for the cause of a canceled context, as in a shell.
const (
	codeInterrupted = 130
	codePipe        = 141
)

// CauseCode is the exit code for the cause of ctx.
func CauseCode(ctx context.Context) int {
	cause := context.Cause(ctx)
	var s Signal
	switch {
	case errors.As(cause, &s):
		return 128 + int(s.Signal)
	case errors.Is(cause, ErrPipe):
		return codePipe
	}
	return codeInterrupted
}
