package run

// HintCode names advice whose wording depends on the reader: flags for a person at a
// command line, a policy for an embedder, a question to the operator for an agent.
// Frontends word it from Violation.HintCode and Violation.HintData. Other advice has
// only a text.
type HintCode string

// The codes, with the keys of their data.
const (
	// HintGrantPath: a command names a path that is not visible inside. "path"; "workspace"
	// if there is one; "expand" if the path begins with something that nobody expands.
	HintGrantPath HintCode = "grant_path"
	// HintPassData: a script or module opens a path that is not granted. "available" says
	// what it can use.
	HintPassData HintCode = "pass_data"
	// HintAllowInterpreter: a command is an interpreter. No data.
	HintAllowInterpreter HintCode = "allow_interpreter"
	// HintRaiseLimit: a limit was reached. "limit" is its key, "unit" what it counts.
	HintRaiseLimit HintCode = "raise_limit"
)

// HintCodes returns all codes.
func HintCodes() []HintCode {
	return []HintCode{HintGrantPath, HintPassData, HintAllowInterpreter, HintRaiseLimit}
}
