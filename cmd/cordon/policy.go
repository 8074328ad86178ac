package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/cordon-sandbox/cordon/internal/cli"
	"github.com/cordon-sandbox/cordon/internal/policyfile"
	"github.com/cordon-sandbox/cordon/internal/text"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

const policyExitHelp = `Exit codes:
  0  success
  2  bad usage, or an invalid policy`

func newPolicyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Check and show policies: what guests may do",
		Args:  cli.NoSuchCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cmd.Help()
		},
	}
	cmd.AddCommand(newPolicyCheckCommand(), newPolicyExplainCommand(), newPolicyShowCommand(), newPolicyListCommand())
	return cmd
}

func newPolicyCheckCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "check {FILE | -}…",
		Short: "Check policy files",
		Long: `Check policy files. Each problem is reported with its line, its key and what to write
instead. Nothing runs, and the host is not looked at: cordon doctor --policy FILE says
which walls of a policy this host can put up.

` + policyExitHelp,
		Example: "  cordon policy check team.yaml",
		Args:    cli.Arguments(1, -1),
		RunE: cli.Action(func(cmd *cobra.Command, args []string) error {
			var claims []cli.Claim
			for _, file := range args {
				claims = append(claims, cli.Claim{Name: file, Wanted: cli.FromStdin(file)})
			}
			if err := cli.OneClaim(claims...); err != nil {
				return err
			}
			return runPolicyCheck(cmd.Context(), args)
		}),
	}
}

func runPolicyCheck(ctx context.Context, files []string) error {
	out := &tap{ctx: ctx, to: os.Stdout}
	var problems []error
	for _, file := range files {
		if err := checkPolicy(file); err != nil {
			problems = append(problems, err)
			continue
		}
		if _, err := fmt.Fprintf(out, "%s: valid\n", text.Line(file)); err != nil {
			return err
		}
	}
	return errors.Join(problems...)
}

// checkPolicy checks a file, also one that has the name of a preset.
func checkPolicy(file string) error {
	switch {
	case file == "":
		return run.Errorf(run.Invalid, "the name of a file is empty")
	case cli.FromStdin(file):
		_, err := cli.LoadPolicy(file)
		return err
	}
	_, err := policyfile.Load(file)
	return err
}

func newPolicyShowCommand() *cobra.Command {
	var opts policyShowOptions
	cmd := &cobra.Command{
		Use:   "show [PRESET | FILE | -]",
		Short: "Print a policy with all defaults filled in",
		Long: `Print a policy with all defaults filled in. The output is what cordon uses, and is
itself a valid policy file. Without an argument it is the default policy.

` + policyExitHelp,
		Example:           "  cordon policy show strict\n  cordon policy show team.yaml --json",
		Args:              cli.Arguments(0, 1),
		ValidArgsFunction: completePolicies,
		RunE: cli.Action(func(cmd *cobra.Command, args []string) error {
			if err := opts.takeArgument(cmd, args); err != nil {
				return err
			}
			return runPolicyShow(cmd.Context(), opts)
		}),
	}
	opts.addTo(cmd)
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON instead of YAML")
	return cmd
}

// policyArgument is a policy that is an argument or the value of --policy.
type policyArgument struct{ policy string }

func (o *policyArgument) addTo(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.policy, "policy", "", "the same as the argument: a `PRESET`, or a policy")
}

func (o *policyArgument) takeArgument(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 1 && cmd.Flags().Changed("policy"):
		return run.Errorf(run.Invalid, "--policy and the argument %s exclude each other", text.Quote(args[0]))
	case len(args) == 1 && args[0] == "":
		return run.Errorf(run.Invalid, "the name of the policy is empty")
	case len(args) == 1:
		o.policy = args[0]
	}
	return nil
}

func (o policyArgument) load() (policy.Policy, error) {
	p, err := cli.LoadPolicy(o.policy)
	if err != nil {
		return policy.Policy{}, err
	}
	if err := p.Validate(); err != nil {
		return policy.Policy{}, run.Wrap(run.Invalid, err)
	}
	return p, nil
}

// completePolicies completes the names of presets and of files.
func completePolicies(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for _, info := range policy.Presets() {
		names = append(names, info.Name)
	}
	return names, cobra.ShellCompDirectiveDefault
}

type policyShowOptions struct {
	policyArgument
	json bool
}

func runPolicyShow(ctx context.Context, opts policyShowOptions) error {
	p, err := opts.load()
	if err != nil {
		return err
	}
	out := &tap{ctx: ctx, to: os.Stdout}
	if opts.json {
		return printJSON(out, policy.FromPolicy(p), isTerminal(os.Stdout))
	}
	formatted, err := policyfile.Format(p)
	if err != nil {
		return err
	}
	_, err = out.Write(formatted)
	return err
}

func newPolicyListCommand() *cobra.Command {
	var opts policyListOptions
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the presets",
		Long:  "List the presets that --policy knows by name.\n\n" + policyExitHelp,
		Args:  cli.Arguments(0, 0),
		RunE: cli.Action(func(cmd *cobra.Command, _ []string) error {
			return runPolicyList(cmd.Context(), opts)
		}),
	}
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON")
	return cmd
}

type policyListOptions struct{ json bool }

func runPolicyList(ctx context.Context, opts policyListOptions) error {
	out := &tap{ctx: ctx, to: os.Stdout}
	if opts.json {
		return printDocument(out, struct {
			Presets []policy.PresetInfo `json:"presets"`
		}{policy.Presets()}, isTerminal(os.Stdout))
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, info := range policy.Presets() {
		fmt.Fprintf(table, "%s\t%s\n", info.Name, info.Description)
	}
	return table.Flush()
}
