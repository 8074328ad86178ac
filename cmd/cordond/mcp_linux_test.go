package main

import (
	"bufio"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`

// Standard output carries only the protocol, and the end of standard input ends the
// service.
func TestMCPStdio(t *testing.T) {
	cmd := exec.Command(filepath.Join(programDirectory(t), "cordon"), "mcp", "--log-level", "debug")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	log := newBuffer()
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	ask := func(message string) string {
		t.Helper()
		if _, err := io.WriteString(in, message+"\n"); err != nil {
			t.Fatal(err)
		}
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("%v\n%s", err, log)
		}
		return line
	}
	if answer := ask(hello); !strings.Contains(answer, `"name":"cordon"`) {
		t.Error(answer)
	}
	if _, err := io.WriteString(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	answer := ask(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"run_python","arguments":{"code":"print(6 * 7)"}}}`)
	if !strings.Contains(answer, `42\n`) {
		t.Error(answer)
	}
	if answer := ask(`{"jsonrpc":"2.0","id":3,"method":"tools/list"}`); strings.Contains(answer, `"name":"run_command"`) {
		t.Errorf("commands are offered: %s", answer)
	}
	in.Close()
	if rest, err := io.ReadAll(lines); err != nil || len(rest) > 0 {
		t.Errorf("%q, %v", rest, err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, log)
	}
}

// Over HTTP the service offers the protocol and its health.
func TestMCPHTTP(t *testing.T) {
	for _, transport := range []string{"http", "sse"} {
		t.Run(transport, func(t *testing.T) {
			socket := filepath.Join(short(t), "s")
			r := launch(t, exec.Command(filepath.Join(programDirectory(t), "cordon"), "mcp", "--transport", transport, "--listen", "unix:"+socket))
			r.client = clientOf(t, "unix", socket)
			r.hear("READY=1")
			if transport == "http" {
				status, answer := r.ask("POST", "/mcp", hello, "Accept: application/json, text/event-stream")
				if status != http.StatusOK || !strings.Contains(answer, `"name":"cordon"`) {
					t.Errorf("%d %s", status, answer)
				}
			} else {
				res := r.open("GET", "/sse", "")
				first, err := bufio.NewReader(res.Body).ReadString('\n')
				res.Body.Close()
				if err != nil || first != "event: endpoint\n" {
					t.Errorf("%q, %v", first, err)
				}
			}
			for path, want := range map[string]int{"/healthz": 200, "/readyz": 200, "/v1/info": 404, "/": 404} {
				if status, answer := r.ask("GET", path, ""); status != want {
					t.Errorf("%s: %d %s", path, status, answer)
				}
			}
			r.signal(syscall.SIGTERM)
			if code := r.wait(); code != 0 {
				t.Errorf("exit code %d", code)
			}
		})
	}
}
