package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

func atMostOneScript(_ *cobra.Command, args []string) error {
	if len(args) > 1 {
		return run.Errorf(run.Invalid, "one script at a time: %q is one too many (a script gets its arguments by --context)", args[1])
	}
	return nil
}

// settle decides between options that exclude each other: what the command
// line says goes before what the environment says, and may not say two things.
func (o *runOptions) settle(flags *pflag.FlagSet, args []string) error {
	if len(args) == 1 {
		o.script = args[0]
	}
	said := func(flag string) bool { return flags.Changed(flag) }
	if o.jsonLines {
		for _, one := range []string{"code", "file", "context", "context-file", "stdin", "variable", "json", "quiet"} {
			if said(one) {
				return run.Errorf(run.Invalid, "--%s and --json-lines exclude each other: each line is a request of its own", one)
			}
		}
		if o.script != "" {
			return run.Errorf(run.Invalid, "%q and --json-lines exclude each other: requests come from standard input", o.script)
		}
		return nil
	}
	if said("concurrency") {
		return run.Errorf(run.Invalid, "--concurrency is for --json-lines")
	}
	if err := o.settleScript(said, len(args) == 1); err != nil {
		return err
	}
	switch {
	case said("context") && said("context-file"):
		return run.Errorf(run.Invalid, "--context and --context-file exclude each other")
	case said("context"):
		o.contextFile = ""
	case said("context-file"):
		o.context = ""
	}
	var claims []string
	for _, c := range []struct {
		name  string
		claim bool
	}{{"the script", o.script == "-"}, {"--context-file", o.contextFile == "-"}, {"--context", o.context == "@-"}, {"--stdin", o.stdin == "-"}} {
		if c.claim {
			claims = append(claims, c.name)
		}
	}
	if len(claims) > 1 {
		return run.Errorf(run.Invalid, "%s both want standard input", strings.Join(claims, " and "))
	}
	return nil
}

// settleScript leaves one of script and code: the argument, or what a flag
// says, or what the environment says.
func (o *runOptions) settleScript(said func(string) bool, argument bool) error {
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
		return run.Errorf(run.Invalid, "nothing to run: name a script, or say -c CODE, or - for standard input (see cordon run --help)")
	}
	if o.script == "" {
		return run.Errorf(run.Invalid, "the script's path is empty")
	}
	return nil
}

// request makes the request, and checks all that can be checked before
// anything is started.
func (o *runOptions) request(stdin *os.File) (run.Request, error) {
	req := run.Request{
		Variables: o.variables, Tier: policy.Tier(o.tier), Trust: policy.Trust(o.trust),
		OnOutputLimit: policy.OutputAction(o.onOutputLimit),
	}
	var err error
	switch o.script {
	case "":
		req.Script = o.code
	case "-":
		req.Name = "<stdin>"
		req.Script, err = readScript(stdin, "standard input")
	default:
		req.Name = o.script
		req.Script, err = readScriptFile(o.script)
	}
	if err != nil {
		return req, err
	}
	if err := req.Validate(); err != nil {
		return req, err
	}
	if req.Context, err = o.readContext(stdin); err != nil {
		return req, err
	}
	taken := o.script == "-" || o.contextFile == "-" || o.context == "@-"
	switch {
	case o.stdin == "-":
		req.Streams.In = stdin
	case o.stdin != "":
		if req.Streams.In, err = openInput(o.stdin); err != nil {
			return req, err
		}
	case !taken && !isTerminal(stdin):
		req.Streams.In = stdin
	}
	return req, nil
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

// readContext gives the context as JSON text, so that numbers arrive as they
// were written; nil when there is none.
func (o *runOptions) readContext(stdin io.Reader) (any, error) {
	text, flag := []byte(o.context), "--context"
	path, fromFile := strings.CutPrefix(o.context, "@")
	if !fromFile && o.contextFile != "" {
		path, fromFile, flag = o.contextFile, true, "--context-file"
	}
	switch {
	case fromFile:
		from := stdin
		if path != "-" {
			f, err := openInput(path)
			if err != nil {
				return nil, run.Errorf(run.ClassOf(err), "%s: %w", flag, err)
			}
			defer f.Close()
			from = f
		}
		var err error
		if text, err = io.ReadAll(io.LimitReader(from, run.MaxPayload+1)); err != nil {
			return nil, run.Errorf(run.Invalid, "%s: %w", flag, err)
		}
		if len(text) > run.MaxPayload {
			return nil, run.Errorf(run.Invalid, "%s: larger than %v, the most that a context may be", flag, policy.Bytes(run.MaxPayload))
		}
		text = bytes.TrimPrefix(text, []byte("\ufeff"))
	case o.context == "":
		return nil, nil
	}
	var value json.RawMessage
	if err := json.Unmarshal(text, &value); err != nil {
		return nil, run.Errorf(run.Invalid, "%s: %s", flag, explainContext(text, err))
	}
	return value, nil
}

// explainContext points at the place, and knows what Python and JavaScript
// write that JSON has no word for.
func explainContext(text []byte, err error) string {
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return err.Error()
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return "is empty: write a JSON value, like {\"a\": 41}"
	}
	words := "not valid JSON: " + syntax.Error()
	at := max(0, int(syntax.Offset)-1)
	if at < len(text) && !strings.Contains(words, "unexpected end") {
		rest := string(text[at:min(len(text), at+20)])
		words += " at byte " + strconv.Itoa(at+1)
		for word, instead := range map[string]string{
			"NaN": "null", "Infinity": "null", "-Infinity": "null", "nan": "null", "None": "null", "True": "true", "False": "false", "'": `"text"`,
		} {
			if strings.HasPrefix(rest, word) {
				words += ": JSON has no " + word + ", write " + instead
			}
		}
	}
	return words
}
