package main

import (
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// resolve decides between options that exclude each other. The command line wins over the
// environment, and must not contradict itself.
func (o *runOptions) resolve(cmd *cobra.Command, args []string) error {
	changed := cmd.Flags().Changed
	if o.jsonLines {
		for _, flag := range []string{"code", "file", "context", "context-file", "stdin", "variable", "json", "quiet", "save", "load"} {
			if changed(flag) {
				return run.Errorf(run.Invalid, "--%s and --json-lines exclude each other: each line is a request of its own", flag)
			}
		}
		if len(args) == 1 {
			return run.Errorf(run.Invalid, "%q and --json-lines exclude each other: requests come from standard input", args[0])
		}
		return nil
	}
	if changed("concurrent") {
		return run.Errorf(run.Invalid, "--concurrent is for --json-lines")
	}
	if err := o.resolveSource(cmd, args, "run"); err != nil {
		return err
	}
	switch {
	case (o.saveTo != "" || o.loadFrom != "") && o.tier != string(policy.TierWasm):
		return run.Errorf(run.Invalid, "--save and --load need --tier %s: other tiers do not keep their memory", policy.TierWasm)
	case o.loadFrom != "" && changed("restricted"):
		return run.Errorf(run.Invalid, "--restricted and --load exclude each other: a saved session keeps its mode")
	case changed("context") && changed("context-file"):
		return run.Errorf(run.Invalid, "--context and --context-file exclude each other")
	case changed("context"):
		o.contextFile = ""
	case changed("context-file"):
		o.context = ""
	}
	return oneClaim(claim{"the script", o.script == "-"}, claim{"--context-file", o.contextFile == "-"},
		claim{"--context", o.context == "@-"}, claim{"--stdin", o.stdin == "-"})
}

// request builds the request and checks everything that can be checked before anything
// starts.
func (o *runOptions) request(stdin *os.File) (run.Request, error) {
	req := run.Request{
		Script: run.Script{Variables: o.variables, Restricted: o.restricted}, Tier: policy.Tier(o.tier), Trust: policy.Trust(o.trust),
		OnOutputLimit: policy.OutputAction(o.onOutputLimit),
	}
	var err error
	if req.Script.Source, req.Script.Name, err = o.read(stdin); err != nil {
		return req, err
	}
	if err := req.Validate(); err != nil {
		return req, err
	}
	if req.Script.Context, err = o.readContext(stdin); err != nil {
		return req, err
	}
	taken := o.script == "-" || o.contextFile == "-" || o.context == "@-"
	switch {
	case o.stdin == "-":
		req.Streams.In = stdin
	case o.stdin != "":
		if req.Streams.In, err = openInput(o.stdin); err != nil {
			return req, err
		}
	case !taken && !isTerminal(stdin):
		req.Streams.In = stdin
	}
	return req, nil
}

// readContext returns nil if no context was given.
func (o *runOptions) readContext(stdin io.Reader) (any, error) {
	switch {
	case o.contextFile != "":
		return readValue("--context-file", o.contextFile, stdin)
	case o.context != "":
		return valueOrAtFile("--context", o.context, stdin)
	}
	return nil, nil
}
