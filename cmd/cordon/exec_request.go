package main

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cordon-sandbox/cordon/internal/cli"
	"github.com/cordon-sandbox/cordon/internal/command"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// resolve refuses options that contradict each other. The command line wins over the
// environment.
func (o *execOptions) resolve(cmd *cobra.Command) error {
	changed := cmd.Flags().Changed
	if changed("dangerous-workspace") && *o.dangerous && o.workspace == "" && !o.readOnly {
		// Only a flag means this one command: a variable or a policy is for all.
		return run.Errorf(run.Invalid, "--dangerous-workspace needs --workspace: name the directory")
	}
	if err := o.resolveShown(changed); err != nil {
		return err
	}
	if _, err := policy.ParseEgress(o.egress); err != nil {
		return run.Wrap(run.Invalid, err)
	}
	if _, err := policy.ParseJailBackend(o.backend); err != nil {
		return run.Wrap(run.Invalid, err)
	}
	return nil
}

// grant returns the policy plus what the flags add to it: the author of the command line
// is the operator.
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
		return p, run.Errorf(run.Invalid, "--allow-net and --egress none exclude each other, in flags, environment and policy: with none, every host can be reached")
	}
	p.Limits, err = o.narrow(p)
	return p, err
}

// request builds the request; hidden is the reason why the current directory is not
// shown, or nil.
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
		// Not asked for: show the current directory only where that does no harm.
		if req.Command.Workspace, hidden = command.Workspace(".", false); hidden != nil {
			req.Command.Workspace = ""
		}
		req.Command.WorkspaceReadOnly = req.Command.Workspace != ""
	}
	return req, hidden, knownNames(req.Tier, req.Trust, req.OnOutputLimit)
}

// environment parses the values of --env.
func environment(settings []string, lookup func(string) (string, bool)) (map[string]string, error) {
	env := map[string]string{}
	for _, setting := range settings {
		name, value, given := strings.Cut(setting, "=")
		if name == "" {
			return nil, run.Errorf(run.Invalid, "--env: %q has no name: write NAME=VALUE, or NAME to copy its value", setting)
		}
		if !given {
			if value, given = lookup(name); !given {
				return nil, run.Errorf(run.Invalid, "--env: %s is not set: write %[1]s=VALUE", name)
			}
		}
		env[name] = value
	}
	return env, nil
}

// explainHidden adds a likely cause to "not found": the file is in a directory that is
// hidden from commands.
func explainHidden(err, hidden error) error {
	if hidden == nil || run.ClassOf(err) != run.NotFound {
		return err
	}
	return run.Errorf(run.NotFound, "%w\nthe current directory is hidden from commands unless --workspace names it: %w", err, hidden)
}

// explainOneWord adds a likely cause to "not found": the whole command line is one word.
func explainOneWord(err error, command []string) error {
	if run.ClassOf(err) != run.NotFound || len(command) != 1 || !strings.Contains(command[0], " ") {
		return err
	}
	return run.Errorf(run.NotFound, "%w\nif these are a program and its arguments, write them as separate words: cordon exec -- %s", err, command[0])
}

// addPaths adds the grants of --read and --write.
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
			if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
				return run.Errorf(run.Invalid, "%s: %s does not exist", list.flag, path)
			}
			*list.to = append((*list.to)[:len(*list.to):len(*list.to)], path)
		}
	}
	return nil
}
