package main

import (
	"context"
	"os"
	"sync"
	"syscall"

	"golang.org/x/term"

	"github.com/cordon-sandbox/cordon/internal/cli"
	"github.com/cordon-sandbox/cordon/run"
)

// view says which of cordon's own streams a command gets.
type view struct {
	terminal bool // a terminal of its own
	input    bool // cordon's standard input
}

// see inspects the streams; plain asks for pipes in any case.
func see(plain bool) view {
	return choose(plain || !terminals, isTerminal(os.Stdin), isTerminal(os.Stdout), isTerminal(os.Stderr), func() bool { return inForeground(os.Stdin) })
}

// choose returns no terminal if standard error goes elsewhere: a terminal has one output,
// and what the caller wants in a file would be on the screen.
//
// A background job reads nothing from its terminal: the kernel would stop it if it tried,
// or if it changed the mode.
func choose(plain, stdin, stdout, stderr bool, foreground func() bool) view {
	if stdin && !foreground() {
		return view{}
	}
	return view{terminal: !plain && stdin && stdout && stderr, input: true}
}

// runIn runs a request with cordon's standard input, or in its terminal, whose mode it
// restores before it returns.
func runIn(ctx context.Context, how view, req run.Request, work func(context.Context, run.Request) (run.Result, error)) (run.Result, error) {
	if how.input {
		req.Streams.In = os.Stdin
	}
	if !how.terminal {
		return work(ctx, req)
	}
	window, restore, err := openWindow(ctx, os.Stdin, os.Stdout)
	if err != nil {
		return run.Result{}, err
	}
	defer restore()
	req.Streams.Terminal = window
	for _, name := range []string{"TERM", "COLORTERM"} {
		value, set := os.LookupEnv(name)
		if _, said := req.Command.Env[name]; set && !said {
			req.Command.Env[name] = value
		}
	}
	return work(ctx, req)
}

// openWindow connects cordon's terminal to the command's. It is raw, so that every key
// goes through and nothing is echoed twice.
func openWindow(ctx context.Context, keys, screen *os.File) (*run.Terminal, func(), error) {
	// Watch before the size is first read, so that no change is missed.
	sizes, stop := watchSize(screen)
	before, err := term.MakeRaw(int(keys.Fd()))
	if err != nil {
		stop()
		return nil, nil, run.Errorf(run.Internal, "the terminal: %w", err)
	}
	restore := sync.OnceFunc(func() {
		stop()
		_ = term.Restore(int(keys.Fd()), before) // it may have hung up
	})
	// Everything that ends cordon has to call restore.
	cli.BeforeExit(ctx, restore, syscall.SIGHUP, syscall.SIGQUIT)
	return &run.Terminal{Size: sizeOf(screen), Resize: sizes}, restore, nil
}

// sizeOf is zero if the size is unknown, as on a serial line.
func sizeOf(screen *os.File) run.WindowSize {
	columns, rows, err := term.GetSize(int(screen.Fd()))
	if err != nil {
		return run.WindowSize{}
	}
	return run.WindowSize{Rows: uint16(rows), Columns: uint16(columns)}
}
