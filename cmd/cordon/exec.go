package main

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/internal/cli"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

func newExecCommand() *cobra.Command {
	var opts execOptions
	cmd := &cobra.Command{
		Use:   "exec [flags] -- COMMAND [ARG…]",
		Short: "Run any command behind the walls",
		Long: `Run a command, with all the processes that it starts, in a place of its own. It
finds the programs and libraries of this system there, its workspace, a private
/tmp and what is granted; nothing else of this host. It has no network but what
--allow-net names, an environment of its own, and limits on all that it uses.

The workspace is where the command starts, at the same path as outside: the
directory that --workspace names, which it may change, or else the current directory,
which it may only read. A current directory that is a home directory or belongs to
the system is not shown at all: the command starts in /tmp then.

The command may not be a shell or another interpreter, and its arguments may
name neither files that are not there inside nor hosts that it may not reach:
then it is refused, before anything of it runs. --allow-interpreters lifts the
first. It is about the command itself: make may start sh.

--read, --write, --allow-net, --allow-interpreters and --dangerous-workspace add
to what the policy grants, and --egress and --backend replace what it says.
Limits narrow it and never widen it.

Standard streams pass through while the command runs. Where all three are a
terminal, the command has a terminal of its own, with the same size; each key
goes to it, ^C too. Otherwise standard input is read ahead: in a shell's "while
read" loop, say < /dev/null.

After a failure, a short block on standard error says which limit was reached,
or what was blocked and which setting would allow it. With --json, standard
output is the whole Result and nothing else.

` + exitHelp + `
A command that is refused gives 126: as in a shell, it may not be executed.`,
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
			if err := opts.settle(cmd); err != nil {
				return err
			}
			return runExec(cmd.Context(), opts)
		}),
	}
	// What stands behind the command's name is the command's.
	cmd.Flags().SetInterspersed(false)
	opts.addTo(cmd)
	return cmd
}

type execOptions struct {
	cli.PolicyOptions
	limitOptions

	command     []string
	workspace   string
	readOnly    bool
	read, write []string
	allowNet    grants
	env         texts

	egress, backend string
	// Pointers: what nobody says is the policy's.
	interpreters, dangerous *bool

	onOutputLimit string
	tier, trust   string

	noTerminal     bool
	json           bool
	quiet, verbose bool
}

// commandPolicy is the preset by which commands go when nobody names a policy.
const commandPolicy = "command"

func (o *execOptions) addTo(cmd *cobra.Command) {
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.workspace, "workspace", "", "the `DIRECTORY` in which the command works and which it may change (the current one, read-only)")
	f.BoolVar(&o.readOnly, "workspace-ro", false, "let the command change nothing in its workspace")
	f.StringArrayVar(&o.read, "read", nil, "a file or directory that the command may read: `PATH` (repeatable)")
	f.StringArrayVar(&o.write, "write", nil, "a file or directory that the command may change: `PATH` (repeatable)")
	f.Var(&o.allowNet, "allow-net", "where the command may connect to: a list like example.com,*.example.org:443 (repeatable)")
	f.StringVar(&o.egress, "egress", "", "how --allow-net is enforced: `MODE` is strict (a proxy is the only way out), preflight (hosts in the arguments are looked at, and the network is this host's) or none (strict)")
	f.Var(&o.env, "env", "a variable of the command's environment: `NAME=VALUE`, or NAME for the value that it has here (repeatable)")
	f.Var(&choice{&o.interpreters}, "allow-interpreters", "let the command be a shell, Python or another program that runs code from its arguments")
	f.Lookup("allow-interpreters").NoOptDefVal = "true"
	f.Var(&choice{&o.dangerous}, "dangerous-workspace", "let --workspace be a home directory or a directory of the system: the command can then read and change keys, passwords and all else in it, and send it where --allow-net lets it")
	f.Lookup("dangerous-workspace").NoOptDefVal = "true"
	o.limitOptions.addTo(f, policy.GuestCommand, commandLimits())
	f.StringVar(&o.onOutputLimit, "on-output-limit", "", "what to do with a command that writes too much: `ACTION` is truncate or kill (kill)")
	o.AddPolicyTo(cmd, commandPolicy)
	f.StringVar(&o.backend, "backend", "", "what builds the place of the command: `BACKEND` is native or bwrap (native)")
	f.StringVar(&o.tier, "tier", "", "the kind of isolation: `TIER` is jail or gvisor, where this build has it")
	f.StringVar(&o.trust, "trust", "", "where the command comes from: `ORIGIN` is platform, user or third-party (user)")
	f.BoolVar(&o.noTerminal, "no-terminal", false, "give the command pipes, also where cordon has a terminal")
	f.BoolVar(&o.json, "json", false, "print the Result as JSON, and nothing else, on standard output")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "say nothing after a failure: the exit code tells")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "say after the run what it used, whom it talked to and which walls stood")
	cli.Complete(cmd, "egress", cli.Names([]policy.Egress{policy.EgressStrict, policy.EgressPreflight, policy.EgressNone}))
	cli.Complete(cmd, "backend", cli.Names([]policy.JailBackend{policy.JailNative, policy.JailBwrap}))
	cli.Complete(cmd, "tier", cli.Names([]policy.Tier{policy.TierJail, policy.TierGVisor}))
	cli.Complete(cmd, "trust", cli.Names(policy.Trusts()))
	cli.Complete(cmd, "on-output-limit", cli.Names([]policy.OutputAction{policy.OutputTruncate, policy.OutputKill}))
}

// commandLimits are what help texts show.
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
	return runSingle(ctx, cordon.Options{Policy: p, Tier: policy.TierJail}, req, see(opts.noTerminal || opts.json), presentation{
		command: true, hidden: hidden, json: opts.json, quiet: opts.quiet, verbose: opts.verbose, colour: coloured(os.Stderr), width: cli.Width(os.Stderr),
	})
}
