package cli

// Flags are the names of all flags, by program, of which one does not know the other's. A
// variable that is meant for the one must not be a typing error to the other. Tests of
// both programs hold their own to what they have.
var Flags = map[string][]string{
	"cordon": {
		"allow-interpreters", "allow-net", "arg", "backend", "call", "code", "concurrency", "config", "context",
		"context-file", "cpu-time", "dangerous-workspace", "deterministic", "disk", "egress", "env", "file", "fuel",
		"input", "json", "json-lines", "junit", "load", "memory", "no-terminal", "on-output-limit", "open-files",
		"output-limit", "policy", "preset", "processes", "prove", "python", "python-wasm", "quiet", "read", "repeat",
		"restricted", "save", "scratch", "state", "stdin", "threads", "tier", "timeout", "trust", "variable",
		"verbose", "workspace", "workspace-ro", "write",
	},
	"cordond": {
		"allow-commands", "concurrent", "grace", "idle", "listen", "log-format", "log-level", "name",
		"policy", "project", "python", "python-wasm", "queue", "tls-cert", "tls-key", "token", "tokens", "transport", "url",
		"workspace",
	},
}
