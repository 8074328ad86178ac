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

// Signal is the cause of a context that a signal ended.
type Signal struct{ syscall.Signal }

func (e Signal) Error() string { return "ended by " + run.SignalName(int(e.Signal)) }

// ErrPipe means that the reader of our output is gone.
var ErrPipe = errors.New("the output is closed")

// ending is how cordon ends early.
type ending struct {
	stop    context.CancelCauseFunc
	signals chan os.Signal
	last    atomic.Pointer[func()] // runs even if cordon exits at once
	// interrupt is what SIGINT does instead of ending cordon.
	interrupt atomic.Pointer[func()]
}

type endingKey struct{}

// SignalContext ends with the first SIGINT or SIGTERM, so that guests end and nothing is
// left behind; the second signal ends cordon itself, and the kernel kills the guests with
// it.
func SignalContext() (context.Context, context.CancelCauseFunc) {
	ctx, stop := context.WithCancelCause(context.Background())
	end := &ending{stop: stop, signals: make(chan os.Signal, 2)}
	signal.Notify(end.signals, os.Interrupt, syscall.SIGTERM)
	// Handled, so that a broken pipe is an error where we write and does not kill us in
	// the middle of work. Not ignored, since children would inherit that.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	go func() {
		for {
			s, _ := (<-end.signals).(syscall.Signal)
			if interrupt := end.interrupt.Load(); interrupt != nil && s == syscall.SIGINT && ctx.Err() == nil {
				(*interrupt)()
				continue
			}
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

// StopWith ends ctx with a cause that CauseCode knows.
func StopWith(ctx context.Context, cause error) {
	if end, ok := ctx.Value(endingKey{}).(*ending); ok {
		end.stop(cause)
	}
}

// OnInterrupt makes SIGINT call a function instead of ending cordon.
func OnInterrupt(ctx context.Context, interrupt func()) {
	if end, ok := ctx.Value(endingKey{}).(*ending); ok {
		end.interrupt.Store(&interrupt)
	}
}

// BeforeExit registers last to run before cordon exits early, and makes these signals end
// ctx instead of cordon. A signal that cordon was started to ignore (nohup) stays
// ignored.
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
