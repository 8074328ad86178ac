package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cordon-sandbox/cordon/internal/interpreter"
	"github.com/cordon-sandbox/cordon/internal/policyfile"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// policyOptions say under which policy guests run, in every command that runs
// some.
type policyOptions struct {
	policy     string
	python     string
	pythonWasm string
}

func (o *policyOptions) addTo(cmd *cobra.Command) {
	o.addPolicyTo(cmd, "default")
	cmd.Flags().StringVar(&o.python, "python", "", "the interpreter: a `PATH`, or a name to look up on PATH")
}

// addWasmTo is for commands that may run Python on WebAssembly.
func (o *policyOptions) addWasmTo(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.pythonWasm, "python-wasm", "", "the bundle with CPython for --tier wasm: a `FILE` (python-wasm.zip beside cordon, or in the user's data folder)")
}

// addPolicyTo is for commands that need no Python.
func (o *policyOptions) addPolicyTo(cmd *cobra.Command, normally string) {
	cmd.Flags().StringVar(&o.policy, "policy", "", fmt.Sprintf("a policy `FILE`, or a preset by name: see cordon policy list (%s)", normally))
	complete(cmd, "policy", func() []string {
		var names []string
		for _, p := range policy.Presets() {
			names = append(names, p.Name)
		}
		return names
	})
}

// load gives the policy. No file is touched when none is named.
func (o *policyOptions) load(ctx context.Context) (policy.Policy, error) {
	p, err := loadPolicy(o.policy)
	if err == nil && o.python != "" {
		p.Python, err = pythonPath(ctx, o.python)
	}
	if err == nil && o.pythonWasm != "" {
		p.PythonWasm, err = absolute("--python-wasm", o.pythonWasm)
	}
	return p, err
}

// loadPolicy: a preset's name goes before a file of that name, so that no
// file in the current folder can change what "strict" means.
func loadPolicy(name string) (policy.Policy, error) {
	if name == "" {
		return policy.Policy{}, nil
	}
	var presets []string
	for _, info := range policy.Presets() {
		if info.Name == name {
			p, err := policy.Preset(name)
			if err != nil {
				return p, run.Wrap(run.Internal, err)
			}
			return p, nil
		}
		presets = append(presets, info.Name)
	}
	p, err := policyfile.Load(name)
	if likely := nearest(name, presets); err != nil && likely != "" && filepath.Base(name) == name {
		return p, run.Errorf(run.Invalid, "%w (did you mean the preset %s?)", err, likely)
	}
	return p, err
}

// pythonPath makes an absolute path of what the user wrote; a policy holds
// nothing else.
func pythonPath(ctx context.Context, asked string) (string, error) {
	if strings.ContainsRune(asked, filepath.Separator) {
		path, err := filepath.Abs(asked)
		if err != nil {
			return "", run.Errorf(run.Invalid, "--python %s: %w", asked, err)
		}
		return path, nil
	}
	found, err := interpreter.Find(ctx, asked)
	if err != nil {
		return "", err
	}
	return found.Found, nil
}

// limitOptions are the limits of a run. Zero fields were not given.
type limitOptions struct{ policy.Limits }

// limitFlags names the flag of each limit, for messages.
var limitFlags = map[string]string{
	"wall_time": "--timeout", "cpu_time": "--cpu-time", "memory": "--memory", "output": "--output-limit",
	"scratch": "--scratch", "open_files": "--open-files", "threads": "--threads",
	"processes": "--processes", "disk": "--disk", "fuel": "--fuel",
}

func (o *limitOptions) addTo(f *pflag.FlagSet) {
	d := policy.DefaultLimits
	o.addCallLimitsTo(f, d)
	o.addSpaceLimitsTo(f, d)
	f.Var(&count{&o.Threads}, "threads", about("limit on threads", d.Threads))
}

// addSpaceLimitsTo adds those that scripts and commands have, and calls have not.
func (o *limitOptions) addSpaceLimitsTo(f *pflag.FlagSet, d policy.Limits) {
	f.Var(&measure[policy.Bytes]{&o.Scratch, policy.ParseBytes}, "scratch", about("size of the private /tmp", d.Scratch))
	f.Var(&count{&o.OpenFiles}, "open-files", about("limit on open files", d.OpenFiles))
}

// addCallLimitsTo adds those that can differ between the calls of one worker.
func (o *limitOptions) addCallLimitsTo(f *pflag.FlagSet, d policy.Limits) {
	f.VarP(&measure[policy.Duration]{&o.WallTime, policy.ParseDuration}, "timeout", "t", about("wall time limit, like 10s", d.WallTime))
	f.Var(&measure[policy.Duration]{&o.CPUTime, policy.ParseDuration}, "cpu-time", about("processor time limit, like 5s", d.CPUTime))
	f.VarP(&measure[policy.Bytes]{&o.Memory, policy.ParseBytes}, "memory", "m", about("memory limit, like 128MiB", d.Memory))
	f.VarP(&measure[policy.Bytes]{&o.Output, policy.ParseBytes}, "output-limit", "o", about("limit on stdout and on stderr, like 16KiB", d.Output))
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

var errZero = errors.New(`is zero: leave it out for the default (there is no "no limit")`)

// measure is a flag whose value carries a unit.
type measure[T policy.Duration | policy.Bytes | policy.Count] struct {
	value *T
	parse func(string) (T, error)
}

func (m *measure[T]) Set(text string) error {
	v, err := m.parse(text)
	if err == nil && v == 0 {
		err = errZero
	}
	*m.value = v
	return err
}

func (m *measure[T]) String() string {
	if m.value == nil || *m.value == 0 {
		return ""
	}
	return fmt.Sprint(*m.value)
}

func (m *measure[T]) Type() string {
	switch any(*new(T)).(type) {
	case policy.Bytes:
		return "SIZE"
	case policy.Count:
		return "N"
	}
	return "TIME"
}

// count is a flag that is a plain number.
type count struct{ value *int }

func (c *count) Set(text string) error {
	var n int
	if _, err := fmt.Sscanf(text, "%d", &n); err != nil || fmt.Sprint(n) != text {
		return fmt.Errorf("%q is not a whole number", text)
	}
	switch {
	case n == 0:
		return errZero
	case n < 0:
		return fmt.Errorf("%d is negative", n)
	}
	*c.value = n
	return nil
}

func (c *count) String() string {
	if c.value == nil || *c.value == 0 {
		return ""
	}
	return fmt.Sprint(*c.value)
}

func (c *count) Type() string { return "N" }

// texts is a flag that may come again. It is no pflag.SliceValue: env.go would
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

// complete tells the shell what a flag may be.
func complete(cmd *cobra.Command, flag string, values func() []string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return values(), cobra.ShellCompDirectiveDefault
	})
}

func names[T ~string](of []T) func() []string {
	return func() []string {
		var s []string
		for _, n := range of {
			s = append(s, string(n))
		}
		return s
	}
}
