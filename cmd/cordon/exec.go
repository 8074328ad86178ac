package main

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/internal/cli"
	"github.com/cordon-sandbox/cordon/internal/tiers"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

func newExecCommand() *cobra.Command {
	var opts execOptions
	cmd := &cobra.Command{
		Use:   "exec [flags] -- COMMAND [ARG…]",
		Short: "Run any command behind the walls",
		Long: `Run a command, with all processes that it starts, in a sandbox of its own. Inside,
it finds the programs and libraries of this system, its workspace, a private
/tmp and what is granted, and nothing else of this host. It reaches no network
except what --allow-net names, and has its own environment and limits.

The command starts in its workspace, which has the same path as outside: the
directory that --workspace names, which it may change, or else the current
directory, which it may only read. A current directory that is a home directory
or belongs to the system is hidden: the command then starts in /tmp.

The command itself may not be a shell or another interpreter, and its arguments
may name neither files that do not exist inside nor hosts that it may not reach.
Otherwise it is refused before it starts. --allow-interpreters lifts the first
rule. What the command starts is not restricted: make may start sh.

--read, --write, --allow-net, --allow-interpreters and --dangerous-workspace add
to what the policy grants; --egress and --jail replace what it says. Limits
narrow the policy and never widen it.

Standard streams pass through while the command runs. If all three are a
terminal, the command gets a terminal of its own, of the same size, and every
key goes to it, ^C too. Otherwise standard input is read ahead: in a shell's
"while read" loop, use < /dev/null.

After a failure, a short block on standard error says which limit was reached,
or what was blocked and which setting would allow it. With --json, standard
output is the whole Result and nothing else.

` + exitHelp + `
A refused command exits with 126, as in a shell: it may not be executed.`,
		Example: `  cordon exec -- ls -l
  cordon exec --workspace . -- make test
  cordon exec --read /data --allow-net 'api.example.com:443,*.example.org' -- ./fetch
  cordon exec --allow-interpreters -- sh -c 'echo $HOME'
  cordon exec --workspace . -t 1h -m 8GiB --processes 2000 --json -- make -j8`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return run.Errorf(run.Invalid, "nothing to run: name a command, as in %s -- ls -l", cmd.CommandPath())
			}
			return nil
		},
		RunE: cli.Action(func(cmd *cobra.Command, args []string) error {
			opts.command = args
			if err := opts.resolve(cmd); err != nil {
				return err
			}
			return runExec(cmd.Context(), opts)
		}),
	}
	// Flags after the command's name belong to the command.
	cmd.Flags().SetInterspersed(false)
	opts.addTo(cmd)
	return cmd
}

type execOptions struct {
	cli.PolicyOptions
	limitOptions
	shownOptions

	command     []string
	workspace   string
	readOnly    bool
	read, write []string
	allowNet    grants
	env         texts

	egress, backend string
	// Nil means that the policy decides.
	interpreters, dangerous *bool

	onOutputLimit string
	tier, trust   string

	noTerminal bool
}

// commandPolicy is the preset for commands when no policy is named.
const commandPolicy = "command"

func (o *execOptions) addTo(cmd *cobra.Command) {
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.workspace, "workspace", "", "the `DIRECTORY` in which the command works and which it may change (the current one, read-only)")
	f.BoolVar(&o.readOnly, "workspace-read-only", false, "make the workspace read-only")
	cli.Renamed(f, "workspace-read-only", "workspace-ro")
	f.StringArrayVar(&o.read, "read", nil, "a file or directory that the command may read: `PATH` (repeatable)")
	f.StringArrayVar(&o.write, "write", nil, "a file or directory that the command may change: `PATH` (repeatable)")
	f.Var(&o.allowNet, "allow-net", "hosts that the command may connect to: a list like example.com,*.example.org:443 (repeatable)")
	f.StringVar(&o.egress, "egress", "", "how --allow-net is enforced: `MODE` is strict (a proxy is the only way out), preflight (only hosts in the arguments are checked; the network is this host's) or none (strict)")
	f.Var(&o.env, "env", "an environment variable for the command: `NAME=VALUE`, or NAME to copy its value (repeatable)")
	f.Var(&choice{&o.interpreters}, "allow-interpreters", "allow a shell, Python or another program that runs code from its arguments")
	f.Lookup("allow-interpreters").NoOptDefVal = "true"
	f.Var(&choice{&o.dangerous}, "dangerous-workspace", "allow a home or system directory as --workspace: the command can then read and change keys, passwords and everything else in it, and send it to the hosts of --allow-net")
	f.Lookup("dangerous-workspace").NoOptDefVal = "true"
	o.limitOptions.addTo(f, policy.GuestCommand, commandLimits())
	f.StringVar(&o.onOutputLimit, "on-output-limit", "", "what happens to a command that writes too much: `ACTION` is truncate or kill (kill)")
	o.AddPolicyTo(cmd, commandPolicy)
	f.StringVar(&o.backend, "jail", "", "what builds the sandbox: `BACKEND` is auto, native, bwrap or landlock (auto)")
	cli.Renamed(f, "jail", "backend")
	addTier(cmd, &o.tier, "the kind of isolation, if this build has it", tiers.All().For(policy.GuestCommand), policy.TierJail)
	f.StringVar(&o.trust, "trust", "", "where the command comes from: `ORIGIN` is platform, user or third-party (user)")
	f.BoolVar(&o.noTerminal, "no-terminal", false, "give the command pipes even if cordon has a terminal")
	o.shownOptions.addTo(f)
	cli.Complete(cmd, "egress", cli.Names([]policy.Egress{policy.EgressStrict, policy.EgressPreflight, policy.EgressNone}))
	cli.Complete(cmd, "jail", cli.Names(policy.JailBackends()))
	cli.Complete(cmd, "trust", cli.Names(policy.Trusts()))
	cli.Complete(cmd, "on-output-limit", cli.Names([]policy.OutputAction{policy.OutputTruncate, policy.OutputKill}))
}

// commandLimits returns the defaults for help texts.
func commandLimits() policy.Limits {
	p, err := policy.Preset(commandPolicy)
	if err != nil {
		return policy.DefaultLimits()
	}
	return p.Limits
}

// runExec runs one command.
func runExec(ctx context.Context, opts execOptions) error {
	p, err := opts.grant()
	if err != nil {
		return err
	}
	req, hidden, err := opts.request()
	if err != nil {
		return err
	}
	window := see(opts.noTerminal || opts.json)
	if cli.FromStdin(opts.Policy) {
		window = view{}
	}
	err = runSingle(ctx, cordon.Options{Policy: p, Tier: policy.TierJail}, req, window, presentation{
		command: true, hidden: hidden, json: opts.json, quiet: opts.quiet, verbose: opts.verbose, color: colored(os.Stderr), width: cli.Width(os.Stderr),
	})
	return explainOneWord(err, opts.command)
}
