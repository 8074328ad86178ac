package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/cli"
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
refused. Without an argument the policy is the default one. The sandboxes are started
to see their walls, but nothing runs in them.

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
	e := explainer{policy: p, tiers: tiers.All(), started: map[policy.Tier]startedTier{}}
	var all []explanation
	for _, kind := range []policy.Guest{policy.GuestScript, policy.GuestCall, policy.GuestCommand, policy.GuestModule} {
		explained := e.explain(ctx, kind, policy.Trust(opts.trust))
		if ctx.Err() != nil {
			return ctx.Err()
		}
		all = append(all, explained)
	}
	out := &tap{ctx: ctx, to: os.Stdout}
	if opts.json {
		return printDocument(out, struct {
			Guests []explanation `json:"guests"`
		}{all}, isTerminal(os.Stdout))
	}
	return formatExplanations(out, all, cli.Width(os.Stdout))
}

// explainer asks the tiers of this build, and starts each at most once.
type explainer struct {
	policy  policy.Policy
	tiers   backend.Tiers
	started map[policy.Tier]startedTier
}

type startedTier struct {
	enforcement run.Enforcement
	err         error
}

func (e explainer) explain(ctx context.Context, kind policy.Guest, trust policy.Trust) explanation {
	said := explanation{Guest: backend.GuestWord(kind)}
	chosen, err := e.tiers.Select(backend.Ask{System: runtime.GOOS, Policy: e.policy, Guest: kind, Trust: trust})
	if err != nil {
		said.Why = err.Error()
		return said
	}
	enforcement, err := e.start(ctx, e.tiers.Starter(chosen.Tier))
	if err != nil {
		said.Why = err.Error()
		return said
	}
	said.Trust, said.Tier = chosen.Trust, chosen.Tier
	said.Why = fmt.Sprintf("made for %s code", e.tiers.MadeFor(chosen.Tier))
	if chosen.ThirdParty != "" {
		said.Why += ", and allowed by the policy's third_party"
	}
	enforcement.Tier, enforcement.ThirdParty = chosen.Tier, chosen.ThirdParty
	if kind == policy.GuestCall {
		enforcement.Walls = maps.Clone(enforcement.Walls)
		enforcement.Walls[policy.WallLanguage] = policy.EnforcedWall(string(policy.LanguageHook))
	}
	said.Enforcement = &enforcement
	return said
}

// start returns the walls of a tier on this host.
func (e explainer) start(ctx context.Context, tier policy.Tier) (run.Enforcement, error) {
	if known, done := e.started[tier]; done {
		return known.enforcement, known.err
	}
	var s startedTier
	runner, err := cordon.NewRunnerContext(ctx, cordon.Options{Policy: e.policy, OneShot: true, Tier: tier})
	if err == nil {
		s.enforcement = runner.Enforcement()
		err = runner.Close()
	}
	s.err = err
	e.started[tier] = s
	return s.enforcement, s.err
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
