package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cordon-sandbox/cordon/internal/hostpath"
	"github.com/cordon-sandbox/cordon/internal/interpreter"
	"github.com/cordon-sandbox/cordon/internal/policyfile"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// PolicyOptions name the policy, in every command that runs guests.
type PolicyOptions struct {
	Policy     string
	Python     string
	PythonWasm string
}

// AddTo adds the flags of commands that run scripts.
func (o *PolicyOptions) AddTo(cmd *cobra.Command) {
	o.AddPolicyTo(cmd, "default")
	cmd.Flags().StringVar(&o.Python, "python", "", "the interpreter: a `PATH`, or a name to look up on PATH")
}

// AddWasmTo adds the flag of commands that can run Python on WebAssembly.
func (o *PolicyOptions) AddWasmTo(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.PythonWasm, "python-wasm", "", "the bundle with CPython for --tier wasm: a `FILE` (python-wasm.zip beside cordon, or in the user's data directory)")
}

// AddPolicyTo adds the flag of commands that need no Python.
func (o *PolicyOptions) AddPolicyTo(cmd *cobra.Command, normally string) {
	cmd.Flags().StringVar(&o.Policy, "policy", "", fmt.Sprintf("a preset by name (see cordon policy list), or a policy: a `FILE`, JSON, or - for standard input (%s)", normally))
	Complete(cmd, "policy", func() []string {
		var names []string
		for _, p := range policy.Presets() {
			names = append(names, p.Name)
		}
		return names
	})
}

// Load returns the policy. It touches no file if none is named.
func (o *PolicyOptions) Load() (policy.Policy, error) {
	p, err := LoadPolicy(o.Policy)
	if err == nil && o.Python != "" {
		p.Python, err = pythonPath(o.Python)
	}
	if err == nil && o.PythonWasm != "" {
		p.PythonWasm, err = Absolute("--python-wasm", o.PythonWasm)
	}
	return p, err
}

// Claim is that of the policy to standard input.
func (o *PolicyOptions) Claim() Claim { return Claim{"--policy", FromStdin(o.Policy)} }

// LoadPolicy reads a policy: JSON, @FILE or -, or the name of a preset or a file. It
// prefers a preset to a file of the same name, so that no file in the current directory
// can change what "strict" means.
func LoadPolicy(name string) (policy.Policy, error) {
	file, isFile := strings.CutPrefix(name, "@")
	switch {
	case name == "":
		return policy.Policy{}, nil
	case FromStdin(name):
		data, err := ReadFile(Stdin, policyfile.MaxSize, os.Stdin)
		if err != nil {
			return policy.Policy{}, err
		}
		return policyfile.Parse("standard input", data)
	case name == "@":
		return policy.Policy{}, run.Errorf(run.Invalid, "--policy: the name of a file is missing after @")
	case isFile:
		return policyfile.Load(file)
	case strings.HasPrefix(strings.TrimSpace(name), "{"):
		document, err := parseValue("--policy", "", []byte(name))
		if err != nil {
			return policy.Policy{}, err
		}
		return policyfile.Parse("--policy", document)
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
	if likely := Nearest(name, presets); err != nil && likely != "" && filepath.Base(name) == name {
		return p, run.Errorf(run.Invalid, "%w (did you mean the preset %s?)", err, likely)
	}
	return p, err
}

// pythonPath makes an absolute path, the only form that a policy holds.
func pythonPath(asked string) (string, error) {
	if strings.ContainsRune(asked, filepath.Separator) {
		path, err := filepath.Abs(asked)
		if err != nil {
			return "", run.Errorf(run.Invalid, "--python %s: %w", asked, err)
		}
		return path, nil
	}
	found, err := interpreter.Find(interpreter.Search{Python: asked, Guests: hostpath.Writable()})
	if err != nil {
		return "", err
	}
	if len(found.GuestWritable) > 0 {
		// As a path, it would count as named by the user.
		return "", run.Errorf(run.NotExecutable, "--python %s is %s, and guests may write to %s: if you trust it, give its path", asked, found.Found, found.GuestWritable[0])
	}
	return found.Found, nil
}

// Absolute makes the path of a flag absolute.
func Absolute(flag, path string) (string, error) {
	if path == "" {
		return "", run.Errorf(run.Invalid, "%s: the path is empty", flag)
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", run.Errorf(run.Invalid, "%s %s: %w", flag, path, err)
	}
	return abs, nil
}
