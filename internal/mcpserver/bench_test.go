package mcpserver_test

import (
	"bufio"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/observe"
	"github.com/cordon-sandbox/cordon/internal/token"
	"github.com/cordon-sandbox/cordon/run"
)

// BenchmarkRoundTrip measures the frontend itself: the guests take no time.
func BenchmarkRoundTrip(b *testing.B) {
	s := fakeServer(b, nil)
	b.Run("no frontend", func(b *testing.B) {
		for b.Loop() {
			if _, err := s.Service.Run(b.Context(), token.Local, observe.MCP, run.Request{Script: run.Script{Source: "print"}}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("stdio", func(b *testing.B) {
		serverIn, in := io.Pipe()
		out, serverOut := io.Pipe()
		ended := make(chan error, 1)
		go func() { ended <- s.ServeStdio(b.Context(), serverIn, serverOut) }()
		lines := bufio.NewReader(out)
		send := func(line string) {
			if _, err := io.WriteString(in, line+"\n"); err != nil {
				b.Fatal(err)
			}
		}
		receive := func() {
			if _, err := lines.ReadString('\n'); err != nil {
				b.Fatal(err)
			}
		}
		send(initializeLine)
		receive()
		send(initializedLine)
		for line := callLine(2, "print"); b.Loop(); {
			send(line)
			receive()
		}
		in.Close()
		if err := <-ended; err != nil {
			b.Fatal(err)
		}
	})
	server := httptest.NewServer(handlerOf(s, nameAsSecret{}))
	defer server.Close()
	defer http.DefaultClient.CloseIdleConnections()
	for name, version := range map[string]string{"http, newest": "2026-07-28", "http without a session": "2025-11-25"} {
		line := callLine(2, "print")
		if version == "2026-07-28" {
			line = newestLine(2, "print")
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, server.URL+"/mcp", strings.NewReader(line))
				if err != nil {
					b.Fatal(err)
				}
				for name, value := range map[string]string{
					"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
					"Mcp-Protocol-Version": version, "Mcp-Method": "tools/call", "Mcp-Name": "run_python",
				} {
					r.Header.Set(name, value)
				}
				got, err := http.DefaultClient.Do(r)
				if err != nil {
					b.Fatal(err)
				}
				body, err := io.ReadAll(got.Body)
				got.Body.Close()
				if err != nil || !strings.Contains(string(body), "succeeded") {
					b.Fatalf("%v %s", err, body)
				}
			}
		})
	}
}
