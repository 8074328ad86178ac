package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"

	"github.com/cordon-sandbox/cordon/run"
)

// Signal is why the context ended.
type Signal struct{ syscall.Signal }

func (e Signal) Error() string { return "ended by " + run.SignalName(int(e.Signal)) }

// ErrPipe: whoever read our output has gone.
var ErrPipe = errors.New("the output is closed")

// ending is how cordon ends before its time.
type ending struct {
	stop    context.CancelCauseFunc
	signals chan os.Signal
	last    atomic.Pointer[func()] // to do even when nothing else is done
}

type endingKey struct{}

// SignalContext ends with the first SIGINT or SIGTERM, so that guests end and
// nothing is left; the second one ends cordon itself, and the kernel takes
// the guests with it.
func SignalContext() (context.Context, context.CancelCauseFunc) {
	ctx, stop := context.WithCancelCause(context.Background())
	end := &ending{stop: stop, signals: make(chan os.Signal, 2)}
	signal.Notify(end.signals, os.Interrupt, syscall.SIGTERM)
	// Taken, so that a broken pipe is an error where we write, and not our
	// death in the middle of things. Not ignored: children would inherit that.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	go func() {
		for {
			s, _ := (<-end.signals).(syscall.Signal)
			if ctx.Err() != nil {
				if last := end.last.Load(); last != nil {
					(*last)()
				}
				os.Exit(128 + int(s))
			}
			stop(Signal{s})
		}
	}()
	return context.WithValue(ctx, endingKey{}, end), stop
}

// StopWith ends ctx for a reason that exit.go knows.
func StopWith(ctx context.Context, cause error) {
	if end, ok := ctx.Value(endingKey{}).(*ending); ok {
		end.stop(cause)
	}
}

// BeforeExit has last done before cordon exits in a hurry, and those signals end
// ctx too that would have ended cordon without it. Whoever started cordon may
// want it to ignore one (nohup).
func BeforeExit(ctx context.Context, last func(), signals ...os.Signal) {
	end, ok := ctx.Value(endingKey{}).(*ending)
	if !ok {
		return
	}
	end.last.Store(&last)
	for _, s := range signals {
		if !signal.Ignored(s) {
			signal.Notify(end.signals, s)
		}
	}
}
