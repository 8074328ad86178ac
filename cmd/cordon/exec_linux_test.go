package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
)

// --verbose reports what a command exchanges with a host that it may reach.
func TestVerboseReportsTraffic(t *testing.T) {
	hosttest.Needs(t, "curl")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "from outside")
	}))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	var shown, said bytes.Buffer
	// By default, programs use no proxy for their own loopback.
	cmd := exec.Command("cordon", "exec", "--verbose", "--allow-net", host, "--", "curl", "-sS", "--noproxy", "", server.URL)
	cmd.Dir, cmd.Stdout, cmd.Stderr = t.TempDir(), &shown, &said
	if err := cmd.Run(); err != nil || shown.String() != "from outside" {
		t.Fatalf("%q, %v: %s", &shown, err, &said)
	}
	_, port, _ := strings.Cut(host, ":")
	if want := "cordon: traffic: 127.0.0.1 port " + port + ", 1 connection, "; !strings.Contains(said.String(), want) {
		t.Errorf("it says %q; want %q", &said, want)
	}
}

// A connection to any other host is blocked, and reported when the command fails.
func TestBlockedTraffic(t *testing.T) {
	hosttest.Needs(t, "curl")
	var said bytes.Buffer
	script := `host=other.example; curl -sS -f http://$host/ || exit 9`
	cmd := exec.Command("cordon", "exec", "--allow-interpreters", "--allow-net", "good.example", "--", "sh", "-c", script)
	cmd.Dir, cmd.Stderr = t.TempDir(), &said
	err := cmd.Run()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != 9 {
		t.Fatalf("%v: %s", err, &said)
	}
	if want := "cordon: blocked: connect (other.example:80: not in allow_net), once — "; !strings.Contains(said.String(), want) {
		t.Errorf("it says %q; want %q", &said, want)
	}
}
