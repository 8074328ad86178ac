package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/internal/cli"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

func newRunCommand() *cobra.Command {
	var opts runOptions
	cmd := &cobra.Command{
		Use:   "run {SCRIPT | -c CODE | - | --json-lines}",
		Short: "Run a Python script behind the walls",
		Long: `Run a Python script in a CPython of its own, behind every wall that the policy
requires and all others that this host can give.

The script finds the value of --context in ` + "`context`" + `. What it leaves in
` + "`result`" + ` is its result: any JSON value.

Standard output and standard error are the script's own and pass through while
it runs. Behind the output come the variables that -v asks for, one line each
("x = 42"); -v result shows the result. After a failure, a short block on
standard error says what happened, and which setting would allow what was
blocked. With --json, standard output is the whole Result and nothing else.

Standard input is passed on to the script, unless it is a terminal (say
--stdin - to pass that on too) or the script itself came from there. It is
read ahead: in a shell's "while read" loop, say --stdin /dev/null.

With --restricted, the script also goes by the language rules: a second wall,
which refuses it before anything of it runs. Each finding is a line on standard
error, with a hint below it (cordon check shows them without a run).

With --tier wasm, the script runs in a CPython that was compiled to WebAssembly,
inside of cordon's own process: on every system, without walls of the kernel, and
slower. It needs the bundle python-wasm.zip (make python-wasm); see docs/wasm.md.

Limits, --tier, --trust, --restricted and --on-output-limit narrow the policy
and never widen it. With --json-lines they bind every request, also those that
have a command instead of a script.

A line of --json-lines may also have a script judged ({"check": {"script": …}}),
open a hook ({"hook": {"script": …}}), call it by the id that the answer gives
({"call": {"hook": "1", "game_state": …}}), close it ({"close": "1"}), or end
another line by its id ({"cancel": "r1"}, which has no answer of its own).
With "brief": true a run or a call is answered without usage, traffic and
enforcement, which are most of a small answer.

` + exitHelp + `
A script that does not compile, or that the language rules refuse, gives 1.
With --json-lines the code is 0 when every line was answered, whatever the
answers are.`,
		Example: `  cordon run script.py
  cordon run --context '{"a": 41}' -c 'result = context["a"] + 1' --json
  cordon run --restricted script.py
  cordon run --tier wasm script.py
  cordon run -t 10s -m 128MiB -v x -v y -c 'x = 42; y = [1, 2, 3]'
  echo 'print(6 * 7)' | cordon run -
  cordon run --json-lines < requests.jsonl`,
		Args: atMostOneScript("a script gets its arguments by --context"),
		RunE: cli.Action(func(cmd *cobra.Command, args []string) error {
			if err := opts.settle(cmd, args); err != nil {
				return err
			}
			if opts.jsonLines {
				return runLines(cmd.Context(), opts, os.Stdin, os.Stdout)
			}
			return runRun(cmd.Context(), opts)
		}),
	}
	opts.addTo(cmd)
	return cmd
}

type runOptions struct {
	cli.PolicyOptions
	sourceOptions
	limitOptions

	context     string
	contextFile string
	stdin       string
	variables   []string

	onOutputLimit    string
	tier, trust      string
	restricted       bool
	saveTo, loadFrom string

	json, jsonLines bool
	concurrency     int
	quiet           bool
}

func (o *runOptions) addTo(cmd *cobra.Command) {
	f := cmd.Flags()
	f.SortFlags = false
	o.sourceOptions.addTo(f, "run")
	f.StringVar(&o.context, "context", "", "a `JSON` value for the script's context, or @FILE")
	f.StringVar(&o.contextFile, "context-file", "", "read the context from `FILE` (- is standard input)")
	f.StringVar(&o.stdin, "stdin", "", "the script's standard input: a `FILE`, or - to pass on cordon's own")
	f.StringArrayVarP(&o.variables, "variable", "v", nil, "show the global variable `NAME` after the run (repeatable)")
	o.limitOptions.addTo(f, policy.GuestScript, policy.DefaultLimits())
	f.StringVar(&o.onOutputLimit, "on-output-limit", "", "what to do with a script that writes too much: `ACTION` is truncate or kill")
	o.PolicyOptions.AddTo(cmd)
	o.AddWasmTo(cmd)
	f.StringVar(&o.tier, "tier", "", "the kind of isolation: `TIER` is process or wasm for scripts, where this build has it (process)")
	f.StringVar(&o.trust, "trust", "", "where the code comes from: `ORIGIN` is platform, user or third-party (user)")
	f.BoolVar(&o.restricted, "restricted", false, "have the script go by the language rules, on top of all the walls")
	f.StringVar(&o.saveTo, "save", "", "keep what the script leaves in memory in `FILE`, for --load; with tier wasm")
	f.StringVar(&o.loadFrom, "load", "", "begin with what was saved in `FILE`; with tier wasm")
	f.BoolVar(&o.json, "json", false, "print the Result as JSON, and nothing else, on standard output")
	f.BoolVar(&o.jsonLines, "json-lines", false, "read requests from standard input, one JSON object a line; print a Result for each as soon as it is there")
	f.Var(cli.Counted(&o.concurrency), "concurrency", "how many requests of --json-lines may run at once (twice the cores)")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "say nothing after a failure: the exit code tells")
	cli.Complete(cmd, "tier", cli.Names(policy.Tiers()))
	cli.Complete(cmd, "trust", cli.Names(policy.Trusts()))
	cli.Complete(cmd, "on-output-limit", cli.Names([]policy.OutputAction{policy.OutputTruncate, policy.OutputKill}))
}

// runRun runs one script.
func runRun(ctx context.Context, opts runOptions) error {
	req, err := opts.request(os.Stdin)
	if err != nil {
		return err
	}
	p, err := opts.Load(ctx)
	if err != nil {
		return err
	}
	if p, err = forOneRun(p, opts.limitOptions); err != nil {
		return err
	}
	how := presentation{
		name: cmp.Or(req.Script.Name, "<script>"), variables: opts.variables, json: opts.json,
		quiet: opts.quiet, colour: coloured(os.Stderr), person: isTerminal(os.Stderr), width: cli.Width(os.Stderr),
	}
	options := cordon.Options{Policy: p, Tier: opts.first(), Language: opts.language(p)}
	if opts.saveTo != "" || opts.loadFrom != "" {
		return doSingle(ctx, options, req, view{}, how, opts.runInSession)
	}
	return runSingle(ctx, options, req, view{}, how)
}

// first is the tier that is started with the Runner: the one that will be asked for, so
// that no host needs what another one would.
func (o *runOptions) first() policy.Tier {
	if o.tier == string(policy.TierWasm) {
		return policy.TierWasm
	}
	return ""
}

// language is what scripts go by, unless one of them asks for more.
func (o *runOptions) language(p policy.Policy) policy.LanguagePreset {
	if o.restricted {
		return p.ScriptRules()
	}
	return ""
}

// forOneRun makes p cheap to start for a single run: the worker that is
// forked ahead has this run's limits, and no module is imported that the
// script may not want.
func forOneRun(p policy.Policy, limits limitOptions) (policy.Policy, error) {
	narrowed, err := limits.narrow(p)
	if err != nil {
		return p, err
	}
	p.Limits = narrowed
	// Presets fill in the default list: only another one was somebody's wish.
	if p.Preload == nil || slices.Equal(p.Preload, policy.DefaultPreload()) {
		p.Preload = []string{}
	}
	return p, nil
}

// printJSON writes one value: a line, or several for a person.
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
