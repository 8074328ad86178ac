package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/internal/cli"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

func newHookCommand() *cobra.Command {
	var opts hookOptions
	cmd := &cobra.Command{
		Use:   "hook {SCRIPT | -c CODE | -}",
		Short: "Call a hook: restricted Python that is compiled once and called often",
		Long: `Open a hook, call it, and print its output as one line of JSON.

A hook has to follow the language rules, on top of all walls (cordon check
--preset hook shows the findings). It has one of two forms. Either it reads
` + "`game_state`" + ` and ` + "`mod_config`" + `, the values of --state and --config, and
assigns its answer to ` + "`result[\"output\"]`" + `; or it defines functions: --call names
one, and each --arg is an argument. The modules math and random are available
without an import.

A value is JSON, @FILE for a file with JSON, or - for standard input.

Standard output is the output value alone: what the hook itself prints goes to
standard error when the call has ended. After a failure, a short block there
says what happened. With --json, standard output is the whole Result, with the
value both as "result" and as "output", and nothing else.

With --repeat, the hook is compiled once and called repeatedly, until a call
fails. The last call is shown.

Limits apply to each call. They narrow the policy and never widen it.

` + exitHelp + `
A hook that does not compile, or that the language rules refuse, is not opened
and exits with 2. All findings are shown on standard error, as by cordon check;
with --json they are on standard output, as by cordon check --json.`,
		Example: `  cordon hook score.py --state @state.json --config @mod.json
  cordon hook score.py --state '{"base": 10}' --json
  cordon hook rates.py --call modify_tax_rate --arg '{"rate": 0.2}'
  time cordon hook score.py --state @state.json --trust platform --repeat 100000`,
		Args: atMostOneScript("pass input with --state and --config, or with --arg"),
		RunE: cli.Action(func(cmd *cobra.Command, args []string) error {
			if err := opts.resolve(cmd, args); err != nil {
				return err
			}
			return runHook(cmd.Context(), opts)
		}),
	}
	opts.addTo(cmd)
	return cmd
}

type hookOptions struct {
	cli.PolicyOptions
	sourceOptions
	limitOptions

	state, config string
	function      string
	arguments     texts

	trust  string
	repeat int
	json   bool
}

func (o *hookOptions) addTo(cmd *cobra.Command) {
	f := cmd.Flags()
	f.SortFlags = false
	o.sourceOptions.addTo(f, "call")
	cli.Renamed(f, "script", "file")
	f.StringVar(&o.state, "state", "", "the hook's game_state: `VALUE` is "+cli.ValueForm+" ({})")
	f.StringVar(&o.config, "config", "", "the hook's mod_config: `VALUE` is "+cli.ValueForm+" ({})")
	f.StringVar(&o.function, "call", "", "call the function `NAME` that the script defines")
	f.Var(&o.arguments, "arg", "an argument of the function: `VALUE` is "+cli.ValueForm+" (repeatable)")
	o.limitOptions.addTo(f, policy.GuestCall, policy.DefaultCallLimits().Or(policy.DefaultLimits()))
	o.PolicyOptions.AddTo(cmd)
	f.StringVar(&o.trust, "trust", "", "where the hook comes from: `ORIGIN` is user or third-party (a process for each call), or platform (calls share a process) (user)")
	f.Var(cli.Counted(&o.repeat), "repeat", "how many times to call the hook (1)")
	f.BoolVar(&o.json, "json", false, "print the Result as JSON, and nothing else, on standard output")
	cli.Complete(cmd, "trust", cli.Names(policy.Trusts()))
}

// resolve decides between the two forms of a hook, as runOptions.resolve does.
func (o *hookOptions) resolve(cmd *cobra.Command, args []string) error {
	if err := o.resolveSource(cmd, args, "call"); err != nil {
		return err
	}
	changed := cmd.Flags().Changed
	for _, flag := range []string{"state", "config"} {
		switch {
		case changed(flag) && changed("call"):
			return run.Errorf(run.Invalid, "--%s and --call exclude each other: pass arguments with --arg", flag)
		case changed(flag):
			o.function = ""
		}
	}
	if changed("arg") && o.function == "" {
		return run.Errorf(run.Invalid, "--arg needs --call")
	}
	claims := []cli.Claim{o.claim(), o.PolicyOptions.Claim()}
	for _, v := range o.values() {
		claims = append(claims, cli.Claim{Name: v.flag, Wanted: cli.FromStdin(v.value)})
	}
	return cli.OneClaim(claims...)
}

