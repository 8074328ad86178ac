package mcpserver_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/internal/mcpserver"
	"github.com/cordon-sandbox/cordon/policy"
)

// realServer returns a server with a real Runner, in this process.
func realServer(t *testing.T) *mcpserver.Server {
	t.Helper()
	s, closing, err := newService(policy.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := closing(); err != nil {
			t.Error(err)
		}
	})
	return mcpserver.New(mcpserver.Options{Service: s, Version: "test", Commands: true})
}

// TestGuestEndsWithItsClient checks from outside that the guest's process ends long before
// its own end when the client cancels, disconnects or disappears.
func TestGuestEndsWithItsClient(t *testing.T) {
	post := func(t *testing.T, w *web, line string) (hangUp func()) {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.at+"/mcp", strings.NewReader(line))
			if err != nil {
				t.Error(err)
				return
			}
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", "application/json, text/event-stream")
			for name, value := range w.headers {
				r.Header.Set(name, value)
			}
			got, err := http.DefaultClient.Do(r)
			if err != nil {
				return // hung up
			}
			defer got.Body.Close()
			_, _ = io.Copy(io.Discard, got.Body)
		}()
		t.Cleanup(func() { cancel(); <-done })
		return cancel
	}
	stdio := func(t *testing.T) *stdioClient {
		c := startStdio(t, realServer(t))
		c.send(t, initializeLine)
		c.receive(t)
		c.send(t, initializedLine)
		c.send(t, callLine(2, eightThreads))
		return c
	}
	for _, row := range []struct {
		name  string
		begin func(t *testing.T) (end func())
	}{
		{"stdio: canceled", func(t *testing.T) func() {
			c := stdio(t)
			return func() {
				c.send(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
			}
		}},
		{"stdio: stdin ends", func(t *testing.T) func() {
			c := stdio(t)
			return func() { c.in.Close() }
		}},
		{"stdio: the server is stopped", func(t *testing.T) func() {
			ctx, cancel := context.WithCancel(t.Context())
			c := startStdioIn(ctx, t, realServer(t))
			c.send(t, initializeLine)
			c.receive(t)
			c.send(t, initializedLine)
			c.send(t, callLine(2, eightThreads))
			return cancel
		}},
		{"streamable HTTP with a session: canceled", func(t *testing.T) func() {
			w := startWeb(t, realServer(t))
			w.begin(t)
			post(t, w, callLine(2, eightThreads))
			return func() {
				w.roundTrip(t, http.MethodPost, "/mcp", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
			}
		}},
		{"streamable HTTP with a session: deleted", func(t *testing.T) func() {
			w := startWeb(t, realServer(t))
			w.begin(t)
			post(t, w, callLine(2, eightThreads))
			return func() { w.roundTrip(t, http.MethodDelete, "/mcp", "") }
		}},
		{"streamable HTTP, newest: hung up", func(t *testing.T) func() {
			w := startWeb(t, realServer(t))
			w.newest()
			return post(t, w, newestLine(2, eightThreads))
		}},
		{"streamable HTTP without a session: hung up", func(t *testing.T) func() {
			return post(t, startWeb(t, realServer(t)), callLine(2, eightThreads))
		}},
		{"a session whose client vanishes: by its own limit", func(t *testing.T) func() {
			w := startWeb(t, realServer(t))
			w.begin(t)
			return post(t, w, strings.Replace(callLine(2, eightThreads), `"arguments":{`, `"arguments":{"timeout":3,`, 1))
		}},
		{"server-sent events: the stream ends", func(t *testing.T) func() {
			w := startWeb(t, realServer(t))
			ctx, cancel := context.WithCancel(t.Context())
			t.Cleanup(cancel)
			stream := w.do(ctx, t, http.MethodGet, "/sse", "")
			t.Cleanup(func() { stream.Body.Close() })
			lines := bufio.NewScanner(stream.Body)
			at := ""
			for at == "" && lines.Scan() {
				at, _ = strings.CutPrefix(lines.Text(), "data: ")
				if !strings.HasPrefix(at, "/sse") {
					at = ""
				}
			}
			for _, line := range []string{initializeLine, initializedLine, callLine(2, eightThreads)} {
				if status, answer := w.roundTrip(t, http.MethodPost, at, line); status != http.StatusAccepted {
					t.Fatalf("%d %s", status, answer)
				}
			}
			return cancel
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			end := row.begin(t)
			waitForGuest(t, os.Getpid(), true)
			began := time.Now()
			end() // may wait for the guest
			waitForGuest(t, os.Getpid(), false)
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("it ended by itself, after %v", took)
			}
		})
	}
}
