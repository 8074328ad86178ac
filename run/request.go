package run

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/cordon-sandbox/cordon/internal/text"
	"github.com/cordon-sandbox/cordon/policy"
)

// Request describes a run of a script, a command or a module. It contains no
// permissions: the policy grants them, and a request can only narrow them.
type Request struct {
	// ID is copied to the Result, so that callers can match answers to requests.
	ID string
	// Set one of Script, Command and Module. Validate refuses a request with fields
	// of two of them.
	Script  Script
	Command Command
	Module  ModuleRun
	// Stdin is the guest's standard input.
	Stdin string
	// Tier is the kind of isolation; empty lets cordon choose.
	Tier policy.Tier
	// Trust is the origin of the code; empty means TrustUser.
	Trust policy.Trust
	// Limits narrow those of the policy. Zero fields mean the policy's defaults.
	Limits policy.Limits
	// OnOutputLimit overrides the policy's choice.
	OnOutputLimit policy.OutputAction
	// Streams connect the guest's standard streams while it runs.
	Streams Streams
}

// Script is Python source with its input.
type Script struct {
	// Source is the code.
	Source string
	// Name is shown in tracebacks instead of "<script>".
	Name string
	// Context is any JSON value, which the script can read as `context`.
	Context any
	// Variables names the globals of the script that the Result reports.
	Variables []string
	// Args are sys.argv after the name.
	Args []string
	// Files are put into /work, the script's current directory, from which it can also import.
	Files []File
	// Artifacts are patterns of names in /work: the Result has what the script has written to
	// files of such names. * and ? stand for characters within one part of a path, [a-z] for
	// one of several, and ** for any parts.
	Artifacts []string
	// Restricted applies the language rules, in addition to all the walls. Such a script has
	// no files.
	Restricted bool
	// Tools are functions of the host that the script may call, by name. They need
	// TierWasm.
	Tools map[string]Tool
	// Deterministic gives the script a fixed clock and fixed randomness, so that the
	// same input gives the same output. It needs TierWasm.
	Deterministic bool
}

// Command is a program with its arguments and its workspace.
type Command struct {
	// Args are the program and its arguments. A program without a slash is searched
	// for on the guest's PATH, not on the host's.
	Args []string
	// Workspace is the directory in which the command runs. The guest sees it at the
	// same path as the host. If it is empty, the command starts in its private /tmp.
	Workspace string
	// WorkspaceReadOnly makes the workspace read-only for the command.
	WorkspaceReadOnly bool
	// WorkspaceExact refuses a workspace whose path contains a symbolic link. Set it
	// if you have checked the real path, so that a link made after the check has no
	// effect.
	WorkspaceExact bool
	// Env is added to the command's environment, which inherits nothing from the host.
	Env map[string]string
}

// ModuleRun is one run of a WebAssembly module, which calls its _start.
type ModuleRun struct {
	// Module comes from Runner.OpenModule.
	Module Module
	// Name is the module's argument 0, and Args are its other arguments.
	Name string
	Args []string
	// Env is the module's environment, which inherits nothing from the host.
	Env map[string]string
	// Tools are functions of the host that the module may call, by name.
	Tools map[string]Tool
	// Deterministic gives the module a fixed clock and fixed randomness, so that the
	// same input gives the same output.
	Deterministic bool
}

// Streams are connected to a guest's standard streams while it runs. Output that is
// written to them is also in the Result.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	// CaptureLimit is how much of the output that is written to Out and Err is also in
	// the Result, at least 4 KiB; 0 means all of it, up to the output limit.
	// StdoutTruncated and StderrTruncated do not depend on it.
	CaptureLimit policy.Bytes
	// Terminal gives a command its own terminal instead of three pipes. Input comes
	// from In, and all output goes to Out.
	Terminal *Terminal
}

// Terminal is the terminal window of a command.
type Terminal struct {
	Size WindowSize
	// Resize delivers each new size. It may be nil.
	Resize <-chan WindowSize
}

// WindowSize is in characters.
type WindowSize struct{ Rows, Columns uint16 }

// The maximum sizes of a request's parts.
const (
	MaxScript  = 16 << 20
	MaxPayload = 64 << 20
	MaxDepth   = 500
)

