package httpapi

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/internal/observe"
	"github.com/cordon-sandbox/cordon/internal/openhooks"
	"github.com/cordon-sandbox/cordon/internal/service"
	"github.com/cordon-sandbox/cordon/run"
)

// runRecorder is an observer that keeps all runs.
type runRecorder chan observe.Run

func (s runRecorder) Ended(_ context.Context, r observe.Run) { s <- r }

// openReal starts a server with real guests behind it.
func openReal(t testing.TB, options cordon.Options, change func(*service.Options, *Options)) *frontend {
	t.Helper()
	watchLeaks(t)
	runner, err := cordon.NewRunner(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := runner.Close(); err != nil {
			t.Error(err)
		}
	})
	return open(t, runner, func(so *service.Options, o *Options) {
		so.OpenHook = func(ctx context.Context, h run.HookSpec) (openhooks.Hook, error) {
			opened, err := runner.OpenHook(ctx, h)
			if err != nil {
				return nil, err // not a Hook that is nil inside
			}
			return opened, nil
		}
		so.OpenSession = func(ctx context.Context, options run.SessionOptions) (service.Session, error) {
			opened, err := runner.OpenSession(ctx, options)
			if err != nil {
				return nil, err
			}
			return opened, nil
		}
		if change != nil {
			change(so, o)
		}
	})
}

