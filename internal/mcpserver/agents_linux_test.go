package mcpserver_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/internal/mcpclient"
)

// TestAgents adds cordon to the configuration of real agents, as `cordon mcp install` does,
// and asks them whether they can connect to it. Agents that need a login first only list it.
func TestAgents(t *testing.T) {
	hosttest.OnlyLong(t, "agents are large")
	n, agents := needsNode(t), os.Getenv("CORDON_TEST_AGENTS")
	if agents == "" {
		hosttest.Lacks(t, "CORDON_TEST_AGENTS is not set: scripts/setup agents installs them")
	}
	server := startHTTP(t, self(t))
	byCommand := mcpclient.How{Command: []string{self(t)}, Env: map[string]string{serveVariable: "stdio"}}
	byURL := mcpclient.How{URL: server.url("/mcp"), Token: "somebody"}
	for _, row := range []struct {
		name, client, program string
		how                   mcpclient.How
		want                  string
	}{
		{"Claude Code, by command", "claude-code", "claude", byCommand, `cordon: .*✔ Connected`},
		{"Claude Code, by URL", "claude-code", "claude", byURL, `cordon: .*✔ Connected`},
		{"Gemini CLI, by command", "gemini", "gemini", byCommand, `✓ cordon: .*Connected`},
		{"Gemini CLI, by URL", "gemini", "gemini", byURL, `✓ cordon: .*Connected`},
		{"opencode, by command", "opencode", "opencode", byCommand, `✓ cordon .*connected`},
		{"opencode, by URL", "opencode", "opencode", byURL, `✓ cordon .*connected`},
		{"Codex, by command", "codex", "codex", byCommand, `cordon .*enabled`},
		{"Codex, by URL", "codex", "codex", byURL, `cordon .*enabled`},
		{"Copilot CLI, by command", "copilot", "copilot", byCommand, `cordon \(local\)`},
		{"Copilot CLI, by URL", "copilot", "copilot", byURL, `cordon \(http\)`},
	} {
		t.Run(row.name, func(t *testing.T) {
			home, err := os.MkdirTemp("", "agent")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.RemoveAll(home) })
			row.how.Home = home
			if _, err := mcpclient.Install(row.client, row.how); err != nil {
				t.Fatal(err)
			}
			trust(t, home)
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, filepath.Join(agents, "node_modules", ".bin", row.program), "mcp", "list")
			cmd.Dir = home
			cmd.Env = append(os.Environ(), "HOME="+home, "PATH="+filepath.Join(n.directory, "bin")+":"+os.Getenv("PATH"), "CORDON_TOKEN=somebody", "XDG_CONFIG_HOME="+filepath.Join(home, ".config"))
			out, err := cmd.CombinedOutput()
			if err != nil || !regexp.MustCompile(row.want).Match(out) {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// trust marks the directory as trusted for Gemini CLI, which starts no servers otherwise.
func trust(t *testing.T, directory string) {
	t.Helper()
	text, err := json.Marshal(map[string]string{directory: "TRUST_DIRECTORY"})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(directory, ".gemini"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(directory, ".gemini", "trustedDirectories.json"), text, 0o600); err != nil {
		t.Fatal(err)
	}
}
