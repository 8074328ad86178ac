package cli

import (
	"context"
	"errors"
	"strconv"

	"github.com/cordon-sandbox/cordon/run"
)

// ExitCode is an error that says all with its code: what happened has been
// printed already.
type ExitCode int

func (c ExitCode) Error() string { return "exit code " + strconv.Itoa(int(c)) }

// ExitCodeOf is the exit code for what a command returned.
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
		return run.ExitCode(classed.Class)
	default:
		// Commands classify their errors; what is left is cobra's own, about
		// the command line.
		return run.ExitCode(run.Invalid)
	}
}

// MessageOf is what to say about it, empty when all is said.
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

// Exit codes for why a context ended, as a shell has them.
const (
	codeInterrupted = 130
	codePipe        = 141
)

// CauseCode is the exit code for why ctx ended.
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
