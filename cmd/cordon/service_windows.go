package main

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"

	"github.com/cordon-sandbox/cordon/internal/cli"
	"github.com/cordon-sandbox/cordon/run"
)

// become runs a program and exits with its code: on Windows a process cannot execute
// another program. Both share a console, which sends Ctrl-C to both; the service decides
// what it means.
func become(path string, args []string) error {
	signal.Reset()
	signal.Ignore(os.Interrupt)
	cmd := exec.Command(path, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return cli.ExitCode(exit.ExitCode())
	case err != nil:
		return run.Errorf(run.NotExecutable, "%s: %w", path, err)
	}
	return nil
}
