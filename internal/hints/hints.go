// Package hints words the advice of violations, for each kind of reader. Tiers give a code
// with data ([Give]); frontends take the text for their own users ([Word]). No frontend
// edits the sentence of another.
package hints

import "github.com/cordon-sandbox/cordon/run"

// Data are the values of a hint, by the keys that its code lists.
type Data = map[string]string

// Reader is a kind of user, by what they can do about a violation.
type Reader int

// The readers.
const (
	Embedder    Reader = iota // Go, HTTP and JSON lines: has a policy
	CommandLine               // has flags, too
	Agent                     // MCP: has neither, and can ask the operator
)

// wordings has a row for each code and a column for each reader.
var wordings = map[run.HintCode][3]func(d Data) string{
	run.HintGrantPath: {
		Embedder: func(d Data) string {
			return start(d) + "grant it with `read:` or `write:` in the policy"
		},
		CommandLine: func(d Data) string {
			return start(d) + "grant it with --read " + d["path"] + " or --write " + d["path"] + " (read: and write: in a policy)"
		},
		Agent: func(d Data) string { return start(d) + "ask the operator to grant " + d["path"] },
	},
	run.HintPassData: {
		Embedder:    passData,
		CommandLine: passData,
		Agent: func(d Data) string {
			return "only " + d["available"] + " can be used here: pass the data in as input, or ask the operator to grant the path"
		},
	},
	run.HintAllowInterpreter: {
		Embedder: func(Data) string {
			return "run a program instead of a script, or allow it with `allow_interpreters: true` in the policy"
		},
		CommandLine: func(Data) string {
			return "run a program instead of a script, or allow it with --allow-interpreters (allow_interpreters in a policy)"
		},
		Agent: func(Data) string {
			return "run a program instead of a script: only the operator can allow interpreters"
		},
	},
	run.HintRaiseLimit: {
		Embedder:    raiseLimit,
		CommandLine: raiseLimit,
		Agent:       func(d Data) string { return "use fewer " + d["unit"] },
	},
}

// start is what to do before or instead of granting a path.
func start(d Data) string {
	switch {
	case d["expand"] != "":
		return "write the path out, and "
	case d["workspace"] != "":
		return "use a file in the workspace " + d["workspace"] + ", or "
	}
	return ""
}

func passData(d Data) string {
	return "the guest can use only " + d["available"] + "; grant the path with `read:` in the policy, or pass the data in as input"
}

func raiseLimit(d Data) string {
	return "raise limits." + d["limit"] + " in the policy, or use fewer " + d["unit"]
}

// Give puts a hint into a violation, worded for embedders.
func Give(v run.Violation, code run.HintCode, d Data) run.Violation {
	v.HintCode, v.HintData = code, d
	v.Hint = Word(v, Embedder)
	return v
}

// Word is the hint of a violation for a reader.
func Word(v run.Violation, reader Reader) string {
	if row, known := wordings[v.HintCode]; known {
		return row[reader](v.HintData)
	}
	return v.Hint
}
