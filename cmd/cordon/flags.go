package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/cordon-sandbox/cordon/internal/cli"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// limitOptions are the limits of a run. Zero fields were not given.
type limitOptions struct{ policy.Limits }

// limitFlags names the flag of each limit, for messages.
var limitFlags = map[string]string{
	"wall_time": "--timeout", "cpu_time": "--cpu-time", "memory": "--memory", "output": "--output-limit", "result": "--result-limit",
	"scratch": "--scratch", "open_files": "--open-files", "threads": "--threads",
	"processes": "--processes", "disk": "--disk", "files": "--files", "fuel": "--fuel",
}

func (o *limitOptions) addTo(f *pflag.FlagSet) {
	d := policy.DefaultLimits()
	o.addCallLimitsTo(f, d)
	o.addResultLimitTo(f, d)
	o.addSpaceLimitsTo(f, d)
	f.Var(cli.Counted(&o.Threads), "threads", about("limit on threads", d.Threads))
}

// addSpaceLimitsTo adds those that scripts and commands have, and calls have not.
func (o *limitOptions) addSpaceLimitsTo(f *pflag.FlagSet, d policy.Limits) {
	f.Var(cli.Measured(&o.Scratch, policy.ParseBytes), "scratch", about("size of the private /tmp", d.Scratch))
	f.Var(cli.Counted(&o.OpenFiles), "open-files", about("limit on open files", d.OpenFiles))
}

// addCallLimitsTo adds those that can differ between the calls of one worker.
func (o *limitOptions) addCallLimitsTo(f *pflag.FlagSet, d policy.Limits) {
	f.VarP(cli.Measured(&o.WallTime, policy.ParseDuration), "timeout", "t", about("wall time limit, like 10s", d.WallTime))
	f.Var(cli.Measured(&o.CPUTime, policy.ParseDuration), "cpu-time", about("CPU time limit, like 5s", d.CPUTime))
	f.VarP(cli.Measured(&o.Memory, policy.ParseBytes), "memory", "m", about("memory limit, like 128MiB", d.Memory))
	f.VarP(cli.Measured(&o.Output, policy.ParseBytes), "output-limit", "o", about("limit on stdout and on stderr, like 16KiB", d.Output))
}

// addResultLimitTo adds the limit of what has a result, which a command has not.
func (o *limitOptions) addResultLimitTo(f *pflag.FlagSet, d policy.Limits) {
	f.Var(cli.Measured(&o.Result, policy.ParseBytes), "result-limit", about("limit on the result and variables as JSON, like 1MiB", d.Result))
}

func about(what string, normally any) string {
	return fmt.Sprintf("%s (%v unless the policy says otherwise)", what, normally)
}

// narrow gives the limits of a run under p, in the words of the command line.
func (o *limitOptions) narrow(p policy.Policy) (policy.Limits, error) {
	limits, err := p.Narrow(o.Limits)
	if err != nil {
		words := err.Error()
		for field, flag := range limitFlags {
			words = strings.Replace(words, "limits."+field+" ", flag+" ", 1)
			words = strings.Replace(words, "limits."+field+":", flag+":", 1)
		}
		return limits, &run.Error{Class: run.Invalid, Message: words, Err: err}
	}
	return limits, nil
}

// texts is a flag that may come again. It is no pflag.SliceValue: the environment variable would
// cut JSON, and the values of variables, at their commas.
type texts []string

func (t *texts) Set(text string) error {
	*t = append(*t, text)
	return nil
}

func (t *texts) String() string { return strings.Join(*t, " ") }

func (t *texts) Type() string { return "JSON" }

// grants is a list of places on the network. No name of a host has a comma.
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

// choice is a flag that says yes or no, or nothing.
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

// Type is what pflag calls it, so that the help shows no value.
func (c *choice) Type() string { return "bool" }
