package main

import (
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/cordon-sandbox/cordon/internal/cli"
	"github.com/cordon-sandbox/cordon/internal/filenames"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// resolve decides between options that exclude each other. The command line wins over the
// environment, and must not contradict itself.
func (o *runOptions) resolve(cmd *cobra.Command, args []string) error {
	changed := cmd.Flags().Changed
	source, arguments := splitArguments(cmd, args)
	o.arguments = arguments
	if o.jsonLines {
		for _, flag := range []string{
			"code", "script", "file", "artifacts", "artifact", "context", "context-file", "stdin", "variable", "json", "quiet", "verbose", "save", "load",
		} {
			if changed(flag) {
				return run.Errorf(run.Invalid, "--%s and --json-lines exclude each other: each line is a request of its own", flag)
			}
		}
		if len(args) > 0 {
			return run.Errorf(run.Invalid, "%q and --json-lines exclude each other: requests come from standard input", args[0])
		}
		return cli.OneClaim(cli.Claim{Name: "--json-lines", Wanted: true}, o.PolicyOptions.Claim())
	}
	if changed("concurrent") {
		return run.Errorf(run.Invalid, "--concurrent is for --json-lines")
	}
	if err := o.resolveSource(cmd, source, "run"); err != nil {
		return o.explainNoSource(err)
	}
	if err := o.resolveShown(changed); err != nil {
		return err
	}
	switch {
	case changed("artifact") && o.artifactsIn == "" && !o.json:
		return run.Errorf(run.Invalid, "--artifact needs --artifacts DIRECTORY, or --json")
	case (o.saveTo != "" || o.loadFrom != "") && o.tier != string(policy.TierWasm):
		return run.Errorf(run.Invalid, "--save and --load need --tier %s: other tiers do not keep their memory", policy.TierWasm)
	case o.loadFrom != "" && changed("restricted"):
		return run.Errorf(run.Invalid, "--restricted and --load exclude each other: a saved session keeps its mode")
	case changed("context") && changed("context-file"):
		return run.Errorf(run.Invalid, "--context and --context-file exclude each other")
	case o.contextFile != "" && !changed("context"):
		o.context = "@" + o.contextFile
	}
	return cli.OneClaim(o.claim(), o.PolicyOptions.Claim(), cli.Claim{Name: "--context", Wanted: cli.FromStdin(o.context)}, cli.Claim{Name: "--stdin", Wanted: o.stdin == cli.Stdin})
}

// explainNoSource adds what a command line without a script may have meant.
func (o *runOptions) explainNoSource(err error) error {
	switch {
	case o.script != "" || o.code != "": // it has two
		return err
	case len(o.files) > 0:
		return run.Errorf(run.Invalid, "%w\n--file gives a file to the script; -f names the script", err)
	case len(o.arguments) > 0:
		return run.Errorf(run.Invalid, "%w\nwhat follows -- are the arguments of the script", err)
	}
	return err
}

// request builds the request, and checks the names in flags before anything starts. The
// Runner validates the request.
func (o *runOptions) request(stdin *os.File) (run.Request, error) {
	req := run.Request{
		Script: run.Script{Variables: o.variables, Args: o.arguments, Artifacts: o.patterns(), Restricted: o.restricted},
		Tier:   policy.Tier(o.tier), Trust: policy.Trust(o.trust), OnOutputLimit: policy.OutputAction(o.onOutputLimit),
		// The Runner enlarges the scratch space for the files, unless a request says how large it is.
		Limits: policy.Limits{Scratch: o.Scratch},
	}
	var err error
	if req.Script.Source, req.Script.Name, err = o.read(stdin); err != nil {
		return req, err
	}
	if err := knownNames(req.Tier, req.Trust, req.OnOutputLimit); err != nil {
		return req, err
	}
	if req.Script.Files, err = o.given(); err != nil {
		return req, err
	}
	for _, pattern := range req.Script.Artifacts {
		if err := filenames.CheckPattern(pattern); err != nil {
			return req, run.Errorf(run.Invalid, "--artifact: %w", err)
		}
	}
	if req.Script.Context, err = o.readContext(stdin); err != nil {
		return req, err
	}
	taken := o.script == cli.Stdin || cli.FromStdin(o.context) || cli.FromStdin(o.Policy)
	switch {
	case o.stdin == cli.Stdin:
		req.Streams.In = stdin
	case o.stdin != "":
		if req.Streams.In, err = cli.OpenFile(o.stdin); err != nil {
			return req, run.Errorf(run.ClassOf(err), "--stdin: %w", err)
		}
	case !taken && !isTerminal(stdin):
		req.Streams.In = stdin
	}
	return req, nil
}

// patterns returns which files of the script come back.
func (o *runOptions) patterns() []string {
	switch {
	case o.artifactsIn == "" && !o.json:
		return nil
	case o.artifactsIn != "" && len(o.artifacts) == 0:
		return []string{"**"}
	}
	return o.artifacts
}

// readContext returns nil if no context was given.
func (o *runOptions) readContext(stdin io.Reader) (any, error) {
	if o.context == "" {
		return nil, nil
	}
	return cli.Value("--context", o.context, stdin)
}

// knownNames refuses a flag whose value names nothing.
func knownNames(tier policy.Tier, trust policy.Trust, action policy.OutputAction) error {
	if _, err := policy.ParseTier(string(tier)); err != nil {
		return run.Wrap(run.Invalid, err)
	}
	if _, err := policy.ParseTrust(string(trust)); err != nil {
		return run.Wrap(run.Invalid, err)
	}
	if _, err := policy.ParseOutputAction(string(action)); err != nil {
		return run.Wrap(run.Invalid, err)
	}
	return nil
}
