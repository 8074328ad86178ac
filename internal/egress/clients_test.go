package egress

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
)

// With the variables of Environment, each of these programs gets a page over HTTP and
// over TLS, and nothing from a host that is not granted.
func TestClientsUseTheProxyFromTheEnvironment(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "over TLS host="+r.Host+" ")
	}))
	defer server.Close()
	w := newWorld(t)
	site(t, w)
	w.servers[publicA+":443"] = server.Listener.Addr().String()
	address := w.proxy(t, "example.com")

	const python = `
import ssl, sys, urllib.request
context = ssl._create_unverified_context()
print(urllib.request.urlopen(sys.argv[1], context=context).read().decode())`
	const node = `process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0"
fetch(process.argv[1]).then(r => { if (!r.ok) throw r.status; return r.text() }).then(console.log)`
	for _, tt := range []struct {
		name    string
		command []string
	}{
		{"curl", []string{"curl", "-sSkf", "URL"}},
		{"curl by SOCKS", []string{"curl", "-sSkf", "-x", "socks5h://" + address, "URL"}},
		{"wget", []string{"wget", "-q", "-t1", "--no-check-certificate", "-O-", "URL"}},
		{"python", []string{"python3", "-c", python, "URL"}},
		{"requests", []string{"python3", "-c", "import sys, requests\nr = requests.get(sys.argv[1], verify=False)\nr.raise_for_status()\nprint(r.text)", "URL"}},
		{"node", []string{"node", "-e", node, "URL"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.name == "node" {
				hosttest.NeedsExtra(t, hosttest.Node)
			}
			program := client(t, tt.command[0])
			get := func(url string) (string, error) {
				args := append([]string(nil), tt.command[1:]...)
				for i, a := range args {
					if a == "URL" {
						args[i] = url
					}
				}
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
				defer cancel()
				cmd := exec.CommandContext(ctx, program, args...)
				cmd.Env = append(Environment(address), "PATH="+os.Getenv("PATH"), "HOME="+t.TempDir(), "PYTHONWARNINGS=ignore")
				out, err := cmd.CombinedOutput()
				return string(out), err
			}
			out, err := get("http://example.com/page")
			if strings.Contains(out, "No module named") || strings.Contains(out, "fetch is not defined") {
				t.Skip("not installed")
			}
			if err != nil || !strings.Contains(out, "GET /page host=example.com ") && !strings.Contains(out, "GET / host") && !strings.Contains(out, "/page host=example.com") {
				if tt.name == "node" && strings.Contains(out, "ENOTFOUND") {
					t.Skip("this Node.js does not know NODE_USE_ENV_PROXY")
				}
				t.Fatalf("%v: %s", err, out)
			}
			if out, err := get("https://example.com/page"); err != nil || !strings.Contains(out, "over TLS host=example.com ") {
				t.Errorf("over TLS: %v: %s", err, out)
			}
			for _, url := range []string{"http://evil.example/", "https://evil.example/", "http://169.254.169.254/"} {
				if out, err := get(url); err == nil {
					t.Errorf("%s: %s", url, out)
				}
			}
		})
	}

	t.Run("git", func(t *testing.T) {
		client(t, "git")
		cmd := exec.CommandContext(t.Context(), "git", "ls-remote", "https://evil.example/repo.git")
		cmd.Dir = t.TempDir()
		cmd.Env = append(Environment(address), "PATH="+os.Getenv("PATH"), "HOME="+filepath.Clean(cmd.Dir), "GIT_TERMINAL_PROMPT=0")
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "403") {
			t.Errorf("%v: %s", err, out)
		}
	})
}

// client finds a program. Where skips are forbidden, a missing program that the tests'
// setup installs is a failure.
func client(t *testing.T, name string) string {
	t.Helper()
	program, err := exec.LookPath(name)
	if err == nil {
		return program
	}
	if installed := []string{"curl", "git", "python3"}; slices.Contains(installed, name) {
		hosttest.Lacks(t, "%v", err)
	}
	t.Skip(err)
	return ""
}
