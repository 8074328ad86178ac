package mcpserver_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
)

// node is the Node that scripts/setup installed, with third-party programs.
type node struct{ directory string }

func needsNode(t *testing.T) node {
	t.Helper()
	hosttest.Slow(t, "third-party programs are slow")
	return node{hosttest.NeedsExtra(t, hosttest.NodeClients)}
}

func (n node) module(path string) string {
	return filepath.Join(n.directory, "node_modules", filepath.FromSlash(path))
}

// run runs a program with Node and returns its output and its exit code.
func (n node) run(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	return runForeign(t, exec.CommandContext(ctx, filepath.Join(n.directory, "bin", "node"), args...))
}

// runForeign runs a program of others and returns its output and its exit code.
func runForeign(t *testing.T, cmd *exec.Cmd) (stdout, stderr string, code int) {
	t.Helper()
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "NO_COLOR=1")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// serverProcess is a server in its own process.
type serverProcess struct {
	address string
	cmd     *exec.Cmd
}

// startHTTP starts a test binary as a server, until the end of the test.
func startHTTP(t *testing.T, binary string) *serverProcess {
	t.Helper()
	cmd := exec.Command(binary)
	cmd.Env = append(os.Environ(), serveVariable+"=http")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(stderr)
	first, err := lines.ReadString('\n')
	address, ok := strings.CutPrefix(strings.TrimSpace(first), "listening on ")
	var rest bytes.Buffer
	var reading sync.WaitGroup
	reading.Go(func() { _, _ = io.Copy(&rest, lines) })
	t.Cleanup(func() {
		stdin.Close()
		reading.Wait()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the server ended with %v\n%s", err, rest.String())
		}
	})
	if !ok {
		t.Fatalf("the server said %q (%v)", first, err)
	}
	return &serverProcess{address: address, cmd: cmd}
}

func (s *serverProcess) url(path string) string { return "http://" + s.address + path }

// self returns the path of this test binary.
func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}
