package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/internal/cli"
	"github.com/cordon-sandbox/cordon/internal/jsonform"
	"github.com/cordon-sandbox/cordon/internal/tiers"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

func newRunCommand() *cobra.Command {
	var opts runOptions
	cmd := &cobra.Command{
		Use:   "run [flags] {SCRIPT | -c CODE | - | --json-lines} [-- ARG…]",
		Short: "Run a Python script behind the walls",
		Long: `Run a Python script in its own CPython process, behind every wall that the
policy requires and all others that this host has.

The script finds the value of --context in ` + "`context`" + `. Whatever it assigns to
` + "`result`" + ` is its result: any JSON value.

--file gives the script a file, which it finds in its current directory, /work,
and can import. --artifacts saves what it has written there, however it ends.
The script chooses the names of those files, and they replace others of the same
name: name a directory with nothing else in it. What follows -- are the
arguments of the script, sys.argv[1:].

Standard output and standard error of the script pass through while it runs.
The variables that -v names follow the output, one a line ("x = 42"); -v result
shows the result. After a failure, a short block on standard error says what
happened, and which setting would allow what was blocked. With --json, standard
output is the whole Result and nothing else.

Standard input is passed to the script, unless it is a terminal (use --stdin -
to pass that too) or the script itself was read from it. It is read ahead: in a
shell's "while read" loop, use --stdin /dev/null.

With --restricted, the language rules apply too: a second wall, which refuses
the script before any of it runs. Each finding is a line on standard error, with
a hint below it (cordon check shows them without a run).

With --tier wasm, the script runs in a CPython compiled to WebAssembly, inside
cordon's own process: on every system, without the kernel's walls, and slower.
It needs the bundle python-wasm.zip (make python-wasm); see docs/wasm.md.

Limits, --tier, --trust, --restricted and --on-output-limit narrow the policy
and never widen it. With --json-lines they apply to every request, including
those that run a command instead of a script.

A line of --json-lines can also check a script ({"check": {"script": …}}), open
a hook ({"hook": {"script": …}}), call it by the id in the answer
({"call": {"hook": "1", "game_state": …}}), close it ({"close": "1"}), or cancel
another line by its id ({"cancel": "r1"}, which has no answer of its own).
With "brief": true, the answer to a run or a call leaves out usage, traffic,
modules and enforcement, which are most of a small answer.

` + exitHelp + `
A script that does not compile, or that the language rules refuse, exits with 1.
With --json-lines the code is 0 when every line was answered, whatever the
answers are.`,
		Example: `  cordon run script.py
  cordon run --context '{"a": 41}' -c 'result = context["a"] + 1' --json
  cordon run --file sales.csv --artifacts out analyse.py -- --year 2024
  cordon run --restricted script.py
  cordon run --tier wasm script.py
  cordon run -t 10s -m 128MiB -v x -v y -c 'x = 42; y = [1, 2, 3]'
  echo 'print(6 * 7)' | cordon run -
  cordon run --json-lines < requests.jsonl`,
		Args: func(cmd *cobra.Command, args []string) error {
			source, _ := splitArguments(cmd, args)
			return atMostOneScript("write its arguments after --, or pass values with --context")(cmd, source)
		},
		RunE: cli.Action(func(cmd *cobra.Command, args []string) error {
			if err := opts.resolve(cmd, args); err != nil {
				return err
			}
			if opts.jsonLines {
				return runLines(cmd.Context(), opts, os.Stdin, os.Stdout)
			}
			return runRun(cmd.Context(), opts)
		}),
	}
	opts.addTo(cmd)
	cmd.SetFlagErrorFunc(explainScriptFlag)
	return cmd
}

// explainScriptFlag adds to an unknown flag behind the script that it may be the script's.
func explainScriptFlag(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	explained := cli.ExplainFlagError(cmd, err)
	if errors.As(err, &unknown) && cmd.Flags().NArg() > 0 {
		return run.Errorf(run.Invalid, "%w\nwrite flags of the script after --", explained)
	}
	return explained
}

