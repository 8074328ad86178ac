package mcpserver_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/admission"
	"github.com/cordon-sandbox/cordon/internal/mcpserver"
	"github.com/cordon-sandbox/cordon/internal/service"
	"github.com/cordon-sandbox/cordon/internal/token"
	"github.com/cordon-sandbox/cordon/policy"
)

// answerIn returns the message in a body, which is JSON or one event.
func answerIn(t *testing.T, body string) map[string]any {
	t.Helper()
	for line := range strings.Lines(body) {
		line = strings.TrimSpace(strings.TrimPrefix(line, "data: "))
		var message map[string]any
		if json.Unmarshal([]byte(line), &message) == nil && message["jsonrpc"] != nil {
			return message
		}
	}
	t.Fatalf("no message in %q", body)
	return nil
}

func TestSessionBelongsToItsCaller(t *testing.T) {
	w := startWeb(t, fakeServer(t, nil))
	w.headers["Authorization"] = "Bearer alice"
	w.begin(t)
	if status, answer := w.roundTrip(t, http.MethodPost, "/mcp", callLine(2, "print")); status != http.StatusOK || !strings.Contains(answer, `42\n`) {
		t.Errorf("her own session: %d %s", status, answer)
	}
	for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
		w.headers["Authorization"] = "Bearer mallory"
		if status, answer := w.roundTrip(t, method, "/mcp", callLine(3, "print")); status != http.StatusNotFound {
			t.Errorf("%s in another's session: %d %s", method, status, answer)
		}
	}
	w.headers["Authorization"] = "Bearer alice"
	if status, answer := w.roundTrip(t, http.MethodPost, "/mcp", callLine(4, "print")); status != http.StatusOK {
		t.Errorf("her own session, after that: %d %s", status, answer)
	}
}