// runHook opens a hook and calls it.
func runHook(ctx context.Context, opts hookOptions) (err error) {
	hook, arguments, err := opts.prepare(os.Stdin)
	if err != nil {
		return err
	}
	p, err := opts.Load()
	if err != nil {
		return err
	}
	if p, err = forCalls(p, opts.limitOptions); err != nil {
		return err
	}
	hook.Limits = p.Limits
	runner, err := cordon.NewRunnerContext(ctx, cordon.Options{Policy: p, OneShot: opts.oneProcess(), Language: policy.LanguageHook})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, runner.Close()) }()
	opened, err := runner.OpenHook(ctx, hook)
	var refused *run.Refusal
	if errors.As(err, &refused) {
		return opts.refuse(ctx, hook, refused.Findings)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	res, err := opts.callAll(ctx, opened, arguments)
	if err != nil {
		return err
	}
	return opts.present(ctx, res)
}

// oneProcess reports whether one process can serve all calls: there is only one call, or
// calls may share a process. Otherwise a fork server makes a process for each.
func (o *hookOptions) oneProcess() bool {
	return o.repeat <= 1 || policy.Trust(o.trust) == policy.TrustPlatform
}

// prepare returns the hook and its arguments. The Runner validates the hook.
func (o *hookOptions) prepare(stdin io.Reader) (run.HookSpec, []any, error) {
	hook := run.HookSpec{Trust: policy.Trust(o.trust)}
	var err error
	if hook.Script, hook.Name, err = o.read(stdin); err != nil {
		return hook, nil, err
	}
	if err := knownNames("", hook.Trust, ""); err != nil {
		return hook, nil, err
	}
	arguments, err := o.readArguments(stdin)
	return hook, arguments, err
}

// flagValue is what a flag of a hook says.
type flagValue struct{ flag, value string }

// values are the arguments of the function, or the state and the config.
func (o *hookOptions) values() []flagValue {
	if o.function == "" {
		return []flagValue{{"--state", cmp.Or(o.state, "{}")}, {"--config", cmp.Or(o.config, "{}")}}
	}
	var values []flagValue
	for _, argument := range o.arguments {
		values = append(values, flagValue{"--arg", argument})
	}
	return values
}

func (o *hookOptions) readArguments(stdin io.Reader) ([]any, error) {
	var arguments []any
	for _, v := range o.values() {
		argument, err := cli.Value(v.flag, v.value, stdin)
		if err != nil {
			return nil, err
		}
		arguments = append(arguments, argument)
	}
	return arguments, nil
}

// forCalls gives the policy the limits of a call, so that the worker that is started
// ahead can serve it.
func forCalls(p policy.Policy, asked limitOptions) (policy.Policy, error) {
	asked.Limits = asked.Fill(policy.DefaultCallLimits().Capped(p.Resolved().Limits), p.Resolved().Maxima)
	return forOneRun(p, asked)
}

// callAll returns the Result of the last call, which is the first that failed.
func (o *hookOptions) callAll(ctx context.Context, h *cordon.Hook, arguments []any) (res run.Result, err error) {
	for range max(o.repeat, 1) {
		if o.function != "" {
			res, err = h.CallFunction(ctx, o.function, arguments...)
		} else {
			res, err = h.Call(ctx, arguments[0], arguments[1])
		}
		if err != nil || !res.OK() {
			return res, err
		}
	}
	return res, nil
}

// present keeps standard output free for the value.
func (o *hookOptions) present(ctx context.Context, res run.Result) (err error) {
	stdout, stderr := &tap{ctx: ctx, to: os.Stdout}, &tap{ctx: ctx, to: os.Stderr}
	if o.json {
		err = printJSON(stdout, hookResult{res}, isTerminal(os.Stdout))
		return conclude(resultCode(ctx, res), err)
	}
	if _, err = io.WriteString(stderr, res.Stdout+res.Stderr); err == nil {
		err = present(stdout, stderr, res, presentation{color: colored(os.Stderr), width: cli.Width(os.Stderr)})
	}
	if err == nil && res.OK() {
		err = stdout.line(string(res.ValueOrNull()))
	}
	return conclude(resultCode(ctx, res), err)
}

// refuse shows why the hook cannot be opened.
func (o *hookOptions) refuse(ctx context.Context, hook run.HookSpec, findings []run.Finding) error {
	var err error
	if o.json {
		err = printDocument(&tap{ctx: ctx, to: os.Stdout}, newReport(findings), isTerminal(os.Stdout))
	} else {
		lines := append(showFindings(cmp.Or(hook.Name, "<hook>"), findings), "cordon: refused: "+countFindings(len(findings))+"; the hook is not opened")
		err = printLines(&tap{ctx: ctx, to: os.Stderr}, lines)
	}
	if err != nil {
		return outputLost(err)
	}
	return cli.ExitCode(cli.ClassCode(run.Invalid))
}

// hookResult is a Result that has its value as "output" too, the name that hooks use.
type hookResult struct{ result run.Result }

func (r hookResult) MarshalJSON() ([]byte, error) {
	object, err := r.result.MarshalJSON()
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(object[:len(object)-1], `,"output":%s}`, r.result.ValueOrNull()), nil
}