type runOptions struct {
	guestOptions
	sourceOptions
	fileOptions
	shownOptions

	arguments   []string // of the script
	artifacts   []string // patterns
	artifactsIn string

	context     string
	contextFile string
	stdin       string
	variables   []string

	saveTo, loadFrom string

	jsonLines  bool
	concurrent int
}

func (o *runOptions) addTo(cmd *cobra.Command) {
	f := cmd.Flags()
	f.SortFlags = false
	o.sourceOptions.addTo(f, "run")
	o.fileOptions.addTo(f, "the script")
	f.StringVar(&o.artifactsIn, "artifacts", "", "the `DIRECTORY` in which the files that the script has written are saved; it is made if it is missing")
	f.StringArrayVar(&o.artifacts, "artifact", nil, "save only files that match `PATTERN`, like *.png or plots/** (repeatable)")
	f.StringVar(&o.context, "context", "", "the script's context: `VALUE` is "+cli.ValueForm)
	f.StringVar(&o.contextFile, "context-file", "", "the same as --context @`FILE`")
	_ = f.MarkHidden("context-file") // an older name: it exists
	f.StringVar(&o.stdin, "stdin", "", "the script's standard input: a `FILE`, or - to pass cordon's own")
	f.StringArrayVarP(&o.variables, "variable", "v", nil, "show the global variable `NAME` after the run (repeatable)")
	cli.Alias(f, "variable", "variables")
	o.guestOptions.addTo(cmd, tiers.All().For(policy.GuestScript), "the script")
	f.StringVar(&o.saveTo, "save", "", "save the script's memory to `FILE` for --load; needs --tier wasm")
	f.StringVar(&o.loadFrom, "load", "", "start with the memory saved in `FILE`; needs --tier wasm")
	o.shownOptions.addTo(f)
	f.BoolVar(&o.jsonLines, "json-lines", false, "read requests from standard input, one JSON object a line; print each Result as soon as it is ready")
	f.Var(cli.Counted(&o.concurrent), "concurrent", "how many requests of --json-lines run at once (twice the cores)")
	cli.Renamed(f, "concurrent", "concurrency")
}

// runRun runs one script.
func runRun(ctx context.Context, opts runOptions) (err error) {
	req, err := opts.request(os.Stdin)
	if err != nil {
		return err
	}
	p, err := opts.Load()
	if err != nil {
		return err
	}
	if p, err = forOneRun(p, opts.limitOptions); err != nil {
		return err
	}
	how := presentation{
		name: cmp.Or(req.Script.Name, "<script>"), given: req.Script.Files, variables: opts.variables, json: opts.json,
		quiet: opts.quiet, verbose: opts.verbose, color: colored(os.Stderr), person: isTerminal(os.Stderr), width: cli.Width(os.Stderr),
	}
	if opts.artifactsIn != "" {
		if how.artifacts, err = openArtifacts(opts.artifactsIn); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, how.artifacts.root.Close()) }()
	}
	options := cordon.Options{Policy: p, Tier: opts.first(), Language: opts.language(p)}
	if opts.saveTo != "" || opts.loadFrom != "" {
		return doSingle(ctx, options, req, view{}, how, opts.runInSession)
	}
	return runSingle(ctx, options, req, view{}, how)
}

// forOneRun gives the worker that is started ahead the limits of its only run.
func forOneRun(p policy.Policy, limits limitOptions) (policy.Policy, error) {
	narrowed, err := limits.narrow(p)
	if err != nil {
		return p, err
	}
	p.Limits = narrowed
	return p, nil
}

// printDocument is printJSON for an object that is no Result: it adds the version.
func printDocument(w io.Writer, v any, indent bool) error {
	document, err := jsonform.Document(v)
	if err != nil {
		return run.Errorf(run.Internal, "%w", err)
	}
	return printJSON(w, document, indent)
}

// printJSON writes v as one line, or indented for a person.
func printJSON(w io.Writer, v any, indent bool) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if indent {
		e.SetIndent("", "  ")
	}
	if err := e.Encode(v); err != nil {
		return run.Errorf(run.Internal, "%w", err)
	}
	_, err := w.Write(b.Bytes())
	return err
}
