package hints

import "github.com/cordon-sandbox/cordon/run"

// grants are for what the policy can allow.
var grants = table{
	run.HintGrantPath: {
		Embedder:    "grant it with `read:` or `write:` in the policy",
		CommandLine: "grant it with --read {path} or --write {path} (read: and write: in a policy)",
		Agent:       "ask the operator to grant {path}",
	},
	run.HintGrantDirectory: {
		Embedder:    "grant the directory with `read:` or `write:` in the policy, or pass the data by arguments or standard input",
		CommandLine: "grant the directory with --read or --write (read: and write: in a policy), or pass the data by arguments or standard input",
		Agent:       "pass the data by arguments or standard input, or ask the operator to grant the directory",
	},
	run.HintPassData: {
		Embedder:    "the guest can use only {available}; grant the path with `read:` in the policy, or pass the data in as input",
		CommandLine: "the guest can use only {available}; grant the path with `read:` in the policy, or pass the data in as input",
		Agent:       "only {available} can be used here: pass the data in as input, or ask the operator to grant the path",
	},
	run.HintAllowInterpreter: {
		Embedder:    "run a program instead of a script, or allow it with `allow_interpreters: true` in the policy",
		CommandLine: "run a program instead of a script, or allow it with --allow-interpreters (allow_interpreters in a policy)",
		Agent:       "run a program instead of a script: only the operator can allow interpreters",
	},
	run.HintRaiseLimit: {
		Embedder:    "raise limits.{limit} in the policy, or use fewer {unit}",
		CommandLine: "raise limits.{limit} in the policy, or use fewer {unit}",
		Agent:       "use fewer {unit}",
	},
	run.HintAllowHost: {
		Embedder:    "only hosts in allow_net can be reached from this sandbox: use one of them, or add {host} to allow_net in the policy",
		CommandLine: "only hosts in allow_net can be reached from this sandbox: use one of them, or allow this one with --allow-net {host} (allow_net in a policy)",
		Agent:       "only the allowed hosts can be reached from this sandbox: use one of them, or ask the operator to allow {host}",
	},
	run.HintModuleRule: {
		Embedder:    "the script itself may use it, this module may not: do it in the script, or add {value} to module_rules.{rule}.{key} in the policy",
		CommandLine: "the script itself may use it, this module may not: do it in the script, or add {value} to module_rules.{rule}.{key} in the policy",
		Agent:       "the script itself may use it, this package may not: do it in the script, or ask the operator to allow {value} to the package",
	},
}

// ModuleRule puts the hint of a module rule into a violation.
func ModuleRule(v run.Violation, rule, key, value string) run.Violation {
	return Give(v, run.HintModuleRule, Data{"rule": rule, "key": key, "value": value})
}

// insteadOfGrant is what to do before or instead of granting a path.
func insteadOfGrant(d Data) string {
	switch {
	case d["expand"] != "":
		return "write the path out, and "
	case d["workspace"] != "":
		return "use a file in the workspace " + d["workspace"] + ", or "
	}
	return ""
}
