package cli

import (
	"errors"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cordon-sandbox/cordon/internal/text"
	"github.com/cordon-sandbox/cordon/run"
)

// NoSuchCommand rejects arguments of a command that only has subcommands, and suggests
// the nearest one.
func NoSuchCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	if likely := Nearest(args[0], names); likely != "" {
		return run.Errorf(run.Invalid, "unknown command %q: did you mean %s %s?", args[0], cmd.CommandPath(), likely)
	}
	return run.Errorf(run.Invalid, "unknown command %q (see %s --help)", args[0], cmd.CommandPath())
}

// Arguments accepts so many arguments; a negative most means any number. Its errors show
// how the command is written.
func Arguments(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch usage := cmd.UseLine(); {
		case len(args) < least:
			return run.Errorf(run.Invalid, "an argument is missing: write %s", usage)
		case most >= 0 && len(args) > most:
			return run.Errorf(run.Invalid, "unexpected argument %s: write %s", text.Quote(args[most]), usage)
		}
		return nil
	}
}

// refuseEmpty refuses flags with an empty text, such as that of a shell variable that is
// not set. It must not silently mean the default: --policy "$POLICY" may be a wall.
func refuseEmpty(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Value.Type() == "string" && f.Value.String() == "" && err == nil {
			err = run.Errorf(run.Invalid, "--%s: the value is empty: write one, or leave the flag out", f.Name)
		}
	})
	return err
}

// Action turns a command's work into a cobra function: it reads the environment variables
// first, and classifies errors without a class as internal.
func Action(work func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if err := refuseEmpty(cmd); err != nil {
			return err
		}
		if err := ReadEnvironment(cmd, os.Environ()); err != nil {
			return err
		}
		err := work(cmd, args)
		var classed *run.Error
		var code ExitCode
		if err == nil || errors.As(err, &classed) || errors.As(err, &code) || cmd.Context().Err() != nil {
			return err
		}
		return run.Wrap(run.Internal, err)
	}
}
