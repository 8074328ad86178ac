package main

import (
	"cmp"
	"context"
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/internal/cli"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

func newCheckCommand() *cobra.Command {
	var opts checkOptions
	cmd := &cobra.Command{
		Use:   "check {SCRIPT | -c CODE | -}",
		Short: "Check a script against the language rules, without running it",
		Long: `Check a Python script against the language rules, without running any of it. All
findings are shown at once, in the order of the script:

  FILE:LINE:COLUMN: rule: reason
      what to write instead

The modules that may be imported follow once, and then the number of findings.
With --json, each finding has that list itself.

The interpreter's own parser reads the script, behind the walls of the policy,
so the answer depends on the version of Python: --python chooses it.

A script without findings may run with cordon run --restricted; one that is
checked with --preset hook may be called with cordon hook. The policy can allow
more modules and builtins in ` + "`language:`" + `.

Exit codes:
  0         no findings
  1         findings; "syntax" is one, for text that is not Python
  2         bad usage or policy, or a script that cannot be checked
  75        busy: try again
  125       this host cannot check it, or cordon failed
  126, 127  the script or the interpreter cannot be read, or does not exist
  130, 143  SIGINT or SIGTERM ended cordon
  141       the reader of the output is gone`,
		Example: `  cordon check script.py
  cordon check --preset hook --json score.py
  cordon check -c 'import os'`,
		Args: atMostOneScript("check them one by one"),
		RunE: cli.Action(func(cmd *cobra.Command, args []string) error {
			if err := opts.resolveSource(cmd, args, "check"); err != nil {
				return err
			}
			if err := cli.OneClaim(opts.claim(), opts.PolicyOptions.Claim()); err != nil {
				return err
			}
			return runCheck(cmd.Context(), opts)
		}),
	}
	opts.addTo(cmd)
	return cmd
}

type checkOptions struct {
	cli.PolicyOptions
	sourceOptions

	preset string
	json   bool
}

func (o *checkOptions) addTo(cmd *cobra.Command) {
	f := cmd.Flags()
	f.SortFlags = false
	o.sourceOptions.addTo(f, "check")
	cli.Renamed(f, "script", "file")
	f.StringVar(&o.preset, "preset", "", "the set of allowed modules: `PRESET` is standard or agent, for scripts, or hook (the policy's, else standard)")
	o.PolicyOptions.AddTo(cmd)
	f.BoolVar(&o.json, "json", false, "print the findings as JSON")
	cli.Complete(cmd, "preset", cli.Names(policy.LanguagePresets()))
}

func runCheck(ctx context.Context, opts checkOptions) error {
	check := run.Check{Preset: policy.LanguagePreset(opts.preset)}
	var err error
	if check.Script, check.Name, err = opts.read(os.Stdin); err != nil {
		return err
	}
	findings, err := opts.judge(ctx, check)
	if err != nil {
		return err
	}
	out := &tap{ctx: ctx, to: os.Stdout}
	if opts.json {
		err = printDocument(out, newReport(findings), isTerminal(os.Stdout))
	} else {
		err = presentCheck(out, check, findings)
	}
	switch {
	case err != nil:
		return outputLost(err)
	case len(findings) > 0:
		return cli.ExitCode(1)
	}
	return nil
}

// judge checks the script, in a Runner for this check alone.
func (o *checkOptions) judge(ctx context.Context, check run.Check) (findings []run.Finding, err error) {
	p, err := o.Load()
	if err != nil {
		return nil, err
	}
	if p, err = forOneRun(p, limitOptions{}); err != nil {
		return nil, err
	}
	runner, err := cordon.NewRunnerContext(ctx, cordon.Options{Policy: p, OneShot: true, Language: cmp.Or(check.Preset, p.ScriptRules())})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, runner.Close()) }()
	return runner.Check(ctx, check)
}

// presentCheck ends with a line that sums up the findings.
func presentCheck(out *tap, check run.Check, findings []run.Finding) error {
	return printLines(out, append(showFindings(cmp.Or(check.Name, "<script>"), findings), verdict(check.Preset, len(findings))))
}

func verdict(preset policy.LanguagePreset, findings int) string {
	switch {
	case findings > 0:
		return countFindings(findings)
	case preset == policy.LanguageHook:
		return "no findings: the script may be called as a hook"
	}
	return "no findings: the script may run restricted"
}
