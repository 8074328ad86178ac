package run

import (
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cordon-sandbox/cordon/policy"
)

// Request says what to run. It carries no permissions: those are the policy's,
// and a request can only narrow them.
type Request struct {
	// ID comes back in the Result, so that answers can be told apart.
	ID string `json:"id,omitempty"`
	// Script is Python source. A request has one of a script, a command and a module.
	Script string `json:"script,omitempty"`
	// Module is WebAssembly that a Runner has opened (OpenModule). Its _start is run.
	Module Module `json:"-"`
	// Args are what a module finds behind its own name.
	Args []string `json:"args,omitempty"`
	// Deterministic has the clock stand still for a module, and gives it randomness that
	// is always the same, so that the same input gives the same bytes.
	Deterministic bool `json:"deterministic,omitempty"`
	// Tools are functions of the host that the guest may call, by their names.
	Tools map[string]Tool `json:"-"`
	// Command is a program and its arguments. The program is looked for on the
	// guest's own PATH, unless it has a slash.
	Command []string `json:"command,omitempty"`
	// Workspace is the directory in which a command works, at its own path. Without
	// one it starts in its private /tmp.
	Workspace string `json:"workspace,omitempty"`
	// WorkspaceReadOnly lets the command change nothing in it.
	WorkspaceReadOnly bool `json:"workspace_read_only,omitempty"`
	// WorkspaceExact refuses a workspace whose path has a symbolic link in it. Whoever
	// has judged the real path says so: nobody can put a link there after the look.
	WorkspaceExact bool `json:"-"`
	// Env is added to the environment of a command or a module, of which nothing is
	// the host's.
	Env map[string]string `json:"env,omitempty"`
	// Name is shown in tracebacks instead of "<script>".
	Name string `json:"name,omitempty"`
	// Context is any JSON value; the guest finds it in `context`.
	Context any `json:"context,omitempty"`
	// Stdin is what the guest reads from its standard input.
	Stdin string `json:"stdin,omitempty"`
	// Variables names globals of the guest to report after the run.
	Variables []string `json:"variables,omitempty"`
	// Restricted has the script go by the language rules, on top of all the
	// walls.
	Restricted bool `json:"restricted,omitempty"`
	// Tier asks for a kind of isolation; empty lets cordon choose.
	Tier policy.Tier `json:"tier,omitempty"`
	// Trust says where the code comes from; empty means a user.
	Trust policy.Trust `json:"trust,omitempty"`
	// Limits narrow the policy's; zero fields mean its defaults.
	Limits policy.Limits `json:"limits,omitzero"`
	// OnOutputLimit overrides the policy's choice.
	OnOutputLimit policy.OutputAction `json:"on_output_limit,omitempty"`

	// Streams pass the guest's standard streams through while it runs.
	Streams Streams `json:"-"`
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
	for _, v := range r.Variables {
		if !isIdentifier(v) {
			return Errorf(Invalid, "variable %q is not a name", v)
		}
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

// The three things that can be run.
const (
	scripts  = "scripts"
	commands = "commands"
	modules  = "modules"
)

// Which of them a field is for. They are not made anew for each request.
var (
	onlyScripts, onlyCommands, onlyModules = []string{scripts}, []string{commands}, []string{modules}
	noCommands, noScripts                  = []string{scripts, modules}, []string{commands, modules}
)

// kind is what this request runs.
func (r Request) kind() string {
	switch {
	case len(r.Command) > 0:
		return commands
	case r.Module != nil:
		return modules
	}
	return scripts
}

// Applicable drops from l the limits that Validate refuses in a request of this kind. A
// caller's maxima are for requests of every kind.
func (r Request) Applicable(l policy.Limits) policy.Limits {
	if r.kind() != modules {
		l.Fuel = 0
	}
	return l
}

// validateCode checks that there is one thing to run, and that the request says
// nothing that only another one has.
func (r Request) validateCode() error {
	kind := r.kind()
	for _, field := range []struct {
		name string
		said bool
		of   []string
	}{
		{"script", r.Script != "", onlyScripts},
		{"context", r.Context != nil, onlyScripts},
		{"variables", len(r.Variables) > 0, onlyScripts},
		{"restricted", r.Restricted, onlyScripts},
		{"workspace", r.Workspace != "", onlyCommands},
		{"workspace_read_only", r.WorkspaceReadOnly, onlyCommands},
		{"module", r.Module != nil, onlyModules},
		{"args", len(r.Args) > 0, onlyModules},
		{"limits.fuel", r.Limits.Fuel != 0, onlyModules},
		{"name", r.Name != "", noCommands},
		{"tools", len(r.Tools) > 0, noCommands},
		{"deterministic", r.Deterministic, noCommands},
		{"env", len(r.Env) > 0, noScripts},
	} {
		if field.said && !slices.Contains(field.of, kind) {
			return Errorf(Invalid, "%s is for %s, and this request is for %s", field.name, strings.Join(field.of, " and "), kind)
		}
	}
	switch kind {
	case commands:
		return r.validateCommand()
	case modules:
		return r.validateModule()
	}
	return validateScript(r.Script, r.Name)
}

func (r Request) validateCommand() error {
	if r.Command[0] == "" {
		return Errorf(Invalid, "command[0] is empty: it names the program")
	}
	for i, argument := range r.Command {
		if strings.ContainsRune(argument, 0) {
			return Errorf(Invalid, "command[%d] has a NUL byte: no argument of a program can contain one", i)
		}
	}
	if strings.ContainsRune(r.Workspace, 0) {
		return Errorf(Invalid, "workspace has a NUL byte: no path can contain one")
	}
	if r.WorkspaceReadOnly && r.Workspace == "" {
		return Errorf(Invalid, "workspace_read_only is set, and there is no workspace")
	}
	return r.validateEnv()
}

func (r Request) validateModule() error {
	for i, argument := range append([]string{r.Name}, r.Args...) {
		if strings.ContainsRune(argument, 0) {
			return Errorf(Invalid, "args[%d] has a NUL byte: no argument of a program can contain one", i-1)
		}
	}
	return r.validateEnv()
}

func (r Request) validateEnv() error {
	for name, value := range r.Env {
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