func TestRealGuests(t *testing.T) {
	recorder := make(runRecorder, 100)
	d := openReal(t, cordon.Options{}, func(so *service.Options, _ *Options) { so.Observers = []observe.Observer{recorder} })

	a := d.ask(http.MethodPost, "/v1/runs", `{"id": "r1", "script": "print('<hä & b>')\nresult = context['a'] + 1", "context": {"a": 41}}`)
	if got := d.result(a); got.ID != "r1" || string(got.Value) != "42" || got.Stdout != "<hä & b>\n" || got.Status != run.StatusOK {
		t.Errorf("%s", a.body)
	}
	if r := <-recorder; r.ID != a.header.Get(runIDHeader) || r.Caller != "local" || r.Frontend != observe.HTTP {
		t.Errorf("the audit log would have %+v, the client %v", r, a.header)
	}

	for name, test := range map[string]struct {
		body    string
		outcome run.Outcome
	}{
		"an exception":   {`{"script": "1/0"}`, run.Raised},
		"a syntax error": {`{"script": "("}`, run.Malformed},
		"a long one":     {`{"script": "while True: pass", "limits": {"wall_time": "200ms"}}`, run.TimedOut},
		"a refused one":  {`{"script": "import os", "restricted": true}`, run.Refused},
		"an exit":        {`{"script": "raise SystemExit(3)"}`, run.Exited},
	} {
		a := d.ask(http.MethodPost, "/v1/runs", test.body)
		if got := d.result(a); got.Outcome != test.outcome || got.Status != run.StatusError || got.Error == "" {
			t.Errorf("%s: %s", name, a.body)
		}
	}

	deep := `{"script": "pass", "context": ` + strings.Repeat("[", run.MaxDepth+1) + strings.Repeat("]", run.MaxDepth+1) + `}`
	if a := d.ask(http.MethodPost, "/v1/runs", deep); a.status != http.StatusBadRequest || !strings.Contains(d.problem(a).Detail, "deep") {
		t.Errorf("deep: %d %s", a.status, a.body)
	}
	if a := d.ask(http.MethodPost, "/v1/runs", `{"script": "pass", "limits": {"wall_time": "10h"}}`); a.status != http.StatusBadRequest || !strings.Contains(d.problem(a).Detail, "maximum") {
		t.Errorf("above the maximum: %d %s", a.status, a.body)
	}

	var info service.Info
	if a := d.ask(http.MethodGet, "/v1/info", ""); a.status != http.StatusOK || json.Unmarshal(a.body, &info) != nil || len(info.Tiers) == 0 || len(info.Enforcement.Walls) == 0 {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := d.ask(http.MethodHead, "/v1/info", ""); a.status != http.StatusOK || len(a.body) != 0 {
		t.Errorf("HEAD: %d %s", a.status, a.body)
	}
}

func TestRealStream(t *testing.T) {
	d := openReal(t, cordon.Options{}, nil)
	a := d.ask(http.MethodPost, "/v1/runs", `{"script": "import sys\nfor i in range(3): print('grüße', i, flush=True)\nprint('oh', file=sys.stderr)\nresult = 7"}`, "Accept: text/event-stream")
	events := readEvents(t, string(a.body))
	d.documented(events)
	texts := map[string]string{}
	for _, e := range events {
		var piece string
		if json.Unmarshal([]byte(e.data), &piece) == nil {
			texts[e.name] += piece
		}
	}
	last := events[len(events)-1]
	if events[0].name != eventStarted || last.name != eventResult || !strings.Contains(last.data, `"result":7`) || texts[eventStdout] != "grüße 0\ngrüße 1\ngrüße 2\n" || texts[eventStderr] != "oh\n" {
		t.Errorf("%v", events)
	}
}

func TestRealDisconnect(t *testing.T) {
	recorder := make(runRecorder, 1)
	d := openReal(t, cordon.Options{}, func(so *service.Options, _ *Options) { so.Observers = []observe.Observer{recorder} })
	ctx, cancel := context.WithCancel(t.Context())
	request := d.request(http.MethodPost, "/v1/runs", `{"script": "print('on', flush=True)\nwhile True: pass"}`, "Accept: text/event-stream").WithContext(ctx)
	response, err := d.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	for lines := bufio.NewScanner(response.Body); lines.Scan() && lines.Text() != "event: stdout"; {
		continue // until it runs
	}
	cancel()
	select {
	case r := <-recorder:
		if r.Result.Outcome != run.Canceled {
			t.Errorf("%+v", r)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the guest runs on")
	}
}

func TestRealChecksAndHooks(t *testing.T) {
	d := openReal(t, cordon.Options{}, nil)
	var found Findings
	if a := d.ask(http.MethodPost, "/v1/checks", `{"script": "import os\nx = ().__class__"}`); a.status != http.StatusOK || json.Unmarshal(a.body, &found) != nil || len(found.Findings) != 2 || found.Findings[0].Line != 1 {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := d.ask(http.MethodPost, "/v1/checks", `{"script": "x = 1"}`); strings.TrimSpace(string(a.body)) != `{"findings":[]}` {
		t.Errorf("%s", a.body)
	}

	if a := d.ask(http.MethodPost, "/v1/hooks", `{"script": ""}`); a.status != http.StatusBadRequest || !strings.Contains(d.problem(a).Detail, "script: there is nothing to run") {
		t.Errorf("an empty hook: %d %s", a.status, a.body)
	}
	a := d.ask(http.MethodPost, "/v1/hooks", `{"script": "import os"}`)
	if p := d.problem(a); a.status != http.StatusUnprocessableEntity || len(p.Findings) != 1 || p.Class != run.Invalid {
		t.Errorf("%d %s", a.status, a.body)
	}
	open := func(script string) (at string) {
		t.Helper()
		a := d.ask(http.MethodPost, "/v1/hooks", `{"script": "`+script+`"}`)
		var opened Opened
		if err := json.Unmarshal(a.body, &opened); err != nil || a.status != http.StatusCreated || opened.ID == "" || a.header.Get("Location") != "/v1/hooks/"+opened.ID {
			t.Fatalf("%d %s", a.status, a.body)
		}
		return a.header.Get("Location")
	}
	hook := open("result['output'] = game_state['gold'] + 1")
	calls := hook + "/calls"
	if got := d.result(d.ask(http.MethodPost, calls, `{"game_state": {"gold": 1e2}, "mod_config": {}}`)); string(got.Value) != "101.0" {
		t.Errorf("%+v", got)
	}
	functions := open("def double(x): return 2 * x") + "/calls"
	a = d.ask(http.MethodPost, functions, `{"function": "double", "args": [21]}`, "Idempotency-Key: k")
	if got := d.result(a); string(got.Value) != "42" || a.header.Get(runIDHeader) == "" {
		t.Errorf("%+v", got)
	}
	if again := d.ask(http.MethodPost, functions, `{"function": "double", "args": [21]}`, "Idempotency-Key: k"); string(again.body) != string(a.body) || again.header.Get(replayedHeader) == "" {
		t.Errorf("%s", again.body)
	}
	if a := d.ask(http.MethodDelete, hook, ""); a.status != http.StatusNoContent {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := d.ask(http.MethodPost, calls, `{}`); a.status != http.StatusNotFound {
		t.Errorf("%d %s", a.status, a.body)
	}
}

func TestRealSessions(t *testing.T) {
	d := openReal(t, cordon.Options{}, nil)
	at := d.openSession(`{"limits": {"wall_time": "20s"}}`)
	step := func(script, more string) answer {
		t.Helper()
		text, err := json.Marshal(script)
		if err != nil {
			t.Fatal(err)
		}
		return d.ask(http.MethodPost, at+"/steps", `{"script": `+string(text)+more+`}`)
	}
	step("x = 41", "")
	a := step("print(x)\nresult = x + 1\nx", "")
	if got, s := d.result(a), d.stepped(a); string(got.Value) != "42" || got.Stdout != "41\n" || s.Number != 2 || !s.Survived || len(s.Display) != 1 || s.Display[0].Forms["text/plain"] != "41" || !s.Display[0].Value {
		t.Errorf("%s", a.body)
	}
	a = step("class Picture:\n    def _repr_png_(self): return b'\\x89PNG'\ndisplay(Picture())", "")
	if s := d.stepped(a); len(s.Display) != 1 || s.Display[0].Forms["image/png"] != "iVBORw==" || s.Display[0].Value {
		t.Errorf("%s", a.body)
	}
	a = step("while True: pass", `, "limits": {"wall_time": "300ms"}`)
	if got, s := d.result(a), d.stepped(a); got.Outcome != run.TimedOut || !s.Survived {
		t.Errorf("%s", a.body)
	}
	a = step("1/0", "")
	if got, s := d.result(a), d.stepped(a); got.Outcome != run.Raised || !s.Survived {
		t.Errorf("%s", a.body)
	}

	// Interrupted when it runs.
	response, err := d.client.Do(d.request(http.MethodPost, at+"/steps", `{"script": "print('on', flush=True)\nwhile True: pass"}`, "Accept: text/event-stream"))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var text strings.Builder
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		text.WriteString(lines.Text() + "\n")
		if lines.Text() == "event: stdout" {
			if a := d.ask(http.MethodPost, at+"/interrupt", ""); a.status != http.StatusNoContent {
				t.Errorf("%d %s", a.status, a.body)
			}
		}
	}
	events := readEvents(t, text.String())
	d.documented(events)
	if last := events[len(events)-1]; last.name != eventResult || !strings.Contains(last.data, `"outcome":"canceled"`) || !strings.Contains(last.data, `"survived":true`) {
		t.Errorf("%v", events)
	}

	a = step("import os\nresult = x\nos._exit(3)", "")
	if s := d.stepped(a); s.Survived || s.Number != 7 {
		t.Errorf("%s", a.body)
	}
	for _, r := range d.uses(at) {
		if a := d.do(r); a.status != http.StatusGone || !strings.Contains(d.problem(a).Detail, "a step ended it") {
			t.Errorf("%s %s: %d %s", r.Method, r.URL, a.status, a.body)
		}
	}
	at = d.openSession(`{"restricted": true}`)
	if a := step("import os", ""); d.result(a).Outcome != run.Refused || !d.stepped(a).Survived {
		t.Errorf("%s", a.body)
	}
	if a := d.ask(http.MethodPost, "/v1/sessions", `{"tier": "jail"}`); a.status != http.StatusBadRequest || !strings.Contains(d.problem(a).Detail, "has no sessions") {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := d.ask(http.MethodDelete, at, ""); a.status != http.StatusNoContent {
		t.Errorf("%d %s", a.status, a.body)
	}
}

func TestRealAsynchronousRuns(t *testing.T) {
	recorder := make(runRecorder, 10)
	d := openReal(t, cordon.Options{Concurrent: 1}, func(so *service.Options, _ *Options) { so.Observers = []observe.Observer{recorder} })
	if a := d.ask(http.MethodPost, "/v1/runs", `{"script": "pass", "limits": {"wall_time": "10h"}}`, async); a.status != http.StatusBadRequest || !strings.Contains(d.problem(a).Detail, "maximum") {
		t.Errorf("above the maximum: %d %s", a.status, a.body)
	}
	if r := <-recorder; run.ClassOf(r.Err) != run.Invalid {
		t.Errorf("the audit log would have %+v", r)
	}
	running := d.start(`{"script": "while True: pass", "limits": {"wall_time": "20s"}}`)
	canceled, next := d.start(`{"script": "pass"}`), d.start(`{"id": "r1", "script": "print('hi')\nresult = context['a'] + 1", "context": {"a": 41}}`)
	if got := d.find(next); got.State != "queued" {
		t.Errorf("%+v", got)
	}
	for _, at := range []string{canceled, running} {
		if a := d.ask(http.MethodDelete, at, ""); a.status != http.StatusNoContent {
			t.Errorf("%d %s", a.status, a.body)
		}
		if got := d.find(at, waiting); got.Outcome != run.Canceled || d.result(answer{status: http.StatusOK, body: got.Result}).Outcome != run.Canceled {
			t.Errorf("%+v", got)
		}
	}
	got := d.find(next, waiting)
	if result := d.result(answer{status: http.StatusOK, body: got.Result}); got.State != "done" || string(result.Value) != "42" || result.Stdout != "hi\n" || result.ID != "r1" {
		t.Errorf("%+v", got)
	}
	for _, want := range []struct {
		at      string
		outcome run.Outcome
	}{{canceled, ""}, {running, run.Canceled}, {next, run.Succeeded}} {
		if r := <-recorder; "/v1/runs/"+r.ID != want.at || r.Result.Outcome != want.outcome || r.Caller != "local" || r.Frontend != observe.HTTP {
			t.Errorf("the audit log would have %+v, want %+v", r, want)
		}
	}
}

// Asynchronous runs finish while the service drains, and a client that waits gets the Result.
func TestDrainOfAsynchronousRuns(t *testing.T) {
	d := openReal(t, cordon.Options{}, nil)
	at := d.start(`{"script": "import time\ntime.sleep(1)\nresult = 1"}`)
	waited := make(chan answer, 1)
	go func() { waited <- d.ask(http.MethodGet, at, "", waiting) }()
	if err := d.service.Drain(t.Context()); err != nil {
		t.Error(err)
	}
	if got := decoded[asyncRun](d, <-waited, http.StatusOK); got.Outcome != run.Succeeded {
		t.Errorf("%+v", got)
	}
}

// Runs under way finish; new requests are refused.
func TestDrain(t *testing.T) {
	d := openReal(t, cordon.Options{}, nil)
	response, err := d.client.Do(d.request(http.MethodPost, "/v1/runs", `{"script": "import time\ntime.sleep(1)\nresult = 1"}`, "Accept: text/event-stream"))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var drained sync.WaitGroup
	drained.Go(func() {
		if err := d.service.Drain(t.Context()); err != nil {
			t.Error(err)
		}
	})
	deadline := time.Now().Add(5 * time.Minute)
	for d.service.Ready() == nil && time.Now().Before(deadline) {
		<-time.After(time.Millisecond)
	}
	for _, r := range []*http.Request{
		d.request(http.MethodGet, "/readyz", ""),
		d.request(http.MethodPost, "/v1/runs", `{"script": "pass"}`),
		d.request(http.MethodPost, "/v1/runs", `{"script": "pass"}`, "Accept: text/event-stream"),
		d.request(http.MethodPost, "/v1/checks", `{"script": "pass"}`),
	} {
		if a := d.do(r); a.status != http.StatusServiceUnavailable || a.header.Get("Retry-After") == "" || d.problem(a).Class != run.Closed {
			t.Errorf("%s: %d %s", r.URL, a.status, a.body)
		}
	}
	if a := d.ask(http.MethodGet, "/healthz", ""); a.status != http.StatusOK {
		t.Errorf("%d %s", a.status, a.body)
	}
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Error(err)
	}
	if events := readEvents(t, string(text)); events[len(events)-1].name != eventResult {
		t.Errorf("%v", events)
	}
	drained.Wait()
}

// Any host name is allowed on a Unix socket, because no browser can open one.
func TestUnixSocket(t *testing.T) {
	d := open(t, &fake{run: echo}, nil)
	directory, err := os.MkdirTemp("", "cordon")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(directory) })
	path := filepath.Join(directory, "s")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	var served sync.WaitGroup
	served.Go(func() { _ = d.server.Serve(listener) })
	t.Cleanup(func() { listener.Close(); served.Wait() })
	d.client.Transport = &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}}
	if got := d.result(d.ask(http.MethodPost, "/v1/runs", `{"script": "x"}`, "Host: cordon")); string(got.Value) != `"x"` {
		t.Errorf("%+v", got)
	}
}
