package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// sourceOptions say where a script comes from, in every command that takes
// one.
type sourceOptions struct {
	script string // a path, or "-"
	file   string // the same by -f
	code   string
}

func (o *sourceOptions) addTo(f *pflag.FlagSet, verb string) {
	f.StringVarP(&o.code, "code", "c", "", verb+" `CODE`")
	f.StringVarP(&o.file, "file", "f", "", verb+" the script in `FILE`: another way to name it")
}

// atMostOneScript says to who names a second one what he may have wanted.
func atMostOneScript(instead string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > 1 {
			return run.Errorf(run.Invalid, "one script at a time: %q is one too many (%s)", args[1], instead)
		}
		return nil
	}
}

// settleSource leaves one of script and code: the argument, or what a flag
// says, or what the environment says.
func (o *sourceOptions) settleSource(cmd *cobra.Command, args []string, verb string) error {
	said, argument := cmd.Flags().Changed, len(args) == 1
	if argument {
		o.script = args[0]
	}
	switch {
	case argument && said("code"):
		return run.Errorf(run.Invalid, "-c and the script %q exclude each other", o.script)
	case argument && said("file"):
		return run.Errorf(run.Invalid, "-f and the script %q exclude each other", o.script)
	case said("code") && said("file"):
		return run.Errorf(run.Invalid, "-c and -f exclude each other")
	case argument:
		o.code = ""
	case said("file"), o.file != "" && !said("code"):
		o.script, o.code = o.file, ""
	case said("code"), o.code != "":
		return nil
	default:
		return run.Errorf(run.Invalid, "nothing to %s: name a script, or say -c CODE, or - for standard input (see %s --help)", verb, cmd.CommandPath())
	}
	if o.script == "" {
		return run.Errorf(run.Invalid, "the script's path is empty")
	}
	return nil
}

// read gives the script, and its name in tracebacks and findings: none for
// what stands on the command line.
func (o *sourceOptions) read(stdin io.Reader) (script, name string, err error) {
	switch o.script {
	case "":
		return o.code, "", nil
	case "-":
		script, err = readScript(stdin, "standard input")
		return script, "<stdin>", err
	}
	script, err = readScriptFile(o.script)
	return script, o.script, err
}

func readScriptFile(path string) (string, error) {
	f, err := openInput(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return readScript(f, path)
}

// readScript reads a byte more than is allowed and no further, so that a
// device or a pipe that does not end is refused too.
func readScript(from io.Reader, name string) (string, error) {
	data, err := io.ReadAll(io.LimitReader(from, run.MaxScript+1))
	switch {
	case err != nil:
		return "", run.Errorf(run.NotExecutable, "%s cannot be read: %w", name, err)
	case len(data) > run.MaxScript:
		return "", run.Errorf(run.Invalid, "%s is larger than %v, the most that a script may be", name, policy.Bytes(run.MaxScript))
	}
	// As python does with a file.
	return strings.TrimPrefix(string(data), "\ufeff"), nil
}

// openInput names what is wrong with a file, in the classes of a shell.
func openInput(path string) (*os.File, error) {
	f, err := os.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, run.Errorf(run.NotFound, "%s does not exist", path)
	case err != nil:
		return nil, run.Errorf(run.NotExecutable, "cannot read %s: %w", path, errors.Unwrap(err))
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		f.Close()
		return nil, run.Errorf(run.NotExecutable, "%s is a directory: name a file in it", path)
	}
	return f, nil
}

// claim is something that may want standard input for itself.
type claim struct {
	name   string
	wanted bool
}

// oneClaim: standard input can be read once.
func oneClaim(claims ...claim) error {
	var names []string
	for _, c := range claims {
		if c.wanted {
			names = append(names, c.name)
		}
	}
	if len(names) > 1 {
		return run.Errorf(run.Invalid, "%s both want standard input", strings.Join(names, " and "))
	}
	return nil
}
