package main

import (
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cordon-sandbox/cordon/internal/cli"
	"github.com/cordon-sandbox/cordon/internal/command"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// settle refuses what contradicts itself. What the command line says goes before
// what the environment says.
func (o *execOptions) settle(cmd *cobra.Command) error {
	said := cmd.Flags().Changed
	switch {
	case said("workspace") && o.workspace == "":
		return run.Errorf(run.Invalid, "--workspace: the path is empty")
	case said("dangerous-workspace") && *o.dangerous && o.workspace == "" && !o.readOnly:
		// Only who typed it meant this command: a variable or a policy is for all.
		return run.Errorf(run.Invalid, "--dangerous-workspace is for --workspace: name the directory")
	case o.quiet && o.verbose && said("quiet") == said("verbose"):
		return run.Errorf(run.Invalid, "--quiet and --verbose exclude each other")
	case o.quiet && o.verbose:
		o.quiet, o.verbose = said("quiet"), said("verbose")
	}
	if _, err := policy.ParseEgress(o.egress); err != nil {
		return run.Wrap(run.Invalid, err)
	}
	if _, err := policy.ParseJailBackend(o.backend); err != nil {
		return run.Wrap(run.Invalid, err)
	}
	return nil
}

// grant gives the policy, with what the flags add to it: who writes the command
// line is the operator.
func (o *execOptions) grant() (policy.Policy, error) {
	name := o.Policy
	if name == "" {
		name = commandPolicy
	}
	p, err := cli.LoadPolicy(name)
	if err != nil {
		return p, err
	}
	if err := addPaths(&p, o.read, o.write); err != nil {
		return p, err
	}
	p.AllowNet = append(p.AllowNet[:len(p.AllowNet):len(p.AllowNet)], o.allowNet...)
	if o.egress != "" {
		p.Egress = policy.Egress(o.egress)
	}
	if o.backend != "" {
		p.Jail = policy.JailBackend(o.backend)
	}
	if o.interpreters != nil {
		p.AllowInterpreters = *o.interpreters
	}
	if o.dangerous != nil {
		p.DangerousWorkspace = *o.dangerous
	}
	if p.Egress == policy.EgressNone && len(p.AllowNet) > 0 {
		return p, run.Errorf(run.Invalid, "--allow-net and --egress none exclude each other, whether flags, the environment or the policy say so: with none, everything can be reached")
	}
	p.Limits, err = o.narrow(p)
	return p, err
}

// request makes the request; hidden says why the current directory is not shown,
// where it is not.
func (o *execOptions) request() (req run.Request, hidden, err error) {
	req = run.Request{
		Command: run.Command{Args: o.command}, Tier: policy.Tier(o.tier), Trust: policy.Trust(o.trust), OnOutputLimit: policy.OutputAction(o.onOutputLimit),
	}
	if req.Command.Env, err = environment(o.env, os.LookupEnv); err != nil {
		return req, nil, err
	}
	switch {
	case o.workspace != "":
		req.Command.Workspace, req.Command.WorkspaceReadOnly = o.workspace, o.readOnly
	case o.readOnly:
		req.Command.Workspace, req.Command.WorkspaceReadOnly = ".", true
	default:
		// Nobody asked for it: it is shown where that does no harm.
		if req.Command.Workspace, hidden = command.Workspace(".", false); hidden != nil {
			req.Command.Workspace = ""
		}
		req.Command.WorkspaceReadOnly = req.Command.Workspace != ""
	}
	return req, hidden, req.Validate()
}

// environment reads what --env says.
func environment(settings []string, lookup func(string) (string, bool)) (map[string]string, error) {
	env := map[string]string{}
	for _, setting := range settings {
		name, value, given := strings.Cut(setting, "=")
		if name == "" {
			return nil, run.Errorf(run.Invalid, "--env: %q has no name: write NAME=VALUE, or NAME for the value that it has here", setting)
		}
		if !given {
			if value, given = lookup(name); !given {
				return nil, run.Errorf(run.Invalid, "--env: %s is not set here: write %[1]s=VALUE", name)
			}
		}
		env[name] = value
	}
	return env, nil
}

// explainHidden adds to "not found" what may be the cause: the file is there
// outside, in a directory that is not shown.
func explainHidden(err, hidden error) error {
	if hidden == nil || run.ClassOf(err) != run.NotFound {
		return err
	}
	return run.Errorf(run.NotFound, "%w\nthe current directory is not shown to commands, unless --workspace names it: %w", err, hidden)
}

// addPaths adds what --read and --write grant.
func addPaths(p *policy.Policy, read, write []string) error {
	for _, list := range []struct {
		flag  string
		added []string
		to    *[]string
	}{{"--read", read, &p.Read}, {"--write", write, &p.Write}} {
		for _, path := range list.added {
			path, err := cli.Absolute(list.flag, path)
			if err != nil {
				return err
			}
			*list.to = append((*list.to)[:len(*list.to):len(*list.to)], path)
		}
	}
	return nil
}
