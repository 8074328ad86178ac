package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/cli"
	"github.com/cordon-sandbox/cordon/internal/doctor"
	"github.com/cordon-sandbox/cordon/internal/text"
	"github.com/cordon-sandbox/cordon/internal/tiers"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

func newPolicyExplainCommand() *cobra.Command {
	var opts policyExplainOptions
	cmd := &cobra.Command{
		Use:   "explain [PRESET | FILE | -]",
		Short: "Show which tier and walls code gets here, and why",
		Long: `Show what happens on this host to code of one origin under a policy: which tier runs
a script, a hook, a command and a module, behind which walls, and why; or why it is
refused. Without an argument the policy is the default one. To see the walls, a script,
a hook, a command and a module that do nothing are run.

` + policyExitHelp,
		Example:           "  cordon policy explain --trust third-party\n  cordon policy explain team.yaml --json",
		Args:              cli.Arguments(0, 1),
		ValidArgsFunction: completePolicies,
		RunE: cli.Action(func(cmd *cobra.Command, args []string) error {
			if err := opts.takeArgument(cmd, args); err != nil {
				return err
			}
			return runPolicyExplain(cmd.Context(), opts)
		}),
	}
	opts.addTo(cmd)
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON")
	cmd.Flags().StringVar(&opts.trust, "trust", "", "where the code comes from: `ORIGIN` is platform, user or third-party (user, or less if the policy grants less)")
	cli.Complete(cmd, "trust", cli.Names(policy.Trusts()))
	return cmd
}

type policyExplainOptions struct {
	policyArgument
	json  bool
	trust string
}

// explanation is what happens to one kind of guest.
type explanation struct {
	Guest string       `json:"guest"`
	Trust policy.Trust `json:"trust,omitempty"`
	Tier  policy.Tier  `json:"tier,omitempty"`
	Why   string       `json:"why"` // the reason for the tier, or for the refusal
	// Enforcement is what each Result would have; null if the guest is refused.
	Enforcement *run.Enforcement `json:"enforcement"`
}

func runPolicyExplain(ctx context.Context, opts policyExplainOptions) error {
	p, err := opts.load()
	if err != nil {
		return err
	}
	if err := knownNames("", policy.Trust(opts.trust), ""); err != nil {
		return err
	}
	var all []explanation
	for _, g := range idleGuests {
		all = append(all, explain(ctx, p, g, policy.Trust(opts.trust)))
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	out := &tap{ctx: ctx, to: os.Stdout}
	if opts.json {
		return printDocument(out, struct {
			Guests []explanation `json:"guests"`
		}{all}, isTerminal(os.Stdout))
	}
	return formatExplanations(out, all, cli.Width(os.Stdout))
}

// idleGuest does nothing. Its Result has the walls of all guests of its kind.
type idleGuest struct {
	kind policy.Guest
	run  func(ctx context.Context, r *cordon.Runner, trust policy.Trust) (run.Result, error)
}

var idleGuests = []idleGuest{
	{policy.GuestScript, func(ctx context.Context, r *cordon.Runner, trust policy.Trust) (run.Result, error) {
		return r.Run(ctx, run.Request{Script: run.Script{Source: "pass"}, Trust: trust})
	}},
	{policy.GuestCall, func(ctx context.Context, r *cordon.Runner, trust policy.Trust) (run.Result, error) {
		hook, err := r.OpenHook(ctx, run.HookSpec{Script: "def f(): pass", Trust: trust})
		if err != nil {
			return run.Result{}, err
		}
		result, err := hook.CallFunction(ctx, "f")
		return result, errors.Join(err, hook.Close())
	}},
	{policy.GuestCommand, func(ctx context.Context, r *cordon.Runner, trust policy.Trust) (run.Result, error) {
		return r.Run(ctx, run.Request{Command: run.Command{Args: doctor.IdleCommand(runtime.GOOS)}, Trust: trust})
	}},
	{policy.GuestModule, func(ctx context.Context, r *cordon.Runner, trust policy.Trust) (run.Result, error) {
		module, err := r.OpenModule(ctx, []byte(idleModule))
		if err != nil {
			return run.Result{}, err
		}
		result, err := r.Run(ctx, run.Request{Module: run.ModuleRun{Module: module}, Trust: trust})
		return result, errors.Join(err, module.Close())
	}},
}

// idleModule is a WebAssembly program: an empty function with the name _start.
const idleModule = "\x00asm\x01\x00\x00\x00" +
	"\x01\x04\x01\x60\x00\x00" + // one type: no parameters, no results
	"\x03\x02\x01\x00" + // one function of that type
	"\x07\x0a\x01\x06_start\x00\x00" + // its name
	"\x0a\x04\x01\x02\x00\x0b" // its code

func explain(ctx context.Context, p policy.Policy, g idleGuest, trust policy.Trust) explanation {
	said := explanation{Guest: backend.GuestWord(g.kind)}
	all := tiers.All()
	chosen, err := all.Select(backend.Ask{System: runtime.GOOS, Policy: p, Guest: g.kind, Trust: trust})
	if err != nil {
		said.Why = err.Error()
		return said
	}
	enforcement, err := tryGuest(ctx, cordon.Options{Policy: p, OneShot: true, Tier: all.Starter(chosen.Tier)}, g, trust)
	if err != nil {
		said.Why = err.Error()
		return said
	}
	said.Trust, said.Tier, said.Enforcement = chosen.Trust, chosen.Tier, &enforcement
	said.Why = fmt.Sprintf("made for %s code", all.MadeFor(chosen.Tier))
	if chosen.ThirdParty != "" {
		said.Why += ", and allowed by the policy's third_party"
	}
	return said
}

func tryGuest(ctx context.Context, opts cordon.Options, g idleGuest, trust policy.Trust) (run.Enforcement, error) {
	runner, err := cordon.NewRunnerContext(ctx, opts)
	if err != nil {
		return run.Enforcement{}, err
	}
	result, err := g.run(ctx, runner, trust)
	return result.Enforcement, errors.Join(err, runner.Close())
}

func formatExplanations(w io.Writer, all []explanation, width int) error {
	const indent = "         "
	for _, e := range all {
		lines := []string{fmt.Sprintf("%-8s refused: %s", e.Guest, e.Why)}
		if e.Enforcement != nil {
			lines = []string{fmt.Sprintf("%-8s tier %s for %s code: %s", e.Guest, e.Tier, e.Trust, e.Why)}
			lines = append(lines, wallLines(*e.Enforcement, indent)...)
		}
		for _, line := range lines {
			if _, err := fmt.Fprintln(w, text.Wrap(line, width, indent)); err != nil {
				return err
			}
		}
	}
	return nil
}

// wallLines lists the walls that stand in one line, and each missing one with its reason.
func wallLines(e run.Enforcement, indent string) []string {
	var standing, missing []string
	for _, wall := range slices.Concat(policy.Walls(), policy.OtherWalls()) {
		switch status, known := e.Walls[wall]; {
		case !known:
		case status.Enforced():
			standing = append(standing, string(wall))
		default:
			missing = append(missing, fmt.Sprintf("%s%s is %s", indent, wall, status))
		}
	}
	by := ""
	if e.Jail != "" {
		by = fmt.Sprintf(" (jail: %s)", e.Jail)
	}
	return append([]string{indent + "walls: " + cmp.Or(strings.Join(standing, ", "), "none") + by}, missing...)
}
