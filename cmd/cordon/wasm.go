package main

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/internal/cli"
	"github.com/cordon-sandbox/cordon/internal/wasmbin"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

func newWasmCommand() *cobra.Command {
	var opts wasmOptions
	cmd := &cobra.Command{
		Use:   "wasm [flags] {MODULE | -} [-- ARG…]",
		Short: "Run a WebAssembly module",
		Long: `Run a WebAssembly module: a program for WASI preview 1, as built by Go
(GOOS=wasip1), Rust (wasm32-wasip1), C (clang and wasi-libc) and others. It runs
inside cordon's own process, on every system, and has no system calls at all: it
has its arguments, its standard streams, a clock, randomness, and what is
granted. It is compiled once and kept in the user's cache directory.

With --call, cordon calls a function that the module exports, with JSON in and
JSON out; --input is its argument.

Fuel counts the instructions that the module executes, exactly: the same module
with the same input ends at the same instruction. With --deterministic the clock
stands still and randomness repeats, so that the same input also gives the same
bytes.

--read and --write add to what the policy grants: directories and files that the
module finds at the same path, and at their relative path if they are below the
current directory. No symlink leads out of them. Limits narrow the policy and
never widen it.

Standard streams pass through; standard input is empty if the module itself is
read from it (-). After a failure, a short block on standard error says which
limit was reached, or what was blocked. With --json, standard output is the
whole Result and nothing else.

` + exitHelp,
		Example: `  cordon wasm plugin.wasm -- arg1 arg2
  cordon wasm --fuel 50M --memory 64MiB --read ./data plugin.wasm
  cordon wasm --deterministic --json plugin.wasm < input
  cordon wasm --call score --input '{"points": 3}' plugin.wasm`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return run.Errorf(run.Invalid, "nothing to run: name a module, as in %s plugin.wasm", cmd.CommandPath())
			}
			return nil
		},
		RunE: cli.Action(func(cmd *cobra.Command, args []string) error {
			opts.module, opts.args = args[0], args[1:]
			if len(opts.args) > 0 && opts.args[0] == "--" {
				opts.args = opts.args[1:]
			}
			if err := opts.resolve(cmd); err != nil {
				return err
			}
			return runWasm(cmd.Context(), opts)
		}),
	}
	// Flags after the module's name belong to the module.
	cmd.Flags().SetInterspersed(false)
	opts.addTo(cmd)
	return cmd
}

type wasmOptions struct {
	cli.PolicyOptions
	limitOptions
	shownOptions

	module, call, input string
	args                []string
	read, write         []string
	env                 texts
	deterministic       bool
	onOutputLimit       string
	trust               string
}

func (o *wasmOptions) addTo(cmd *cobra.Command) {
	f := cmd.Flags()
	f.SortFlags = false
	o.limitOptions.addTo(f, policy.GuestModule, policy.DefaultLimits())
	f.StringArrayVar(&o.read, "read", nil, "a file or directory that the module may read: `PATH` (repeatable)")
	f.StringArrayVar(&o.write, "write", nil, "a file or directory that the module may change: `PATH` (repeatable)")
	f.Var(&o.env, "env", "an environment variable for the module: `NAME=VALUE`, or NAME to copy its value (repeatable)")
	f.BoolVar(&o.deterministic, "deterministic", false, "stop the clock and repeat the same randomness")
	f.StringVar(&o.call, "call", "", "call the exported function `NAME`, with JSON in and JSON out")
	f.StringVar(&o.input, "input", "", "the argument of --call: `VALUE` is "+cli.ValueForm+" (null)")
	f.StringVar(&o.onOutputLimit, "on-output-limit", "", "what happens to a module that writes too much: `ACTION` is truncate or kill (truncate)")
	o.AddPolicyTo(cmd, "default")
	f.StringVar(&o.trust, "trust", "", "where the module comes from: `ORIGIN` is platform or user (user)")
	o.shownOptions.addTo(f)
	cli.Complete(cmd, "trust", cli.Names(policy.Trusts()))
	cli.Complete(cmd, "on-output-limit", cli.Names([]policy.OutputAction{policy.OutputTruncate, policy.OutputKill}))
}

func (o *wasmOptions) resolve(cmd *cobra.Command) error {
	changed := cmd.Flags().Changed
	switch {
	case o.call == "" && changed("input"):
		return run.Errorf(run.Invalid, "--input needs --call: a program reads its standard input")
	case o.call != "" && len(o.args) > 0:
		return run.Errorf(run.Invalid, "--call and the argument %q exclude each other: a function takes --input", o.args[0])
	}
	if err := o.resolveShown(changed); err != nil {
		return err
	}
	return cli.OneClaim(cli.Claim{Name: "the module", Wanted: o.module == cli.Stdin}, cli.Claim{Name: "--input", Wanted: cli.FromStdin(o.input)}, o.PolicyOptions.Claim())
}

// stdin returns what the guest reads. A function is called with --input and does not wait
// for a terminal.
func (o *wasmOptions) stdin() io.Reader {
	taken := o.module == cli.Stdin || cli.FromStdin(o.input) || cli.FromStdin(o.Policy)
	if taken || o.call != "" && isTerminal(os.Stdin) {
		return nil
	}
	return os.Stdin
}

// runWasm runs one module.
func runWasm(ctx context.Context, opts wasmOptions) error {
	p, err := opts.grant()
	if err != nil {
		return err
	}
	req, err := opts.request()
	if err != nil {
		return err
	}
	binary, err := cli.ReadFile(opts.module, wasmbin.MaxSize, os.Stdin)
	if err != nil {
		return err
	}
	var input json.RawMessage
	if opts.call != "" {
		input = json.RawMessage("null")
		if opts.input != "" {
			if input, err = cli.Value("--input", opts.input, os.Stdin); err != nil {
				return err
			}
		}
	}
	how := presentation{json: opts.json, quiet: opts.quiet, verbose: opts.verbose, color: colored(os.Stderr), person: isTerminal(os.Stderr), width: cli.Width(os.Stderr)}
	return doSingle(ctx, cordon.Options{Policy: p, Tier: policy.TierWasm}, req, view{}, how, func(ctx context.Context, r *cordon.Runner, req run.Request) (run.Result, error) {
		m, err := r.OpenModule(ctx, binary)
		if err != nil {
			return run.Result{}, err
		}
		if opts.call != "" {
			res, err := m.CallWith(ctx, req, opts.call, input)
			if err == nil && !opts.json && res.OK() {
				err = printJSON(os.Stdout, res.ValueOrNull(), false)
			}
			return res, err
		}
		req.Module.Module = m
		return r.Run(ctx, req)
	})
}

// grant returns the policy plus what the flags add to it.
func (o *wasmOptions) grant() (policy.Policy, error) {
	p, err := o.Load()
	if err != nil {
		return p, err
	}
	if err := addPaths(&p, o.read, o.write); err != nil {
		return p, err
	}
	_, err = o.narrow(p)
	return p, err
}

// request builds the request, without the module.
func (o *wasmOptions) request() (run.Request, error) {
	env, err := environment(o.env, os.LookupEnv)
	return run.Request{
		Module: run.ModuleRun{Name: o.name(), Args: o.args, Env: env, Deterministic: o.deterministic},
		Trust:  policy.Trust(o.trust), Limits: o.Limits, OnOutputLimit: policy.OutputAction(o.onOutputLimit),
		Streams: run.Streams{In: o.stdin()},
	}, err
}

// name is the module's argument 0, empty if it has no file.
func (o *wasmOptions) name() string {
	if o.module == cli.Stdin {
		return ""
	}
	return filepath.Base(o.module)
}
