package run

// HintCode names advice. The words of a hint depend on its reader: a person at a command
// line has flags, an embedder a policy, an agent an operator to ask. Programs that word
// hints for their own users do so from the code and its data. docs/hints.md lists all
// codes; new ones may be added.
type HintCode string

// The codes that a program can act on, by granting something, with the keys of their
// data.
const (
	// HintGrantPath: a command names a path that is not visible inside. "path"; "workspace"
	// if there is one; "expand" if the path begins with something that nobody expands.
	HintGrantPath HintCode = "grant_path"
	// HintGrantDirectory: a module opens a path that is not granted. No data: the path is
	// one of the module's own, not one of the host.
	HintGrantDirectory HintCode = "grant_directory"
	// HintPassData: a script opens a path that is not granted. "available" says what it
	// can use.
	HintPassData HintCode = "pass_data"
	// HintAllowInterpreter: a command is an interpreter. No data.
	HintAllowInterpreter HintCode = "allow_interpreter"
	// HintRaiseLimit: a limit was reached. "limit" is its key, "unit" what it counts.
	HintRaiseLimit HintCode = "raise_limit"
	// HintAllowHost: a guest connects to a host that is not granted. "host" is the grant
	// that would allow it.
	HintAllowHost HintCode = "allow_host"
	// HintModuleRule: the rule of a module does not allow what the policy allows. "rule" is
	// its name in module_rules, "key" the list, "value" what would have to be in it.
	HintModuleRule HintCode = "module_rule"
)
