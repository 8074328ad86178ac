package mcpserver_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestInspector lets the official Inspector list, validate, call and load-test the tools, on
// each transport.
func TestInspector(t *testing.T) {
	n := needsNode(t)
	server := startHTTP(t, self(t))
	cli := []string{n.module("@modelcontextprotocol/inspector/clients/launcher/build/index.js"), "--cli"}
	for name, target := range map[string][]string{
		"stdio":                 {"-e", serveVariable + "=stdio", self(t)},
		"streamable HTTP":       {"--transport", "http", "--server-url", server.url("/mcp"), "--protocol-era", "legacy"},
		"streamable HTTP, 2026": {"--transport", "http", "--server-url", server.url("/mcp"), "--protocol-era", "modern"},
		"server-sent events":    {"--transport", "sse", "--server-url", server.url("/sse")},
		"with a token, in /mcp": {"--transport", "http", "--server-url", server.url("/mcp"), "--header", "Authorization: Bearer somebody"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inspect := func(args ...string) string {
				t.Helper()
				all := append(append(append([]string{}, cli...), target...), args...)
				stdout, stderr, code := n.run(t, all...)
				if code != 0 {
					t.Fatalf("%v: exit code %d\n%s%s", args, code, stdout, stderr)
				}
				return stdout
			}
			listed := inspect("--method", "tools/list", "--strict", "--format", "json")
			for _, tool := range []string{"run_python", "run_command", "check_python", "sandbox_info", "list_files", "read_file", "write_file"} {
				if !strings.Contains(listed, `"`+tool+`"`) {
					t.Errorf("%s is not listed: %s", tool, listed)
				}
			}
			called := inspect("--method", "tools/call", "--tool-name", "run_python", "--tool-arg", "code=print(6*7)", "--format", "json")
			if !strings.Contains(called, `42\n`) {
				t.Errorf("no answer in %s", called)
			}
			loaded := inspect("--method", "tools/call", "--tool-name", "run_python", "--tool-arg", "code=print(6*7)",
				"--load", "--load-requests", "60", "--load-concurrency", "6", "--format", "json", "-q")
			var report struct {
				Result struct{ Requests, OK int }
			}
			if err := json.Unmarshal([]byte(loaded), &report); err != nil || report.Result.OK != 60 {
				t.Errorf("not all of 60 calls succeeded (%v): %s", err, loaded)
			}
		})
	}
}