// TestChangedCeilingEndsSessions checks that a lower ceiling takes effect at once.
func TestChangedCeilingEndsSessions(t *testing.T) {
	who := &singleCaller{Name: "alice"}
	w := startWebFor(t, fakeServer(t, nil), who)
	w.headers["Authorization"] = "Bearer x"
	w.begin(t)
	who.Ceiling = token.Ceiling{ScriptsOnly: true, Maxima: policy.Limits{WallTime: policy.DefaultMaxima().WallTime / 60}.Or(policy.DefaultMaxima())}
	if status, answer := w.roundTrip(t, http.MethodPost, "/mcp", callLine(2, "print")); status != http.StatusNotFound {
		t.Errorf("%d %s", status, answer)
	}
	w.headers = map[string]string{"Authorization": "Bearer x"}
	w.begin(t)
	_, answer := w.roundTrip(t, http.MethodPost, "/mcp", `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
	if strings.Contains(answer, `"name":"run_command"`) || !strings.Contains(answer, `1 at most`) {
		t.Errorf("the tools are not those of the new ceiling: %s", answer)
	}
}

func TestSSEStreamBelongsToItsCaller(t *testing.T) {
	w := startWeb(t, fakeServer(t, nil))
	w.headers["Authorization"] = "Bearer alice"
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stream := w.do(ctx, t, http.MethodGet, "/sse", "")
	defer stream.Body.Close()
	first := make([]byte, 200)
	n, err := io.ReadAtLeast(stream.Body, first, 40)
	if err != nil {
		t.Fatal(err)
	}
	_, at, _ := strings.Cut(string(first[:n]), "data: ")
	at = strings.TrimSpace(at)
	for _, row := range []struct {
		who    string
		status int
	}{{"mallory", http.StatusNotFound}, {"alice", http.StatusAccepted}} {
		w.headers["Authorization"] = "Bearer " + row.who
		if status, answer := w.roundTrip(t, http.MethodPost, at, initializeLine); status != row.status {
			t.Errorf("%s at %s: %d %s", row.who, at, status, answer)
		}
	}
}

// TestBadRequests checks that each bad request gets a clear answer and runs nothing.
func TestBadRequests(t *testing.T) {
	call := callLine(2, "print")
	for _, row := range []struct {
		name, method, path, body string
		headers                  map[string]string
		status                   int
		want                     string
	}{
		{"rubbish", http.MethodPost, "/mcp", `{"jsonrpc":`, nil, 400, ""},
		{"a list of nothing", http.MethodPost, "/mcp", `[]`, nil, 400, ""},
		{"no JSON by its type", http.MethodPost, "/mcp", call, map[string]string{"Content-Type": "text/plain"}, 415, "application/json"},
		{"an answer nobody can take", http.MethodPost, "/mcp", call, map[string]string{"Accept": "text/html"}, 400, "Accept"},
		{"a body beyond all", http.MethodPost, "/mcp", `{"a":"` + strings.Repeat("x", 9<<20) + `"}`, nil, 413, "longer than 8388608 bytes"},
		{"a session that never was", http.MethodPost, "/mcp", call, map[string]string{"Mcp-Session-Id": "none"}, 404, "session not found"},
		{"a revision that never was", http.MethodPost, "/mcp", call, map[string]string{"Mcp-Protocol-Version": "1999-01-01"}, 400, "nsupported protocol version"},
		{"a stream without a session", http.MethodGet, "/mcp", "", nil, 400, "Mcp-Session-Id"},
		{"another method", http.MethodPut, "/mcp", call, nil, 405, ""},
		{"a name made to point at us", http.MethodPost, "/mcp", call, map[string]string{"Host": "evil.example"}, 403, "is not this machine"},
		{"the same, for server-sent events", http.MethodGet, "/sse", "", map[string]string{"Host": "evil.example"}, 403, "is not this machine"},
		{"no stream to send to", http.MethodPost, "/sse?sessionid=none", call, nil, 404, "open a stream"},
		{"a form to a stream", http.MethodPost, "/sse?sessionid=none", "a=b", map[string]string{"Content-Type": "application/x-www-form-urlencoded"}, 415, "application/json"},
		{"another method for server-sent events", http.MethodDelete, "/sse", "", nil, 405, "GET"},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := startWeb(t, fakeServer(t, nil))
			for name, value := range row.headers {
				w.headers[name] = value
			}
			status, answer := w.roundTrip(t, row.method, row.path, row.body)
			if status != row.status || !strings.Contains(answer, row.want) {
				t.Errorf("%d %s", status, answer)
			}
		})
	}
}

func TestWithoutAGuardTheFrontendIsShut(t *testing.T) {
	s := fakeServer(t, nil)
	for name, handler := range map[string]http.Handler{"/mcp": s.StreamableHandler(), "/sse": s.SSEHandler()} {
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, httptest.NewRequest(http.MethodPost, name, strings.NewReader(callLine(1, "print"))))
		if answer.Code != http.StatusUnauthorized {
			t.Errorf("%s: %d %s", name, answer.Code, answer.Body)
		}
	}
}

func TestWithoutASession(t *testing.T) {
	w := startWeb(t, fakeServer(t, nil))
	for _, row := range []struct{ name, version, line string }{
		{"somebody with curl", "", callLine(2, "print")},
		{"of 2025-06-18", "2025-06-18", callLine(2, "print")},
		{"of the newest revision", "2026-07-28", newestLine(2, "print")},
	} {
		w.newest()
		w.headers["Mcp-Protocol-Version"] = row.version
		if row.version == "" {
			w.headers = map[string]string{}
		}
		status, body := w.roundTrip(t, http.MethodPost, "/mcp", row.line)
		result, _ := answerIn(t, body)["result"].(map[string]any)
		if status != http.StatusOK || result["structuredContent"] == nil {
			t.Errorf("%s: %d %s", row.name, status, body)
		}
	}
}

func TestBusy(t *testing.T) {
	line := admission.NewLine(admission.Options{Concurrent: 1, Queue: 0})
	turn, err := line.Enter(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer turn.Leave()
	s := fakeServer(t, func(o *service.Options, _ *mcpserver.Options) { o.Runner = fakeRunner{line} })
	_, body := startWeb(t, s).roundTrip(t, http.MethodPost, "/mcp", callLine(2, "print"))
	if !strings.Contains(body, "Nothing was run, since the sandbox is busy: try again in 1s.") || !strings.Contains(body, `"isError":true`) {
		t.Error(body)
	}
}

func TestSessionsAreBounded(t *testing.T) {
	w := startWeb(t, fakeServer(t, nil))
	status, answer := 0, ""
	for range 300 {
		if status, answer = w.roundTrip(t, http.MethodPost, "/mcp", initializeLine); status != http.StatusOK {
			break
		}
	}
	if status != http.StatusTooManyRequests || !strings.Contains(answer, "256 sessions are open") {
		t.Errorf("%d %s", status, answer)
	}
	// The limit does not affect another caller.
	w.headers["Authorization"] = "Bearer somebody"
	if status, answer := w.roundTrip(t, http.MethodPost, "/mcp", initializeLine); status != http.StatusOK {
		t.Errorf("%d %s", status, answer)
	}
}

// Each stream of server-sent events keeps a connection open.
func TestStreamsOfServerSentEventsAreBounded(t *testing.T) {
	w := startWeb(t, fakeServer(t, nil))
	open := func() int {
		ctx, cancel := context.WithCancel(t.Context())
		t.Cleanup(cancel)
		stream := w.do(ctx, t, http.MethodGet, "/sse", "")
		t.Cleanup(func() { stream.Body.Close() })
		return stream.StatusCode
	}
	const most = 256
	for i := range most {
		if status := open(); status != http.StatusOK {
			t.Fatalf("stream %d: %d", i, status)
		}
	}
	if status := open(); status != http.StatusTooManyRequests {
		t.Errorf("one more: %d", status)
	}
	w.headers["Authorization"] = "Bearer somebody"
	if status := open(); status != http.StatusOK {
		t.Errorf("another caller: %d", status)
	}
}

// The operator's log only has what an operator can fix. The SDK logs each session as
// information, and most mistakes of clients as errors.
func TestAQuietLog(t *testing.T) {
	var log strings.Builder
	s := fakeServer(t, func(_ *service.Options, o *mcpserver.Options) {
		o.Logger = slog.New(slog.NewTextHandler(&log, nil))
	})
	converse(t, s, initializeLine+"\n"+initializedLine+"\n"+callLine(2, "print")+"\n"+`{"jsonrpc":"2.0","id":3,"method":"no/such"}`)
	if got := log.String(); got != "" {
		t.Errorf("%s", got)
	}
}
