package run

import (
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cordon-sandbox/cordon/policy"
)

// Request says what to run: one of a script, a command and a module, and what is the same
// for all three. It carries no permissions: those are the policy's, and a request can only
// narrow them.
type Request struct {
	// ID comes back in the Result, so that answers can be told apart.
	ID string
	// Script, Command and Module are what can be run. Validate refuses a request with
	// parts of two of them.
	Script  Script
	Command Command
	Module  ModuleRun
	// Stdin is what the guest reads from its standard input.
	Stdin string
	// Tier asks for a kind of isolation; empty lets cordon choose.
	Tier policy.Tier
	// Trust says where the code comes from; empty means a user.
	Trust policy.Trust
	// Limits narrow the policy's; zero fields mean its defaults.
	Limits policy.Limits
	// OnOutputLimit overrides the policy's choice.
	OnOutputLimit policy.OutputAction
	// Streams pass the guest's standard streams through while it runs.
	Streams Streams
}

// Script is Python source, and what it finds when it runs.
type Script struct {
	// Source is the code.
	Source string
	// Name is shown in tracebacks instead of "<script>".
	Name string
	// Context is any JSON value; the script finds it in `context`.
	Context any
	// Variables names globals of the script to report after the run.
	Variables []string
	// Restricted runs the script by the language rules, on top of all the walls.
	Restricted bool
	// Tools are functions of the host that the script may call, by their names. They
	// need TierWasm.
	Tools map[string]Tool
	// Deterministic stops the script's clock and makes its randomness the same in each
	// run, so that the same input gives the same bytes. It needs TierWasm.
	Deterministic bool
}

// Command is a program with its arguments, and the directory in which it works.
type Command struct {
	// Args are the program and its arguments. The program is looked for on the guest's
	// own PATH, unless it has a slash.
	Args []string
	// Workspace is the directory in which the command works, at its own path. Without
	// one it starts in its private /tmp.
	Workspace string
	// WorkspaceReadOnly lets the command change nothing in it.
	WorkspaceReadOnly bool
	// WorkspaceExact refuses a workspace whose path has a symbolic link in it. Set it
	// after the real path was checked: no link can be put there afterwards.
	WorkspaceExact bool
	// Env is added to the environment, which has nothing of the host's.
	Env map[string]string
}

// ModuleRun is one run of a WebAssembly module: its _start is called.
type ModuleRun struct {
	// Module is what a Runner has opened (OpenModule).
	Module Module
	// Name is what the module finds as its own name, and Args what follows it.
	Name string
	Args []string
	// Env is the module's environment, which has nothing of the host's.
	Env map[string]string
	// Tools are functions of the host that the module may call, by their names.
	Tools map[string]Tool
	// Deterministic stops the module's clock and makes its randomness the same in each
	// run, so that the same input gives the same bytes.
	Deterministic bool
}

// Streams are the live ends of a guest's standard streams. What passes
// through a writer is in the Result too, within the output limit.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	// Terminal gives a command a terminal of its own instead of three pipes:
	// what is typed comes from In, and all that is shown goes to Out.
	Terminal *Terminal
}

// Terminal is the window in which a command runs.
type Terminal struct {
	Size WindowSize
	// Resize tells each new size. It may be nil.
	Resize <-chan WindowSize
}

// WindowSize is counted in characters.
type WindowSize struct{ Rows, Columns uint16 }

// The most that a request may carry.
const (
	MaxScript  = 16 << 20
	MaxPayload = 64 << 20
	MaxDepth   = 500
)

// Validate checks what can be checked without a policy.
func (r Request) Validate() error {
	if err := r.validateCode(); err != nil {
		return err
	}
	if len(r.Stdin) > MaxPayload {
		return Errorf(Invalid, "stdin of %d bytes is above the maximum of %d", len(r.Stdin), MaxPayload)
	}
	if _, err := policy.ParseTier(string(r.Tier)); err != nil {
		return Wrap(Invalid, err)
	}
	if _, err := policy.ParseTrust(string(r.Trust)); err != nil {
		return Wrap(Invalid, err)
	}
	if _, err := policy.ParseOutputAction(string(r.OnOutputLimit)); err != nil {
		return Wrap(Invalid, err)
	}
	return nil
}

// Kind is what a request runs.
type Kind string

// The kinds of requests.
const (
	KindScript  Kind = "script"
	KindCommand Kind = "command"
	KindModule  Kind = "module"
)

// Kind says what the request runs: a script, unless it has a command or a module.
func (r Request) Kind() Kind {
	switch {
	case len(r.Command.Args) > 0:
		return KindCommand
	case r.Module.Module != nil:
		return KindModule
	}
	return KindScript
}

// Applicable drops from l the limits that Validate refuses in a request of this kind. A
// caller's maxima are for requests of every kind.
func (r Request) Applicable(l policy.Limits) policy.Limits {
	if r.Kind() != KindModule {
		for _, limit := range moduleLimits {
			limit.Set(&l, 0)
		}
	}
	return l
}

