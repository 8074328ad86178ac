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

// sourceOptions name the script, in every command that takes one.
type sourceOptions struct {
	script string // a path, or "-"
	file   string // the same, given as -f
	code   string
}

func (o *sourceOptions) addTo(f *pflag.FlagSet, verb string) {
	f.StringVarP(&o.code, "code", "c", "", verb+" `CODE`")
	f.StringVarP(&o.file, "file", "f", "", verb+" the script in `FILE`: another way to name it")
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
	case argument && changed("file"):
		return run.Errorf(run.Invalid, "-f and the script %q exclude each other", o.script)
	case changed("code") && changed("file"):
		return run.Errorf(run.Invalid, "-c and -f exclude each other")
	case argument:
		o.code = ""
	case changed("file"), o.file != "" && !changed("code"):
		o.script, o.code = o.file, ""
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

// readScript reads at most one byte more than is allowed, so that it also refuses a
// device or a pipe without end.
func readScript(from io.Reader, name string) (string, error) {
	data, err := io.ReadAll(io.LimitReader(from, run.MaxScript+1))
	switch {
	case err != nil:
		return "", run.Errorf(run.NotExecutable, "%s cannot be read: %w", name, err)
	case len(data) > run.MaxScript:
		return "", run.Errorf(run.Invalid, "%s is larger than %v, the maximum size of a script", name, policy.Bytes(run.MaxScript))
	}
	// Python ignores a byte order mark too.
	return strings.TrimPrefix(string(data), "\ufeff"), nil
}

// openInput gives a missing or unreadable file the error class that a shell would.
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

// claim is an option that may read standard input.
type claim struct {
	name   string
	wanted bool
}

// oneClaim refuses more than one reader of standard input, which can be read only once.
func oneClaim(claims ...claim) error {
	var names []string
	for _, c := range claims {
		if c.wanted {
			names = append(names, c.name)
		}
	}
	if len(names) > 1 {
		return run.Errorf(run.Invalid, "%s both read standard input: choose one", strings.Join(names, " and "))
	}
	return nil
}
