package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cordon-sandbox/cordon/internal/cli"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// limitOptions are the limits of a run. Zero fields were not set.
type limitOptions struct{ policy.Limits }

// addTo adds the limits of a kind of guest; help texts show defaults.
func (o *limitOptions) addTo(f *pflag.FlagSet, guest policy.Guest, defaults policy.Limits) {
	for _, limit := range policy.LimitsFor(guest) {
		f.VarP(cli.Limited(&o.Limits, limit), limit.Flag(), limit.Short, about(limit.Help, limit.Text(limit.Of(defaults))))
		if limit.Alias != "" {
			cli.Renamed(f, limit.Flag(), limit.Alias)
		}
	}
}

// guestOptions say how scripts run, in the commands that run them.
type guestOptions struct {
	cli.PolicyOptions
	limitOptions

	onOutputLimit string
	tier, trust   string
	restricted    bool
}

// addTo adds the flags; guest is what runs, in a sentence.
func (o *guestOptions) addTo(cmd *cobra.Command, among []policy.Tier, guest string) {
	f := cmd.Flags()
	o.limitOptions.addTo(f, policy.GuestScript, policy.DefaultLimits())
	f.StringVar(&o.onOutputLimit, "on-output-limit", "", "what happens when "+guest+" writes too much: `ACTION` is truncate or kill (truncate)")
	o.PolicyOptions.AddTo(cmd)
	o.AddWasmTo(cmd)
	addTier(cmd, &o.tier, "the kind of isolation, if this build has it", among, policy.TierProcess)
	f.StringVar(&o.trust, "trust", "", "where the code comes from: `ORIGIN` is platform, user or third-party (user)")
	f.BoolVar(&o.restricted, "restricted", false, "apply the language rules to "+guest+", on top of all walls")
	cli.Complete(cmd, "trust", cli.Names(policy.Trusts()))
	cli.Complete(cmd, "on-output-limit", cli.Names([]policy.OutputAction{policy.OutputTruncate, policy.OutputKill}))
}

// first returns the tier that starts with the Runner. It is the one that the request will
// ask for, so that a host does not need what another tier requires.
func (o *guestOptions) first() policy.Tier {
	if o.tier == string(policy.TierWasm) {
		return policy.TierWasm
	}
	return ""
}

// language returns the rules that scripts start with; a request can ask for stricter
// ones.
func (o *guestOptions) language(p policy.Policy) policy.LanguagePreset {
	if o.restricted {
		return p.ScriptRules()
	}
	return ""
}

// addTier adds the flag that chooses among tiers.
func addTier(cmd *cobra.Command, value *string, what string, among []policy.Tier, normally policy.Tier) {
	cmd.Flags().StringVar(value, "tier", "", fmt.Sprintf("%s: `TIER` is %s (%s)", what, cli.OneOf(among), normally))
	cli.Complete(cmd, "tier", cli.Names(among))
}

// shownOptions say what is printed about a run.
type shownOptions struct{ json, quiet, verbose bool }

func (o *shownOptions) addTo(f *pflag.FlagSet) {
	f.BoolVar(&o.json, "json", false, "print the Result as JSON, and nothing else, on standard output")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "print nothing after a failure: the exit code says it")
	f.BoolVar(&o.verbose, "verbose", false, "after the run, show what it used, which hosts it reached and which walls stood")
}

// resolveShown lets a flag win over the environment, and refuses two that contradict each
// other.
func (o *shownOptions) resolveShown(changed func(string) bool) error {
	switch {
	case !o.quiet || !o.verbose:
	case changed("quiet") == changed("verbose"):
		return run.Errorf(run.Invalid, "--quiet and --verbose exclude each other")
	default:
		o.quiet, o.verbose = changed("quiet"), changed("verbose")
	}
	return nil
}

func about(what, normally string) string {
	return fmt.Sprintf("%s (%s unless the policy says otherwise)", what, normally)
}

// narrow returns the limits of a run under p; its errors name flags.
func (o *limitOptions) narrow(p policy.Policy) (policy.Limits, error) {
	limits, err := p.Narrow(o.Limits)
	var wrong *policy.FieldError
	if errors.As(err, &wrong) {
		for _, limit := range policy.LimitTable() {
			if wrong.Field == "limits."+limit.Key {
				err = fmt.Errorf("--%s: %w", limit.Flag(), wrong.Err)
			}
		}
	}
	if err != nil {
		return limits, run.Wrap(run.Invalid, err)
	}
	return limits, nil
}

// texts is a repeatable flag. It is not a pflag.SliceValue, since its environment
// variable would be split at the commas of JSON and of values.
type texts []string

func (t *texts) Set(text string) error {
	*t = append(*t, text)
	return nil
}

func (t *texts) String() string { return strings.Join(*t, " ") }

func (t *texts) Type() string { return "JSON" }

// grants is a list of hosts. No host name contains a comma.
type grants []string

func (g *grants) Set(text string) error {
	for one := range strings.SplitSeq(text, ",") {
		grant, err := policy.ParseNetGrant(strings.TrimSpace(one))
		if err != nil {
			return err
		}
		*g = append(*g, grant.String())
	}
	return nil
}

func (g *grants) String() string { return strings.Join(*g, ",") }

func (g *grants) Type() string { return "HOST[:PORT]" }

// choice is a flag that is true, false or not set.
type choice struct{ value **bool }

func (c *choice) Set(text string) error {
	yes, err := strconv.ParseBool(text)
	if err != nil {
		return fmt.Errorf("%q is neither true nor false", text)
	}
	*c.value = &yes
	return nil
}

func (c *choice) String() string {
	if c.value == nil || *c.value == nil {
		return ""
	}
	return strconv.FormatBool(**c.value)
}

// Type is pflag's own name for it, so that the help shows no value.
func (c *choice) Type() string { return "bool" }