// moduleLimits are those that only modules have. Others are ignored where they mean nothing.
var moduleLimits = slices.DeleteFunc(policy.LimitTable(), func(l policy.Limit) bool {
	return !slices.Equal(l.For, []policy.Guest{policy.GuestModule})
})

// validateCode checks that there is one thing to run, and no field of another one.
func (r Request) validateCode() error {
	kind := r.Kind()
	for _, part := range []struct {
		kind  Kind
		field string
	}{{KindScript, r.Script.firstField()}, {KindCommand, r.Command.firstField()}, {KindModule, r.Module.firstField()}} {
		if part.field != "" && part.kind != kind {
			return Errorf(Invalid, "%s is for %ss, and this request is for %ss", part.field, part.kind, kind)
		}
	}
	for _, limit := range moduleLimits {
		if kind != KindModule && limit.Of(r.Limits) != 0 {
			return Errorf(Invalid, "limits.%s is for %ss, and this request is for %ss", limit.Key, KindModule, kind)
		}
	}
	switch kind {
	case KindCommand:
		return r.Command.validate()
	case KindModule:
		return r.Module.validate()
	}
	return r.Script.validate()
}

// firstField names a field that is set, as JSON does; empty if there is none.
func (s Script) firstField() string {
	return firstOf(field{"script", s.Source != ""}, field{"name", s.Name != ""}, field{"context", s.Context != nil}, field{"variables", len(s.Variables) > 0},
		field{"restricted", s.Restricted}, field{"tools", len(s.Tools) > 0}, field{"deterministic", s.Deterministic})
}

func (c Command) firstField() string {
	return firstOf(field{"command", len(c.Args) > 0}, field{"workspace", c.Workspace != ""}, field{"workspace_read_only", c.WorkspaceReadOnly},
		field{"workspace_exact", c.WorkspaceExact}, field{"env", len(c.Env) > 0})
}

func (m ModuleRun) firstField() string {
	return firstOf(field{"module", m.Module != nil}, field{"module.name", m.Name != ""}, field{"module.args", len(m.Args) > 0}, field{"module.env", len(m.Env) > 0},
		field{"module.tools", len(m.Tools) > 0}, field{"module.deterministic", m.Deterministic})
}

type field struct {
	name string
	set  bool
}

func firstOf(fields ...field) string {
	for _, f := range fields {
		if f.set {
			return f.name
		}
	}
	return ""
}

func (s Script) validate() error {
	if err := validateScript(s.Source, s.Name); err != nil {
		return err
	}
	for _, v := range s.Variables {
		if !isIdentifier(v) {
			return Errorf(Invalid, "variable %q is not a name", v)
		}
	}
	return nil
}

func (c Command) validate() error {
	if c.Args[0] == "" {
		return Errorf(Invalid, "command[0] is empty: it names the program")
	}
	for i, argument := range c.Args {
		if strings.ContainsRune(argument, 0) {
			return Errorf(Invalid, "command[%d] has a NUL byte: no argument of a program can contain one", i)
		}
	}
	if strings.ContainsRune(c.Workspace, 0) {
		return Errorf(Invalid, "workspace has a NUL byte: no path can contain one")
	}
	if c.WorkspaceReadOnly && c.Workspace == "" {
		return Errorf(Invalid, "workspace_read_only is set, and there is no workspace")
	}
	return validateEnv(c.Env)
}

func (m ModuleRun) validate() error {
	for i, argument := range append([]string{m.Name}, m.Args...) {
		if strings.ContainsRune(argument, 0) {
			return Errorf(Invalid, "args[%d] has a NUL byte: no argument of a program can contain one", i-1)
		}
	}
	return validateEnv(m.Env)
}

func validateEnv(env map[string]string) error {
	for name, value := range env {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(value, 0) {
			return Errorf(Invalid, "env has %q: a name is not empty and has no '=', and neither it nor its value has a NUL byte", name)
		}
	}
	return nil
}

// validateScript checks what is the same for everything that is Python source.
func validateScript(script, name string) error {
	switch {
	case strings.TrimSpace(script) == "":
		return Errorf(Invalid, "script is empty: there is nothing to run")
	case len(script) > MaxScript:
		return Errorf(Invalid, "script of %d bytes is above the maximum of %d", len(script), MaxScript)
	case !utf8.ValidString(script):
		return Errorf(Invalid, "script is not valid UTF-8 (first bad byte at offset %d)", firstInvalid([]byte(script)))
	case strings.ContainsRune(script, 0):
		return Errorf(Invalid, "script has a NUL byte at offset %d: Python source cannot contain one", strings.IndexByte(script, 0))
	case strings.ContainsFunc(name, unicode.IsControl) || !utf8.ValidString(name):
		return Errorf(Invalid, "name %q is not printable text: it is shown in tracebacks", name)
	}
	return nil
}

func isIdentifier(s string) bool {
	for i, r := range s {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r > 127
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != "" && len(s) <= 256 && utf8.ValidString(s)
}

func firstInvalid(b []byte) int {
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && size <= 1 {
			return i
		}
		i += size
	}
	return len(b)
}
