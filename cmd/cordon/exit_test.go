package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/cli"
	"github.com/cordon-sandbox/cordon/run"
)

func TestEveryOutcomeAndClassHasACode(t *testing.T) {
	for _, o := range run.Outcomes() {
		limit, limited := o.Limit()
		if _, known := outcomeCodes[o]; known == limited {
			t.Errorf("%q: outcomeCodes has it: %v, the table of limits: %v", o, known, limited)
		}
		if limited && !strings.Contains(exitHelp, fmt.Sprint(limit.ExitCode)) {
			t.Errorf("the help does not know exit code %d", limit.ExitCode)
		}
		code := resultCode(context.Background(), run.Result{Outcome: o})
		if (code == 0) != (o == run.Succeeded) || code < 0 || code > 255 {
			t.Errorf("%s gives exit code %d", o, code)
		}
	}
	for o := range outcomeCodes {
		if !slices.Contains(run.Outcomes(), o) {
			t.Errorf("outcomeCodes has %q, which does not exist", o)
		}
	}
	for _, c := range run.Classes() {
		code := cli.ClassCode(c)
		if code == 0 {
			t.Errorf("class %q has no exit code", c)
		}
		if got := cli.ExitCodeOf(context.Background(), fmt.Errorf("wrapped: %w", run.Errorf(c, "x"))); got != code {
			t.Errorf("class %q exits with %d instead of %d", c, got, code)
		}
		if !strings.Contains(exitHelp, fmt.Sprint(code)) {
			t.Errorf("the help does not know exit code %d", code)
		}
	}
	for _, code := range outcomeCodes {
		if code >= 0 && !strings.Contains(exitHelp, fmt.Sprint(code)) {
			t.Errorf("the help does not know exit code %d", code)
		}
	}
}

func TestEveryFailureHasAHeading(t *testing.T) {
	for _, o := range run.Outcomes() {
		silent := o == run.Succeeded || o == run.Exited
		if heading := headingOf(run.Result{Outcome: o}, presentation{}); (heading == "") != silent {
			t.Errorf("the heading of %s is %q", o, heading)
		}
	}
}

func TestResultCode(t *testing.T) {
	ended := func(cause error) context.Context {
		ctx, stop := context.WithCancelCause(context.Background())
		stop(cause)
		return ctx
	}
	seven, zero := 7, 0
	for _, tt := range []struct {
		name string
		ctx  context.Context
		res  run.Result
		want int
	}{
		{"success", context.Background(), run.Result{Outcome: run.Succeeded}, 0},
		{"sys.exit(7)", context.Background(), run.Result{Outcome: run.Exited, ExitCode: &seven}, 7},
		{"failed with code 0", context.Background(), run.Result{Outcome: run.Raised, ExitCode: &zero}, 1},
		{"segmentation fault", context.Background(), run.Result{Outcome: run.Signaled, Signal: "SIGSEGV"}, 139},
		{"abort", context.Background(), run.Result{Outcome: run.Signaled, Signal: "SIGABRT"}, 134},
		{"a real-time signal", context.Background(), run.Result{Outcome: run.Signaled, Signal: "SIGRTMIN+3"}, 165},
		{"a signal without a name", context.Background(), run.Result{Outcome: run.Signaled, Signal: "SIG32"}, 160},
		{"no signal at all", context.Background(), run.Result{Outcome: run.Signaled}, 137},
		{"canceled", context.Background(), run.Result{Outcome: run.Canceled}, 130},
		{"SIGTERM", ended(cli.Signal{Signal: syscall.SIGTERM}), run.Result{Outcome: run.Canceled}, 143},
		{"SIGTERM after the end", ended(cli.Signal{Signal: syscall.SIGTERM}), run.Result{Outcome: run.Succeeded}, 0},
		{"broken pipe", ended(cli.ErrPipe), run.Result{Outcome: run.Canceled}, 141},
	} {
		if got := resultCode(tt.ctx, tt.res); got != tt.want {
			t.Errorf("%s: %d instead of %d", tt.name, got, tt.want)
		}
	}
}

func TestCommandCode(t *testing.T) {
	for _, o := range run.Outcomes() {
		want := resultCode(context.Background(), run.Result{Outcome: o})
		if o == run.Refused {
			want = 126
		}
		if got := commandCode(context.Background(), run.Result{Outcome: o}); got != want {
			t.Errorf("%s: %d instead of %d", o, got, want)
		}
	}
}

func TestCommandLineErrorsAreUsageErrors(t *testing.T) {
	if got := cli.ExitCodeOf(context.Background(), errors.New("unknown command")); got != 2 {
		t.Errorf("exit code %d", got)
	}
}
