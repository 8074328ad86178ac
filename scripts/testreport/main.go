// Command testreport runs go test and reports what it did.
//
//	testreport [-complete] scripts/test -p 3 ./...
//	go tool test2json -p PACKAGE <LOG | testreport -
//
// It adds -json to the arguments, prints a line for each package and the output of each
// failed test, and ends with the slowest tests and the number of tests that were left to
// `make test-all`. With -v among the arguments it prints all output. With -complete it
// also fails unless each test that the packages declare has run: `make test-all` shows
// thereby that no test is lost between it and `make test`. Its exit code is that of
// go test, or 1. With - it runs nothing, and reports the events on its standard input.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
)

func main() {
	complete := flag.Bool("complete", false, "fail unless each declared test has run")
	flag.Parse()
	switch {
	case flag.NArg() == 1 && flag.Arg(0) == "-":
		r := newReport(os.Stdout, false)
		if err := r.read(os.Stdin); err != nil {
			fmt.Fprintln(os.Stderr, "testreport:", err)
			os.Exit(1)
		}
		r.finish()
		return
	case flag.NArg() < 2:
		fmt.Fprintln(os.Stderr, "usage: testreport [-complete] scripts/test [go test flags] packages…, or testreport -")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code, err := run(ctx, os.Stdout, *complete, flag.Args())
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "testreport:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

func run(ctx context.Context, w io.Writer, complete bool, args []string) (int, error) {
	r := newReport(w, slices.Contains(args[1:], "-v"))
	cmd := exec.CommandContext(ctx, args[0], append([]string{"-json"}, args[1:]...)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 1, err
	}
	if err := cmd.Start(); err != nil {
		return 1, err
	}
	readErr := r.read(out)
	code, err := 0, cmd.Wait()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		code, err = max(exit.ExitCode(), 1), nil
	}
	if err := errors.Join(readErr, err); err != nil {
		return 1, err
	}
	r.finish()
	if complete && code == 0 && !slices.ContainsFunc(args, selects) {
		declared, err := declaredTests(ctx, packagesOf(args[1:]))
		if err != nil {
			return 1, err
		}
		if !r.checkComplete(declared) {
			return 1, nil
		}
	}
	return code, nil
}

// selects reports whether an argument makes go test leave tests out.
func selects(arg string) bool {
	name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
	return strings.HasPrefix(arg, "-") && slices.Contains([]string{"run", "skip", "short", "list"}, name)
}

// packagesOf returns the package patterns among the arguments of go test. They look like
// paths, and no value of a flag that the Makefile sets does.
func packagesOf(args []string) []string {
	var patterns []string
	for _, arg := range args {
		if arg == "." || strings.HasPrefix(arg, "./") {
			patterns = append(patterns, arg)
		}
	}
	return patterns
}