// Validate checks everything that needs no policy.
func (r Request) Validate() error {
	if err := r.validateCode(); err != nil {
		return err
	}
	if len(r.Stdin) > MaxPayload {
		return invalid("stdin", "%d bytes are above the maximum of %d", len(r.Stdin), MaxPayload)
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

// Kind returns what the request runs: a script, unless it has a command or a module.
func (r Request) Kind() policy.Guest {
	switch {
	case len(r.Command.Args) > 0:
		return policy.GuestCommand
	case r.Module.Module != nil:
		return policy.GuestModule
	}
	return policy.GuestScript
}

// moduleLimits are the limits that only modules have. A request of another kind must
// not set them. Other limits are ignored where they do not apply.
var moduleLimits = sync.OnceValue(func() []policy.Limit {
	return slices.DeleteFunc(policy.LimitTable(), func(l policy.Limit) bool { return !l.OnlyFor(policy.GuestModule) })
})

// validateCode checks that the request has one thing to run, and no field of another.
func (r Request) validateCode() error {
	kind := r.Kind()
	for _, part := range []struct {
		kind  policy.Guest
		field string
	}{{policy.GuestScript, r.Script.firstField()}, {policy.GuestCommand, r.Command.firstField()}, {policy.GuestModule, r.Module.firstField()}} {
		if part.field != "" && part.kind != kind {
			return invalid(part.field, "this is for %ss, and the request is for %ss", part.kind, kind)
		}
	}
	for _, limit := range moduleLimits() {
		if kind != policy.GuestModule && limit.Of(r.Limits) != 0 {
			return invalid("limits."+limit.Key, "this is for %ss, and the request is for %ss", policy.GuestModule, kind)
		}
	}
	switch kind {
	case policy.GuestCommand:
		return r.Command.validate()
	case policy.GuestModule:
		return r.Module.validate()
	}
	return r.Script.validate()
}

// firstField returns the JSON name of the first field that is set, or "".
func (s Script) firstField() string {
	return firstOf(field{"script", s.Source != ""}, field{"name", s.Name != ""}, field{"context", s.Context != nil}, field{"variables", len(s.Variables) > 0},
		field{"args", len(s.Args) > 0}, field{"files", len(s.Files) > 0}, field{"artifacts", len(s.Artifacts) > 0},
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

// invalid is a problem with one field, by its JSON name. Frontends that have another name
// for it find the policy.FieldError inside.
func invalid(field, format string, args ...any) error {
	return Wrap(Invalid, &policy.FieldError{Field: field, Err: fmt.Errorf(format, args...)})
}

func (s Script) validate() error {
	if err := validateScript(s.Source, s.Name); err != nil {
		return err
	}
	for _, v := range s.Variables {
		if !isIdentifier(v) {
			return invalid("variables", "%q is not a name", v)
		}
	}
	for i, argument := range s.Args {
		if !utf8.ValidString(argument) || strings.ContainsRune(argument, 0) {
			return invalid(fmt.Sprintf("args[%d]", i), "%q is not a text without NUL bytes", argument)
		}
	}
	return s.validateFiles()
}

func (c Command) validate() error {
	if c.Args[0] == "" {
		return invalid("command[0]", "empty: it names the program")
	}
	for i, argument := range c.Args {
		if strings.ContainsRune(argument, 0) {
			return invalid(fmt.Sprintf("command[%d]", i), "a NUL byte: no argument of a program can contain one")
		}
	}
	if strings.ContainsRune(c.Workspace, 0) {
		return invalid("workspace", "a NUL byte: no path can contain one")
	}
	if c.WorkspaceReadOnly && c.Workspace == "" {
		return invalid("workspace_read_only", "there is no workspace")
	}
	return validateEnv(c.Env)
}

func (m ModuleRun) validate() error {
	for i, argument := range append([]string{m.Name}, m.Args...) {
		if strings.ContainsRune(argument, 0) {
			return invalid(fmt.Sprintf("args[%d]", i-1), "a NUL byte: no argument of a program can contain one")
		}
	}
	return validateEnv(m.Env)
}

func validateEnv(env map[string]string) error {
	for name, value := range env {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(value, 0) {
			return invalid("env", "%q: a name is not empty and has no '=', and neither it nor its value has a NUL byte", name)
		}
	}
	return nil
}

// validateScript checks the source and name of a script or hook.
func validateScript(script, name string) error {
	switch {
	case strings.TrimSpace(script) == "":
		return invalid("script", "there is nothing to run")
	case len(script) > MaxScript:
		return invalid("script", "%d bytes are above the maximum of %d", len(script), MaxScript)
	case !utf8.ValidString(script):
		return invalid("script", "not valid UTF-8 (first bad byte at offset %d)", text.FirstInvalid(script))
	case strings.ContainsRune(script, 0):
		return invalid("script", "a NUL byte at offset %d: Python source cannot contain one", strings.IndexByte(script, 0))
	case strings.ContainsFunc(name, unicode.IsControl) || !utf8.ValidString(name):
		return invalid("name", "%q is not printable text: it is shown in tracebacks", name)
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
