package httpapi

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/internal/admission"
	"github.com/cordon-sandbox/cordon/internal/service"
	"github.com/cordon-sandbox/cordon/internal/token"
	"github.com/cordon-sandbox/cordon/run"
)

func TestBadRequests(t *testing.T) {
	d := open(t, &fake{run: func(context.Context, run.Request) (run.Result, error) {
		t.Error("a bad request was run")
		return run.Result{}, nil
	}}, func(_ *service.Options, o *Options) { o.MaxBody = 1 << 20 })
	const script = `{"script": "pass"}`
	for _, test := range []struct {
		name, method, path, body string
		headers                  []string
		status                   int
		words                    string
	}{
		{"no JSON", "POST", "/v1/runs", `{"script": `, nil, 400, "ends too early"},
		{"rubbish", "POST", "/v1/runs", `{"script": pass}`, nil, 400, "not valid JSON at byte 12"},
		{"a list", "POST", "/v1/runs", `[]`, nil, 400, "expected a JSON object, got a JSON array"},
		{"a wrong type", "POST", "/v1/runs", `{"script": 1}`, nil, 400, `script: expected a string`},
		{"a wrong type inside", "POST", "/v1/runs", `{"script": "pass", "limits": {"threads": "x"}}`, nil, 400, `limits.threads: expected a whole number`},
		{"no unit", "POST", "/v1/runs", `{"script": "pass", "limits": {"wall_time": 2}}`, nil, 400, "has no unit"},
		{"an unknown field", "POST", "/v1/runs", `{"script": "pass", "image": "x"}`, nil, 400, `image: unknown field`},
		{"a module", "POST", "/v1/runs", `{"module": "x"}`, nil, 400, `module: unknown field`},
		{"a field twice", "POST", "/v1/runs", `{"script": "pass", "script": "x"}`, nil, 400, "there twice"},
		{"another case", "POST", "/v1/runs", `{"Script": "pass"}`, nil, 400, `Script: unknown field`},
		{"two objects", "POST", "/v1/runs", script + script, nil, 400, "more data after the JSON object"},
		{"an empty script", "POST", "/v1/runs", `{"script": " "}`, nil, 400, "script: there is nothing to run"},
		{"nothing to run", "POST", "/v1/runs", `{}`, nil, 400, "script: there is nothing to run"},
		{"a NUL", "POST", "/v1/runs", `{"script": "a\u0000b"}`, nil, 400, "NUL byte"},
		{"no UTF-8", "POST", "/v1/runs", "{\"script\": \"\xff\"}", nil, 400, "not valid UTF-8"},
		{"deep JSON", "POST", "/v1/runs", `{"script": "pass", "context": ` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}`, nil, 400, "nested too deeply"},
		{"an unknown tier", "POST", "/v1/runs", `{"script": "pass", "tier": "docker"}`, nil, 400, `tier "docker" does not exist`},
		{"a command", "POST", "/v1/runs", `{"command": ["ls"]}`, nil, 403, "commands are not allowed here"},
		{"an empty body", "POST", "/v1/runs", "", []string{"Content-Type: application/json"}, 400, "empty: expected a JSON object"},
		{"a huge body", "POST", "/v1/runs", `{"script": "` + strings.Repeat("x", 1<<20) + `"}`, nil, 413, "above the maximum of 1048576 bytes"},

		{"no type", "POST", "/v1/runs", script, []string{"Content-Type: "}, 415, "send application/json"},
		{"a form", "POST", "/v1/runs", script, []string{"Content-Type: application/x-www-form-urlencoded"}, 415, "send application/json"},
		{"plain text, as a web page could", "POST", "/v1/runs", script, []string{"Content-Type: text/plain"}, 415, "send application/json"},
		{"another charset", "POST", "/v1/runs", script, []string{"Content-Type: application/json; charset=utf-16"}, 415, "send application/json"},
		{"compressed", "POST", "/v1/runs", script, []string{"Content-Encoding: gzip"}, 415, `Content-Encoding "gzip"`},
		{"an answer that there is not", "POST", "/v1/runs", script, []string{"Accept: application/xml"}, 406, "application/json or text/event-stream"},
		{"an answer that is not wanted", "POST", "/v1/runs", script, []string{"Accept: application/json;q=0, text/html"}, 406, "application/json"},
		{"a stream of a check", "POST", "/v1/checks", script, []string{"Accept: text/event-stream"}, 406, "application/json"},

		{"PUT of runs", "PUT", "/v1/runs", script, nil, 405, "GET or HEAD or POST"},
		{"a stream without waiting", "POST", "/v1/runs", script, []string{"Prefer: respond-async", "Accept: text/event-stream"}, 400, "cannot be used with Prefer: respond-async"},
		{"another answer without waiting", "POST", "/v1/runs", script, []string{"Prefer: respond-async", "Accept: text/html"}, 406, "application/json or text/event-stream"},
		{"no script without waiting", "POST", "/v1/runs", `{}`, []string{"Prefer: respond-async"}, 400, "script: there is nothing to run"},
		{"no JSON without waiting", "POST", "/v1/runs", `{`, []string{"Prefer: respond-async"}, 400, "ends too early"},
		{"a command without waiting", "POST", "/v1/runs", `{"command": ["ls"]}`, []string{"Prefer: respond-async"}, 403, "commands are not allowed here"},
		{"a long id without waiting", "POST", "/v1/runs", `{"script": "pass", "id": "` + strings.Repeat("x", 256) + `"}`, []string{"Prefer: respond-async"}, 400, "id: it has 256 bytes"},
		{"an empty key without waiting", "POST", "/v1/runs", script, []string{"Prefer: respond-async", "Idempotency-Key: "}, 400, "1 to 255 printable"},
		{"runs as XML", "GET", "/v1/runs", "", []string{"Accept: application/xml"}, 406, "application/json"},
		{"a run as XML", "GET", "/v1/runs/x", "", []string{"Accept: application/xml"}, 406, "application/json"},
		{"an unknown run", "GET", "/v1/runs/x", "", nil, 404, `no run has the id "x"`},
		{"waiting for an unknown run", "GET", "/v1/runs/x", "", []string{"Prefer: wait=60"}, 404, `no run has the id "x"`},
		{"canceling an unknown run", "DELETE", "/v1/runs/x", "", nil, 404, `no run has the id "x"`},
		{"POST to a run", "POST", "/v1/runs/x", script, nil, 405, "DELETE or GET or HEAD"},
		{"PUT of a check", "PUT", "/v1/checks", script, nil, 405, "POST"},
		{"a method that nobody knows", "BREW", "/v1/info", "", nil, 405, "GET or HEAD"},
		{"POST to a document", "POST", "/openapi.json", "{}", nil, 405, "GET"},
		{"an unknown path", "GET", "/v2/runs", "", nil, 404, `no "/v2/runs" here`},
		{"an unknown hook", "POST", "/v1/hooks/x/calls", "{}", nil, 404, `no hook has the id "x"`},
		{"closing an unknown hook", "DELETE", "/v1/hooks/x", "", nil, 404, `no hook has the id "x"`},
		{"no metrics", "GET", "/metrics", "", nil, 404, "no metrics"},
		{"hooks where there are none", "POST", "/v1/hooks", `{"script": "pass"}`, nil, 501, "there are no hooks here"},
		{"a wrong hook", "POST", "/v1/hooks", `{"script": "pass", "workers": "x"}`, nil, 400, `workers: `},
		{"a call of both kinds", "POST", "/v1/hooks/x/calls", `{"function": "f", "game_state": 1}`, nil, 400, "write one of both"},
		{"arguments of nothing", "POST", "/v1/hooks/x/calls", `{"args": [1]}`, nil, 400, "none is named"},
		{"arguments that are none", "POST", "/v1/hooks/x/calls", `{"function": "f", "args": {}}`, nil, 400, "expected a list"},
		{"sessions where there are none", "POST", "/v1/sessions", `{}`, nil, 501, "there are no sessions here"},
		{"a session without a body", "POST", "/v1/sessions", "", []string{"Content-Type: application/json"}, 400, "empty: expected a JSON object"},
		{"a session with a script", "POST", "/v1/sessions", script, nil, 400, "script: unknown field"},
		{"a session with a wrong limit", "POST", "/v1/sessions", `{"limits": {"memory": 1}}`, nil, 400, "has no unit"},
		{"a stream of a new session", "POST", "/v1/sessions", `{}`, []string{"Accept: text/event-stream"}, 406, "application/json"},
		{"sessions as XML", "GET", "/v1/sessions", "", []string{"Accept: application/xml"}, 406, "application/json"},
		{"a session as XML", "GET", "/v1/sessions/x", "", []string{"Accept: application/xml"}, 406, "application/json"},
		{"an unknown session", "GET", "/v1/sessions/x", "", nil, 404, `no session has the id "x"`},
		{"a step of an unknown session", "POST", "/v1/sessions/x/steps", script, nil, 404, `no session has the id "x"`},
		{"a stream of an unknown session", "POST", "/v1/sessions/x/steps", script, []string{"Accept: text/event-stream"}, 404, `no session has the id "x"`},
		{"interrupting an unknown session", "POST", "/v1/sessions/x/interrupt", "", nil, 404, `no session has the id "x"`},
		{"closing an unknown session", "DELETE", "/v1/sessions/x", "", nil, 404, `no session has the id "x"`},
		{"a command as a step", "POST", "/v1/sessions/x/steps", `{"command": ["ls"]}`, nil, 400, "a step is a script"},
		{"a step with an unknown field", "POST", "/v1/sessions/x/steps", `{"script": "pass", "image": "x"}`, nil, 400, `image: unknown field`},
		{"PUT of a session", "PUT", "/v1/sessions/x", script, nil, 405, "DELETE or GET or HEAD"},
		{"GET of steps", "GET", "/v1/sessions/x/steps", "", nil, 405, "POST"},
		{"a wrong check", "POST", "/v1/checks", `{"script": "pass", "preset": "x"}`, nil, 400, "x"},

		{"an empty key", "POST", "/v1/runs", script, []string{"Idempotency-Key: "}, 400, "1 to 255 printable"},
		{"a long key", "POST", "/v1/runs", script, []string{"Idempotency-Key: " + strings.Repeat("k", 256)}, 400, "1 to 255 printable"},
		{"a key that is no text", "POST", "/v1/runs", script, []string{"Idempotency-Key: \xc3\xa4"}, 400, "1 to 255 printable"},
		{"a key for a stream", "POST", "/v1/runs", script, []string{"Idempotency-Key: k", "Accept: text/event-stream"}, 400, "cannot be used with a stream"},
		{"a key for a new session", "POST", "/v1/sessions", `{}`, []string{"Idempotency-Key: k"}, 400, "leave it out here"},
		{"a key for a stream of a step", "POST", "/v1/sessions/x/steps", script, []string{"Idempotency-Key: k", "Accept: text/event-stream"}, 400, "cannot be used with a stream"},
		{"a key for a check", "POST", "/v1/checks", script, []string{"Idempotency-Key: k"}, 400, "leave it out here"},

		{"a rebound name", "POST", "/v1/runs", script, []string{"Host: evil.example"}, 403, "not this machine"},
		{"a rebound name with our port", "GET", "/v1/info", "", []string{"Host: evil.example:8734"}, 403, "not this machine"},
		{"a name that begins like ours", "GET", "/docs", "", []string{"Host: localhost.evil.example"}, 403, "not this machine"},
		{"a public address", "GET", "/v1/info", "", []string{"Host: 192.0.2.1"}, 403, "not this machine"},
		{"another website", "POST", "/v1/runs", script, []string{"Sec-Fetch-Site: cross-site"}, 403, "another website"},
		{"another origin", "POST", "/v1/runs", script, []string{"Origin: https://evil.example"}, 403, "another website"},
		{"another website's interrupt", "POST", "/v1/sessions/x/interrupt", "", []string{"Origin: https://evil.example"}, 403, "another website"},
		{"another website's cancel", "DELETE", "/v1/runs/x", "", []string{"Origin: https://evil.example"}, 403, "another website"},
		{"an origin of a file", "DELETE", "/v1/hooks/x", "", []string{"Origin: null"}, 403, "another website"},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := *d
			d.t = t
			a := d.ask(test.method, test.path, test.body, test.headers...)
			if p := d.problem(a); a.status != test.status || !strings.Contains(p.Detail, test.words) {
				t.Errorf("%d, %q, want %d, %q", a.status, p.Detail, test.status, test.words)
			}
			if allow := a.header.Get("Allow"); (a.status == 405) != (allow != "") {
				t.Errorf("Allow: %q", allow)
			}
		})
	}
}

func TestLocalHosts(t *testing.T) {
	d := open(t, &fake{}, nil)
	for _, host := range []string{"localhost", "LOCALHOST:1", "127.0.0.1", "127.9.9.9:80", "[::1]", "[::1]:8734"} {
		if a := d.ask(http.MethodGet, "/v1/info", "", "Host: "+host, "Sec-Fetch-Site: same-origin"); a.status != http.StatusOK {
			t.Errorf("%s: %d %s", host, a.status, a.body)
		}
	}
	// Health checks may use any host name, because the answer reveals nothing.
	if a := d.ask(http.MethodGet, "/healthz", "", "Host: pod.example"); a.status != http.StatusOK {
		t.Errorf("health: %d %s", a.status, a.body)
	}
}

type tokens map[string]token.Caller

func (f tokens) Find(secret string) (token.Caller, bool) {
	who, ok := f[secret]
	return who, ok
}

func TestTokens(t *testing.T) {
	d := open(t, &fake{run: echo}, func(_ *service.Options, o *Options) {
		o.Tokens = tokens{"s3cret": {Name: "alice"}}
		o.Metrics = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain; version=0.0.4")
			fmt.Fprintln(w, "up 1")
		})
		o.Mounts = map[string]http.Handler{"/other": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			who, _ := token.CallerOf(r.Context())
			fmt.Fprint(w, who.Name)
		})}
	})
	var refused []string
	for _, header := range []string{"X: y", "Authorization: Bearer wrong", "Authorization: Bearer", "Authorization: Bearer ", "Authorization: Basic s3cret", "Authorization: s3cret", "Cookie: token=s3cret"} {
		for _, path := range []string{"/v1/info", "/metrics", "/other", "/nowhere", "/v1/runs", "/v1/runs?token=s3cret"} {
			a := d.ask(http.MethodGet, path, "", header)
			if a.status != http.StatusUnauthorized || !strings.HasPrefix(a.header.Get("WWW-Authenticate"), "Bearer") {
				t.Errorf("%s with %q: %d %s", path, header, a.status, a.body)
			}
			refused = append(refused, string(a.body))
		}
	}
	for _, body := range refused {
		if body != refused[0] {
			t.Errorf("refusals differ: %s and %s", body, refused[0])
		}
	}
	two := d.request(http.MethodGet, "/v1/info", "", "Authorization: Bearer s3cret")
	two.Header.Add("Authorization", "Bearer other")
	if a := d.do(two); a.status != http.StatusUnauthorized {
		t.Errorf("two tokens: %d", a.status)
	}
	for _, path := range []string{"/v1/info", "/metrics", "/other"} {
		if a := d.ask(http.MethodGet, path, "", "Authorization: bearer s3cret", "Host: cordon.example"); a.status != http.StatusOK {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		} else if path == "/other" && string(a.body) != "alice" {
			t.Errorf("a mounted frontend gets the caller %q", a.body)
		}
	}
	for _, path := range []string{"/healthz", "/readyz", "/openapi.json", "/docs"} {
		if a := d.ask(http.MethodGet, path, ""); a.status != http.StatusOK {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
	}
}

// Refusals and failures of the service keep their class. The text of internal errors is not
// sent.
func TestErrorsOfTheService(t *testing.T) {
	for _, test := range []struct {
		name   string
		err    error
		status int
		retry  string
		words  string
	}{
		{"busy", run.Wrap(run.Busy, &admission.Busy{RetryAfter: 2500 * time.Millisecond}), 429, "3", "try again in 2.5s"},
		{"busy elsewhere", run.Errorf(run.Busy, "too much"), 429, "1", "too much"},
		{"closed", run.Errorf(run.Closed, "over"), 503, "1", "over"},
		{"ended", context.Canceled, 503, "1", "the service ended"},
		{"unsupported", run.Errorf(run.Unsupported, "no seccomp"), 501, "", "no seccomp"},
		{"internal", run.Errorf(run.Internal, "read /etc/secret: denied"), 500, "", "the log"},
		{"not ours", errors.New("dial /run/secret.sock"), 500, "", "the log"},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := open(t, &fake{run: func(context.Context, run.Request) (run.Result, error) { return run.Result{}, test.err }}, nil)
			for _, accept := range []string{"application/json", "text/event-stream"} {
				a := d.ask(http.MethodPost, "/v1/runs", `{"script": "pass"}`, "Accept: "+accept)
				if accept == eventsType {
					events := readEvents(t, string(a.body))
					if len(events) != 2 || events[1].name != eventError || !strings.Contains(events[1].data, fmt.Sprintf(`"status":%d`, test.status)) || strings.Contains(events[1].data, "secret") {
						t.Errorf("events: %v", events)
					}
					continue
				}
				p := d.problem(a)
				if a.status != test.status || a.header.Get("Retry-After") != test.retry || !strings.Contains(p.Detail, test.words) || strings.Contains(p.Detail, "secret") {
					t.Errorf("%d, Retry-After %q: %+v", a.status, a.header.Get("Retry-After"), p)
				}
				if a.header.Get(runIDHeader) == "" {
					t.Error("the answer has no run id")
				}
			}
			if logged := d.log.String(); test.status == 500 && !strings.Contains(logged, "secret") {
				t.Errorf("the log does not have the error: %s", logged)
			}
		})
	}
}

// raw opens a connection and sends bytes without an HTTP library.
func (d *frontend) raw(t *testing.T, data string) (net.Conn, *bufio.Reader) {
	t.Helper()
	conn, err := net.Dial("tcp", d.at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(10 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, data); err != nil {
		t.Fatal(err)
	}
	return conn, bufio.NewReader(conn)
}

// readUntilClosed returns all data until the connection is closed.
func readUntilClosed(t *testing.T, r io.Reader) string {
	t.Helper()
	text, err := io.ReadAll(r)
	if err != nil && !strings.Contains(err.Error(), "reset") {
		t.Errorf("the connection is not closed: %v", err)
	}
	return string(text)
}

// A client that sends slowly loses the connection and gets no turn.
func TestSlowClients(t *testing.T) {
	d := open(t, &fake{run: echo, line: admission.NewLine(admission.Options{Concurrent: 1})}, func(_ *service.Options, o *Options) {
		o.BodyTimeout = 300 * time.Millisecond
	})
	const head = "POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
	for _, test := range []struct{ name, sent, answer string }{
		{"no headers", "", ""},
		{"half of the headers", head, ""},
		{"no body", head + "Content-Length: 100\r\n\r\n", "408"},
		{"half of a body", head + "Content-Length: 100\r\n\r\n{\"script\":", "408"},
		{"half of a chunk", head + "Transfer-Encoding: chunked\r\n\r\n10\r\n{\"scr", "408"},
		{"a body that is refused anyway", strings.Replace(head, "application/json", "text/plain", 1) + "Content-Length: 100\r\n\r\nx", "415"},
		{"a body where none belongs", "GET /v1/info HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n", "200"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, r := d.raw(t, test.sent)
			// Meanwhile another client gets the only turn.
			d := *d
			d.t = t
			if a := d.ask(http.MethodPost, "/v1/runs", `{"script": "pass"}`); a.status != http.StatusOK {
				t.Errorf("another client: %d %s", a.status, a.body)
			}
			if got := readUntilClosed(t, r); !strings.HasPrefix(got, strings.TrimSpace("HTTP/1.1 "+test.answer)) && test.answer != "" || test.answer == "408" && !strings.Contains(got, "did not arrive within 300ms") {
				t.Errorf("answer: %q", got)
			}
		})
	}
}

// A body without a length is read up to the maximum.
func TestHugeChunkedBody(t *testing.T) {
	d := open(t, &fake{}, func(_ *service.Options, o *Options) { o.MaxBody = 100_000 })
	conn, r := d.raw(t, "POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
	chunk := "2710\r\n" + strings.Repeat("x", 10_000) + "\r\n"
	var sent atomic.Int64
	var sender sync.WaitGroup
	sender.Go(func() {
		for range 10_000 { // 100 MB, if the server read them
			if _, err := io.WriteString(conn, chunk); err != nil {
				return
			}
			sent.Add(10_000)
		}
	})
	response, err := http.ReadResponse(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	conn.Close()
	sender.Wait()
	if response.StatusCode != http.StatusRequestEntityTooLarge || sent.Load() > 50_000_000 {
		t.Errorf("%s after %d bytes", response.Status, sent.Load())
	}
}

func TestPatience(t *testing.T) {
	for size, want := range map[int64]time.Duration{0: 10 * time.Second, 64 << 10: 11 * time.Second, 8 << 20: 138 * time.Second} {
		if got := patience(10*time.Second, size); got != want {
			t.Errorf("%d bytes: %v, want %v", size, got, want)
		}
	}
}

// A client that does not read its answer loses the connection.
func TestSlowReaderOfAnAnswer(t *testing.T) {
	large := good("1")
	large.Stdout = strings.Repeat("x", 16<<20) // more than sockets hold
	d := open(t, &fake{run: func(context.Context, run.Request) (run.Result, error) { return large, nil }}, func(_ *service.Options, o *Options) {
		o.WriteTimeout = 200 * time.Millisecond
	})
	conn, r := d.raw(t, "POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 18\r\n\r\n{\"script\": \"pass\"}")
	if line, err := r.ReadString('\n'); err != nil || !strings.Contains(line, "200") {
		t.Fatalf("%q, %v", line, err)
	}
	deadline := time.Now().Add(5 * time.Minute)
	for !strings.Contains(d.log.String(), "cannot send an answer") {
		if time.Now().After(deadline) {
			t.Fatal("the server waits forever")
		}
		<-time.After(10 * time.Millisecond)
	}
	conn.Close()
}

// The deadline of a body ends with the body: the run may take longer.
func TestARunMayTakeLongerThanItsBody(t *testing.T) {
	const timeout = 100 * time.Millisecond
	d := open(t, &fake{run: func(ctx context.Context, req run.Request) (run.Result, error) {
		select {
		case <-ctx.Done():
			return canceled(), nil
		case <-time.After(5 * timeout):
			return echo(ctx, req)
		}
	}}, func(_ *service.Options, o *Options) { o.BodyTimeout = timeout })
	if a := d.ask(http.MethodPost, "/v1/runs", `{"script": "pass"}`); d.result(a).Outcome != run.Succeeded {
		t.Errorf("%s", a.body)
	}
}

// The memory of all bodies together is bounded.
func TestBodiesTogether(t *testing.T) {
	began, release := make(chan struct{}), make(chan struct{})
	d := open(t, &fake{run: func(context.Context, run.Request) (run.Result, error) {
		began <- struct{}{}
		<-release
		return good("1"), nil
	}}, func(_ *service.Options, o *Options) { o.MaxBody = 200_000 })
	body := `{"script": "` + strings.Repeat("x", 180_000) + `"}`
	statuses := make(chan int)
	held := 0
	for refused := false; !refused; {
		go func() { statuses <- d.ask(http.MethodPost, "/v1/runs", body).status }()
		select {
		case <-began:
			held++
		case status := <-statuses:
			if refused = true; status != http.StatusTooManyRequests {
				t.Errorf("status %d", status)
			}
		}
	}
	if most := bodiesAtOnce * 200_000 / len(body); held < bodiesAtOnce-2 || held > most {
		t.Errorf("%d bodies were in memory", held)
	}
	close(release)
	for range held {
		if status := <-statuses; status != http.StatusOK {
			t.Errorf("status %d", status)
		}
	}
	if left := d.api.bodies.used.Load(); left != 0 {
		t.Errorf("%d bytes are never released", left)
	}
}
