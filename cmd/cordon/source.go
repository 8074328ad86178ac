package main

import (
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cordon-sandbox/cordon/internal/cli"
	"github.com/cordon-sandbox/cordon/run"
)

// sourceOptions name the script, in every command that takes one.
type sourceOptions struct {
	script string // a path, or "-"
	named  string // the same, given as -f
	code   string
}

func (o *sourceOptions) addTo(f *pflag.FlagSet, verb string) {
	f.StringVarP(&o.code, "code", "c", "", verb+" `CODE`")
	f.StringVarP(&o.named, "script", "f", "", verb+" the script in `FILE`: another way to name it")
}

// atMostOneScript refuses a second script and suggests what to do instead.
func atMostOneScript(instead string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > 1 {
			return run.Errorf(run.Invalid, "unexpected argument %q: only one script can be named (%s)", args[1], instead)
		}
		return nil
	}
}

// splitArguments returns the arguments of cordon, and those after -- for the script.
func splitArguments(cmd *cobra.Command, args []string) (own, script []string) {
	if dash := cmd.ArgsLenAtDash(); dash >= 0 {
		return args[:dash], args[dash:]
	}
	return args, nil
}

// resolveSource leaves either script or code set: from the argument, else from a flag,
// else from the environment.
func (o *sourceOptions) resolveSource(cmd *cobra.Command, args []string, verb string) error {
	changed, argument := cmd.Flags().Changed, len(args) == 1
	if argument {
		o.script = args[0]
	}
	switch {
	case argument && changed("code"):
		return run.Errorf(run.Invalid, "-c and the script %q exclude each other", o.script)
	case argument && changed("script"):
		return run.Errorf(run.Invalid, "-f and the script %q exclude each other", o.script)
	case changed("code") && changed("script"):
		return run.Errorf(run.Invalid, "-c and -f exclude each other")
	case argument:
		o.code = ""
	case changed("script"), o.named != "" && !changed("code"):
		o.script, o.code = o.named, ""
	case changed("code"), o.code != "":
		return nil
	default:
		return run.Errorf(run.Invalid, "nothing to %s: name a script, or use -c CODE, or - for standard input (see %s --help)", verb, cmd.CommandPath())
	}
	if o.script == "" {
		return run.Errorf(run.Invalid, "the script's path is empty")
	}
	return nil
}

// read returns the script, and its name in tracebacks and findings, which is empty for
// code from the command line.
func (o *sourceOptions) read(stdin io.Reader) (script, name string, err error) {
	if o.script == "" {
		return o.code, "", nil
	}
	data, err := cli.ReadFile(o.script, run.MaxScript, stdin)
	if run.ClassOf(err) == run.NotFound && strings.ContainsAny(o.script, " \n(;") {
		err = run.Errorf(run.NotFound, "%w: to give code instead of a file, write -c CODE", err)
	}
	name = o.script
	if name == cli.Stdin {
		name = "<stdin>"
	}
	// Python ignores a byte order mark too.
	return strings.TrimPrefix(string(data), "\ufeff"), name, err
}

// claim is that of the script to standard input.
func (o *sourceOptions) claim() cli.Claim {
	return cli.Claim{Name: "the script", Wanted: o.script == cli.Stdin}
}
