package mcpserver_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// TestTypeScriptClients lets both official clients list tools, call them, follow a run and
// abort one, on each transport and in each generation of the protocol.
func TestTypeScriptClients(t *testing.T) {
	n := needsNode(t)
	server := startHTTP(t, self(t))
	for _, row := range []struct {
		name, which, mode, transport, target string
		version                              string // that must be negotiated, if the client reports it
		logs                                 bool   // whether this revision sends log messages without a request for them
	}{
		{"sdk 1 on stdio", "sdk", "default", "stdio", self(t), "", true},
		{"sdk 1 on streamable HTTP", "sdk", "default", "http", server.url("/mcp"), "", true},
		{"sdk 1 on server-sent events", "sdk", "default", "sse", server.url("/sse"), "", true},
		{"client 2 on stdio", "client", "legacy", "stdio", self(t), "2025-11-25", true},
		{"client 2 on stdio, newest", "client", "auto", "stdio", self(t), "2026-07-28", false},
		{"client 2 on streamable HTTP", "client", "legacy", "http", server.url("/mcp"), "2025-11-25", true},
		{"client 2 on streamable HTTP, newest", "client", "auto", "http", server.url("/mcp"), "2026-07-28", false},
		{"client 2 on server-sent events", "client", "legacy", "sse", server.url("/sse"), "2025-11-25", true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			stdout, stderr, code := n.run(t, "testdata/client.mjs", row.which, row.mode, row.transport, row.target)
			if code != 0 {
				t.Fatalf("exit code %d\n%s%s", code, stdout, stderr)
			}
			var saw struct {
				Version string
				Tools   []string
				Call    struct {
					Stdout    string
					Variables map[string]int
				}
				Failed struct {
					IsError bool
					Text    string
				}
				Progress []struct {
					Progress, Total float64
					Message         string
				}
				Logs    string
				Aborted bool
				After   string
			}
			if err := json.Unmarshal([]byte(stdout), &saw); err != nil {
				t.Fatalf("%v in %s", err, stdout)
			}
			if row.version != "" && saw.Version != row.version {
				t.Errorf("the version is %q", saw.Version)
			}
			if want := []string{"check_python", "list_files", "read_file", "run_command", "run_python", "sandbox_info", "write_file"}; !slices.Equal(saw.Tools, want) {
				t.Errorf("tools %v", saw.Tools)
			}
			if saw.Call.Stdout != "42\n" || saw.Call.Variables["x"] != 41 {
				t.Errorf("a call gave %+v", saw.Call)
			}
			if !saw.Failed.IsError || !strings.Contains(saw.Failed.Text, "ZeroDivisionError: division by zero (line 1)") {
				t.Errorf("a failure gave %+v", saw.Failed)
			}
			if len(saw.Progress) == 0 || saw.Progress[0].Progress < 1 || saw.Progress[0].Total != 30 {
				t.Errorf("progress %+v", saw.Progress)
			}
			if row.logs && !strings.Contains(saw.Logs, "tick 0\ntick 1\n") {
				t.Errorf("live output %q", saw.Logs)
			}
			if !saw.Aborted || saw.After != "still here\n" {
				t.Errorf("aborted: %v; after that: %q", saw.Aborted, saw.After)
			}
		})
	}
	// Runs after all subtests have ended and before the server ends.
	t.Cleanup(func() { waitForGuest(t, server.cmd.Process.Pid, false) })
}
