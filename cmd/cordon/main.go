// Command cordon runs code that you do not trust.
//
// Each command is a file with the same parts: a constructor with the help
// text, an options struct with its flags, and a function that does the work.
// exit.go is the one place that knows exit codes; env.go gives every flag its
// twin in the environment.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/cordon-sandbox/cordon/run"
)

func main() {
	os.Exit(cordonMain())
}

// cordonMain is main with its exit code, for the tests.
func cordonMain() int {
	ctx, stop := signalContext()
	defer stop(nil)
	err := rootFor(os.Args[1:]).ExecuteContext(ctx)
	code := exitCodeOf(ctx, err)
	if message := messageOf(ctx, err); message != "" {
		for line := range strings.SplitSeq(message, "\n") {
			fmt.Fprintln(os.Stderr, "cordon: "+line)
		}
	}
	return code
}

// constructors make the commands.
func constructors() map[string]func() *cobra.Command {
	return map[string]func() *cobra.Command{
		"run": newRunCommand, "exec": newExecCommand, "wasm": newWasmCommand, "check": newCheckCommand, "hook": newHookCommand,
		"doctor": newDoctorCommand, "policy": newPolicyCommand, "version": newVersionCommand,
		"audit": newAuditCommand,
	}
}

// rootFor makes the one command that is asked for, and not all the flags of the
// others: a sandbox that is started often must start fast.
func rootFor(args []string) *cobra.Command {
	if len(args) == 0 {
		return newRootCommand()
	}
	construct := constructors()[args[0]]
	if construct == nil {
		return newRootCommand()
	}
	root := newBareRoot()
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(construct())
	return root
}

func newRootCommand() *cobra.Command {
	root := newBareRoot()
	for _, construct := range constructors() {
		root.AddCommand(construct())
	}
	return root
}

func newBareRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "cordon",
		Short: "Run code that you do not trust",
		Long: `cordon runs code that you do not trust behind the strongest walls that this
machine offers, and says in plain words what was blocked and why.

  cordon run -c 'print(6 * 7)'    run a script
  cordon exec -- make test        run a command
  cordon wasm plugin.wasm         run a WebAssembly module
  cordon check script.py          see what the language rules say of a script
  cordon hook score.py            call a script that is made to be called often
  cordon doctor                   see what this host can enforce
  cordon doctor --prove           try to break out, for real
  cordon policy list              see what may be allowed
  cordon audit tail               see what a service was asked to run

Every flag has a twin in the environment: CORDON_TIMEOUT is --timeout,
CORDON_ON_OUTPUT_LIMIT is --on-output-limit. Flags win.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noSuchCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cmd.Help()
		},
	}
	root.SetFlagErrorFunc(explainFlagError)
	return root
}

// noSuchCommand is what a command that only has others beneath it says to an
// argument.
func noSuchCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}
	if likely := nearest(args[0], names); likely != "" {
		return run.Errorf(run.Invalid, "unknown command %q: did you mean %s %s?", args[0], cmd.CommandPath(), likely)
	}
	return run.Errorf(run.Invalid, "unknown command %q (see %s --help)", args[0], cmd.CommandPath())
}

// action makes a cobra function of a command's work: the environment's twins
// are read first, and an error without a class is ours to mend.
func action(work func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if err := readEnvironment(cmd, os.Environ()); err != nil {
			return err
		}
		err := work(cmd, args)
		var classed *run.Error
		var code exitCode
		if err == nil || errors.As(err, &classed) || errors.As(err, &code) || cmd.Context().Err() != nil {
			return err
		}
		return run.Wrap(run.Internal, err)
	}
}

// errSignal is why the context ended.
type errSignal struct{ signal syscall.Signal }

func (e errSignal) Error() string { return "ended by " + run.SignalName(int(e.signal)) }

// errPipe: whoever read our output has gone.
var errPipe = errors.New("the output is closed")

// ending is how cordon ends before its time.
type ending struct {
	stop    context.CancelCauseFunc
	signals chan os.Signal
	last    atomic.Pointer[func()] // to do even when nothing else is done
}

type endingKey struct{}

// signalContext ends with the first SIGINT or SIGTERM, so that guests end and
// nothing is left; the second one ends cordon itself, and the kernel takes
// the guests with it.
func signalContext() (context.Context, context.CancelCauseFunc) {
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
			stop(errSignal{s})
		}
	}()
	return context.WithValue(ctx, endingKey{}, end), stop
}

// stopWith ends ctx for a reason that exit.go knows.
func stopWith(ctx context.Context, cause error) {
	if end, ok := ctx.Value(endingKey{}).(*ending); ok {
		end.stop(cause)
	}
}

// beforeExit has last done before cordon exits in a hurry, and those signals end
// ctx too that would have ended cordon without it. Whoever started cordon may
// want it to ignore one (nohup).
func beforeExit(ctx context.Context, last func(), signals ...os.Signal) {
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

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// coloured says whether f may have escape sequences; https://no-color.org.
func coloured(f *os.File) bool {
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && isTerminal(f)
}
