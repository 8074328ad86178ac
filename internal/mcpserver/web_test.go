package mcpserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/httpapi"
	"github.com/cordon-sandbox/cordon/internal/mcpserver"
)

func callLine(id int, code string) string {
	text, err := json.Marshal(code)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"run_python","arguments":{"code":%s}}}`, id, text)
}

const (
	initializeLine  = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"a client","version":"1"}}}`
	initializedLine = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
)

// newestLine is a call with the metadata that the newest revision requires.
func newestLine(id int, code string) string { return newestOf(callLine(id, code)) }

func newestOf(line string) string {
	return strings.Replace(line, `"params":{`, `"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"a client","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}},`, 1)
}

// web is a minimal HTTP client.
type web struct {
	at      string
	headers map[string]string
}

func startWeb(t *testing.T, s *mcpserver.Server) *web { return startWebFor(t, s, nameAsSecret{}) }

// startWebFor is startWeb with other tokens.
func startWebFor(t *testing.T, s *mcpserver.Server, tokens httpapi.Finder) *web {
	t.Helper()
	server := httptest.NewServer(handlerOf(s, tokens))
	t.Cleanup(func() { s.Close(); server.Close() })
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	return &web{at: server.URL, headers: map[string]string{}}
}

// do sends a request. The caller closes the body of the response.
func (w *web) do(ctx context.Context, t *testing.T, method, path, body string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, w.at+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for name, value := range w.headers {
		if name == "Host" {
			r.Host = value
		}
		r.Header.Set(name, value)
	}
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// roundTrip sends a request and reads the whole answer.
func (w *web) roundTrip(t *testing.T, method, path, body string) (status int, answer string) {
	t.Helper()
	got := w.do(t.Context(), t, method, path, body)
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	if err != nil {
		t.Fatal(err)
	}
	return got.StatusCode, string(text)
}

// begin opens a session.
func (w *web) begin(t *testing.T) {
	t.Helper()
	got := w.do(t.Context(), t, http.MethodPost, "/mcp", initializeLine)
	defer got.Body.Close()
	if _, err := io.Copy(io.Discard, got.Body); err != nil {
		t.Fatal(err)
	}
	w.headers["Mcp-Session-Id"] = got.Header.Get("Mcp-Session-Id")
	w.headers["Mcp-Protocol-Version"] = "2025-11-25"
	if status, answer := w.roundTrip(t, http.MethodPost, "/mcp", initializedLine); status != http.StatusAccepted {
		t.Fatalf("%d %s", status, answer)
	}
}

// newest makes the client use the newest revision.
func (w *web) newest() {
	w.headers = map[string]string{"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "run_python"}
}
