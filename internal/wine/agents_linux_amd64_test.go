package wine

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
)

// TestMCP checks that `cordon.exe mcp` starts cordond.exe, which runs an agent's script with
// CPython.
func TestMCP(t *testing.T) {
	hosttest.OnlyLong(t, "the service is compiled for Windows first")
	w := setUp(t)
	build := exec.Command("go", "build", "-trimpath", "-o", filepath.Join(filepath.Dir(w.cordon), "cordond.exe"), "../../cmd/cordond")
	build.Env = append(os.Environ(), "GOOS=windows", "GOARCH=amd64", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	c, finish := w.command(t.Context(), t, w.cordon, "mcp", "--policy", w.policy, "--python", w.python)
	input, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	_, err = io.WriteString(input, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"run_python","arguments":{"code":"import sys\nprint(sys.platform, 6 * 7)"}}}
`)
	if err != nil {
		t.Error(err)
	}
	stdout := c.Stdout.(*os.File).Name()
	waitFor(t, "the output of the script", func() bool {
		output, err := os.ReadFile(stdout)
		return err == nil && strings.Contains(string(output), "win32 42")
	})
	input.Close() // agents disconnect by closing stdin
	_ = c.Wait()
	finish().check(t, 0, "win32 42", "")
}
