package cli

import "slices"

// Variables gives the variables that mean something to a program. One does not know the flags
// of the other, and what is meant for the one must not be a typing error to the other.
// Tests of both hold their own to the flags they have.
func Variables(program string) (variables []string) {
	for _, flag := range flagNames[program] {
		variables = append(variables, EnvName(flag))
	}
	slices.Sort(variables)
	return variables
}

// flagNames are the flags of each program.
var flagNames = map[string][]string{
	"cordon": {
		"allow-interpreters", "allow-net", "area", "arg", "audit-file", "audit-head", "audit-key", "backend", "call", "code", "concurrency", "config", "context",
		"context-file", "cpu-time", "dangerous-workspace", "deterministic", "disk", "egress", "env", "file", "files", "follow", "fuel",
		"input", "json", "json-lines", "junit", "lines", "load", "memory", "no-terminal", "on-output-limit", "open-files",
		"output-limit", "policy", "preset", "processes", "prove", "python", "python-wasm", "quiet", "read", "repeat",
		"restricted", "result-limit", "save", "scratch", "since", "state", "stdin", "threads", "tier", "timeout", "tokens", "trust", "variable",
		"verbose", "workspace", "workspace-ro", "write",
	},
	"cordond": {
		"allow-commands", "audit-file", "audit-key", "audit-required", "concurrent", "connections", "grace", "idle", "listen", "log-format", "log-level", "metrics-listen", "name",
		"policy", "project", "python", "python-wasm", "queue", "tls-cert", "tls-key", "token", "tokens", "transport", "unread-answers",
		"unread-answers-per-caller", "url", "workspace",
	},
}
