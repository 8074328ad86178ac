package main

import (
	"cmp"
	"context"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/cordon-sandbox/cordon/internal/cgroup"
	"github.com/cordon-sandbox/cordon/internal/cli"
	"github.com/cordon-sandbox/cordon/internal/doctor"
	"github.com/cordon-sandbox/cordon/internal/tiers"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

func newDoctorCommand() *cobra.Command {
	var opts doctorOptions
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Show what this host can enforce, and what would help",
		Long: `Start the sandbox under a policy, run a few scripts in it, and show which walls
stand on this host: one line a wall, with the reason and the remedy for what is
missing.

With --prove, a guest makes real attempts to break each wall. Each is one line:

  held      the attempt gained nothing
  ESCAPED   it broke a promise
  broken    the attempt itself failed and shows nothing
  slow      it ran out of time on this host, twice
  skipped   it needs a wall that this host does not have

The last lines are about commands, about modules and scripts on WebAssembly, and
about gVisor. Starting Python on WebAssembly takes seconds the first time, so it
needs --tier wasm; starting gVisor needs --tier gvisor.

The exit code is about scripts; with --tier jail it is about commands, with
--tier gvisor about both on gVisor, and with --tier wasm about modules, and about
Python on WebAssembly if its bundle exists. With --prove and --tier gvisor, the
attempts run on gVisor.

Exit codes:
  0         the walls that the policy requires stand; with --prove, all held
  1         with --prove: an attempt escaped, or is broken
  2         bad usage or policy
  3         with --prove: nothing escaped, but attempts were too slow to show
            anything; try again when the host is less busy
  125       a required wall is missing, or the sandbox does not start
  126, 127  the interpreter cannot be executed, or does not exist; with --tier
            wasm and --python-wasm, the bundle
  130, 143  SIGINT or SIGTERM ended cordon`,
		Example: "  cordon doctor\n  cordon doctor --policy strict --json\n  cordon doctor --prove --junit report.xml",
		Args:    cli.Arguments(0, 0),
		RunE: cli.Action(func(cmd *cobra.Command, _ []string) error {
			// As the service does, so that doctor inside a unit speaks for a service
			// there.
			reunite, err := cgroup.Divide()
			if err != nil {
				return err
			}
			defer reunite()
			switch {
			case opts.prove:
				return runProve(cmd.Context(), opts)
			case cmd.Flags().Changed("junit"):
				return run.Errorf(run.Invalid, "--junit needs --prove")
			case cmd.Flags().Changed("area"):
				return run.Errorf(run.Invalid, "--area needs --prove")
			}
			return runDoctor(cmd.Context(), opts)
		}),
	}
	opts.addTo(cmd)
	return cmd
}

// doctorTiers are the tiers that the exit code can be about.
var doctorTiers = tiers.All().Started()

type doctorOptions struct {
	cli.PolicyOptions
	tier  string
	json  bool
	prove bool
	junit string
	areas []string
}

func (o *doctorOptions) addTo(cmd *cobra.Command) {
	o.PolicyOptions.AddTo(cmd)
	o.AddWasmTo(cmd)
	addTier(cmd, &o.tier, "what the exit code is about", doctorTiers, policy.TierProcess)
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
	cmd.Flags().BoolVar(&o.prove, "prove", false, "try to break out, for real")
	cmd.Flags().StringSliceVar(&o.areas, "area", nil, "with --prove, make only the attempts of an `AREA`, such as files or signals (repeatable)")
	cmd.Flags().StringVar(&o.junit, "junit", "", "write the verdicts of --prove to `FILE`, as JUnit XML")
}

func runDoctor(ctx context.Context, opts doctorOptions) error {
	p, err := opts.Load()
	if err != nil {
		return err
	}
	if err := p.Validate(); err != nil {
		return run.Errorf(run.Invalid, "policy: %w", err)
	}
	tier := cmp.Or(policy.Tier(opts.tier), policy.TierProcess)
	if !slices.Contains(doctorTiers, tier) {
		return run.Errorf(run.Invalid, "--tier: unknown tier %q: write %s", opts.tier, tiers.All().Describe())
	}
	report := doctor.Examine(ctx, p, tier)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	out := &tap{ctx: ctx, to: os.Stdout}
	if opts.json {
		err = printDocument(out, report, isTerminal(os.Stdout))
	} else {
		err = doctor.Format(out, report, colored(os.Stdout))
	}
	ok, class := concerning(report, tier, p.PythonWasm != "")
	switch {
	case err != nil:
		return err
	case ok:
		return nil
	case class != "":
		return cli.ExitCode(cli.ClassCode(class))
	}
	return cli.ExitCode(cli.ClassCode(run.Unsupported))
}

// concerning returns the verdict on one tier. A Python for wasm is optional, but one that
// exists or is named has to work.
func concerning(report doctor.Report, tier policy.Tier, named bool) (ok bool, class run.Class) {
	switch python := report.Modules.Python; {
	case tier == policy.TierJail:
		return report.Commands.OK, report.Commands.Class
	case tier == policy.TierGVisor:
		return report.GVisor.OK, report.GVisor.Class
	case tier == policy.TierWasm && report.Modules.OK && (named || python.Path != ""):
		return python.OK, python.Class
	case tier == policy.TierWasm:
		return report.Modules.OK, report.Modules.Class
	}
	return report.OK, report.Class
}
