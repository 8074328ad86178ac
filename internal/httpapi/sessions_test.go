package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/admission"
	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/internal/service"
	"github.com/cordon-sandbox/cordon/run"
)

// countedSession is a session that counts its steps. A step with the script "wait" runs until
// it is interrupted, and one with the script "exit" ends the session.
type countedSession struct {
	run.SessionOptions
	line          *admission.Line
	waiting       chan struct{} // gets one when a step waits
	interrupts    chan struct{}
	steps, closed atomic.Int64
}

func (s *countedSession) Run(ctx context.Context, req run.Request) (run.Result, error) {
	if err := req.Validate(); err != nil {
		return run.Result{}, err
	}
	turn, err := s.line.Enter(ctx, nil)
	if err != nil {
		return run.Result{}, err
	}
	defer turn.Leave()
	result := good("1")
	switch req.Script.Source {
	case "wait":
		s.waiting <- struct{}{}
		select {
		case <-s.interrupts:
		case <-ctx.Done():
		}
		result = canceled()
	case "exit":
		result.Status, result.Outcome, result.ErrorType = run.StatusError, run.OutOfMemory, run.OutOfMemory.ErrorType()
		result.Error = "out of memory"
	}
	result.ID = req.ID
	result.Step = &run.Step{Number: int(s.steps.Add(1)), Survived: req.Script.Source != "exit", Display: []run.Display{
		{Forms: map[string]string{"text/plain": "<Picture>", "image/png": "iVBORw0="}, Value: true},
	}}
	return result, nil
}

func (s *countedSession) Files() (run.Files, error) {
	return nil, run.Errorf(run.Unsupported, "no files")
}

func (s *countedSession) Variables(context.Context) ([]run.Variable, int, error) {
	return []run.Variable{{Name: "x", Type: "int", Size: 28, Text: "1"}}, 0, nil
}

func (s *countedSession) Interrupt() {
	select {
	case s.interrupts <- struct{}{}:
	default:
	}
}

func (s *countedSession) Close() error {
	s.closed.Add(1)
	s.Interrupt()
	return nil
}

// openSessions starts a server with fake sessions, of which it returns the list.
func openSessions(t *testing.T, change func(*service.Options, *Options)) (*frontend, *[]*countedSession) {
	t.Helper()
	var made []*countedSession
	runner := &fake{}
	return open(t, runner, func(so *service.Options, o *Options) {
		so.OpenSession = func(_ context.Context, options run.SessionOptions) (service.Session, error) {
			made = append(made, &countedSession{SessionOptions: options, line: runner.line, waiting: make(chan struct{}, 1), interrupts: make(chan struct{}, 1)})
			return made[len(made)-1], nil
		}
		if change != nil {
			change(so, o)
		}
	}), &made
}

// openSession opens a session and returns its path.
func (d *frontend) openSession(body string, headers ...string) (at string) {
	d.t.Helper()
	a := d.ask(http.MethodPost, "/v1/sessions", body, headers...)
	var opened OpenedSession
	if err := json.Unmarshal(a.body, &opened); err != nil || a.status != http.StatusCreated || opened.ID == "" || a.header.Get("Location") != "/v1/sessions/"+opened.ID {
		d.t.Fatalf("%d %v %s", a.status, a.header, a.body)
	}
	return a.header.Get("Location")
}

// stepped decodes the step of a Result.
func (d *frontend) stepped(a answer) run.Step {
	d.t.Helper()
	d.result(a)
	var result struct{ Step *run.Step }
	if err := json.Unmarshal(a.body, &result); err != nil || result.Step == nil {
		d.t.Fatalf("%v in %s", err, a.body)
	}
	return *result.Step
}

func TestSessions(t *testing.T) {
	d, made := openSessions(t, nil)
	if a := d.ask(http.MethodGet, "/v1/sessions", ""); strings.TrimSpace(string(a.body)) != `{"sessions":[]}` {
		t.Errorf("%d %s", a.status, a.body)
	}
	at := d.openSession(`{"restricted": true, "trust": "third-party", "limits": {"memory": "64MiB"}}`)
	if o := (*made)[0].SessionOptions; !o.Restricted || o.Trust != "third-party" || o.Limits.Memory != 64<<20 {
		t.Errorf("%+v", o)
	}
	for want := 1; want <= 2; want++ {
		a := d.ask(http.MethodPost, at+"/steps", `{"id": "s", "script": "x"}`)
		got := d.stepped(a)
		if got.Number != want || !got.Survived || len(got.Display) != 1 || got.Display[0].Forms["image/png"] == "" || d.result(a).ID != "s" || a.header.Get(runIDHeader) == "" {
			t.Errorf("%s", a.body)
		}
	}
	var list SessionList
	var one service.SessionInfo
	all, described := d.ask(http.MethodGet, "/v1/sessions", ""), d.ask(http.MethodGet, at, "")
	if json.Unmarshal(all.body, &list) != nil || json.Unmarshal(described.body, &one) != nil || len(list.Sessions) != 1 || list.Sessions[0] != one || "/v1/sessions/"+one.ID != at || one.Busy {
		t.Errorf("%s and %s", all.body, described.body)
	}
	if a := d.ask(http.MethodPost, at+"/interrupt", ""); a.status != http.StatusNoContent {
		t.Errorf("nothing to interrupt: %d %s", a.status, a.body)
	}
	if a := d.ask(http.MethodDelete, at, ""); a.status != http.StatusNoContent || (*made)[0].closed.Load() != 1 {
		t.Errorf("%d %s", a.status, a.body)
	}
	for _, r := range d.uses(at) {
		if a := d.do(r); a.status != http.StatusNotFound {
			t.Errorf("%s %s: %d %s", r.Method, r.URL, a.status, a.body)
		}
	}
}

// uses returns a request of each kind for a session.
func (d *frontend) uses(at string, headers ...string) []*http.Request {
	d.t.Helper()
	return []*http.Request{
		d.request(http.MethodGet, at, "", headers...),
		d.request(http.MethodPost, at+"/steps", `{"script": "x"}`, headers...),
		d.request(http.MethodPost, at+"/steps", `{"script": "x"}`, append(headers, "Accept: text/event-stream")...),
		d.request(http.MethodPost, at+"/interrupt", "", headers...),
		d.request(http.MethodDelete, at, "", headers...),
	}
}

// The session of another token does not exist, whether it is open or has ended.
func TestSessionsOfOthersAreUnknown(t *testing.T) {
	d, made := openSessions(t, func(_ *service.Options, o *Options) {
		o.Tokens = tokens{"a": {Name: "alice"}, "b": {Name: "bob"}}
	})
	const alice, bob = "Authorization: Bearer a", "Authorization: Bearer b"
	at := d.openSession(`{}`, alice)
	for _, ended := range []bool{false, true} {
		if ended {
			d.ask(http.MethodPost, at+"/steps", `{"script": "exit"}`, alice)
		}
		for _, r := range d.uses(at, bob) {
			if a := d.do(r); a.status != http.StatusNotFound || d.problem(a).Class != run.Unknown {
				t.Errorf("%s %s: %d %s", r.Method, r.URL, a.status, a.body)
			}
		}
		if a := d.ask(http.MethodGet, "/v1/sessions", "", bob); strings.TrimSpace(string(a.body)) != `{"sessions":[]}` {
			t.Errorf("%s", a.body)
		}
	}
	if n := (*made)[0].steps.Load(); n != 1 {
		t.Errorf("%d steps", n)
	}
	for _, r := range d.uses(at) {
		if a := d.do(r); a.status != http.StatusUnauthorized {
			t.Errorf("%s %s without a token: %d", r.Method, r.URL, a.status)
		}
	}
}

// A session that has ended is gone, with the reason.
func TestEndedSessionsAreGone(t *testing.T) {
	d, made := openSessions(t, nil)
	at := d.openSession(`{}`)
	if got := d.stepped(d.ask(http.MethodPost, at+"/steps", `{"script": "exit"}`)); got.Survived {
		t.Errorf("%+v", got)
	}
	for _, r := range d.uses(at) {
		a := d.do(r)
		if p := d.problem(a); a.status != http.StatusGone || p.Class != run.Gone || !strings.Contains(p.Detail, "out of memory") {
			t.Errorf("%s %s: %d %s", r.Method, r.URL, a.status, a.body)
		}
	}
	if n := (*made)[0].closed.Load(); n != 1 {
		t.Errorf("closed %d times", n)
	}
}

func TestInterrupt(t *testing.T) {
	d, made := openSessions(t, nil)
	at := d.openSession(`{}`)
	for _, accept := range []string{jsonType, eventsType} {
		waited := make(chan answer, 1)
		go func() { waited <- d.ask(http.MethodPost, at+"/steps", `{"script": "wait"}`, "Accept: "+accept) }()
		<-(*made)[0].waiting
		if a := d.ask(http.MethodGet, at, ""); !strings.Contains(string(a.body), `"busy":true`) {
			t.Errorf("%d %s", a.status, a.body)
		}
		if a := d.ask(http.MethodPost, at+"/interrupt", ""); a.status != http.StatusNoContent {
			t.Errorf("%d %s", a.status, a.body)
		}
		if a := <-waited; a.status != http.StatusOK || !strings.Contains(string(a.body), `"outcome":"canceled"`) {
			t.Errorf("%d %s", a.status, a.body)
		}
	}
	if a := d.ask(http.MethodPost, at+"/steps", `{"script": "x"}`); d.stepped(a).Number != 3 {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// The same key with the same body runs one step, and the same body for another session is
// another request.
func TestKeysOfSteps(t *testing.T) {
	d, made := openSessions(t, nil)
	first, second := d.openSession(`{}`)+"/steps", d.openSession(`{}`)+"/steps"
	a := d.ask(http.MethodPost, first, `{"script": "x"}`, "Idempotency-Key: k")
	again := d.ask(http.MethodPost, first, `{"script": "x"}`, "Idempotency-Key: k")
	if a.status != http.StatusOK || string(again.body) != string(a.body) || again.header.Get(replayedHeader) != "true" {
		t.Errorf("%s and %s", a.body, again.body)
	}
	if a := d.ask(http.MethodPost, second, `{"script": "x"}`, "Idempotency-Key: k"); a.status != http.StatusUnprocessableEntity {
		t.Errorf("%d %s", a.status, a.body)
	}
	if one, other := (*made)[0].steps.Load(), (*made)[1].steps.Load(); one != 1 || other != 0 {
		t.Errorf("%d and %d steps", one, other)
	}
}

// A client that disconnects during a step loses the step and keeps the session.
func TestSessionOutlivesItsClient(t *testing.T) {
	for _, accept := range []string{jsonType, eventsType} {
		d, made := openSessions(t, nil)
		at := d.openSession(`{}`)
		conn, _ := d.raw(t, "POST "+at+"/steps HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: "+accept+"\r\nContent-Length: 18\r\n\r\n{\"script\": \"wait\"}")
		<-(*made)[0].waiting
		conn.Close()
		hosttest.Eventually(t, "the step ends", func() bool { return (*made)[0].steps.Load() == 1 })
		if a := d.ask(http.MethodPost, at+"/steps", `{"script": "x"}`); d.stepped(a).Number != 2 {
			t.Errorf("%d %s", a.status, a.body)
		}
	}
}

// A client that disconnects before the session is open does not learn its id and cannot close
// it, so the service closes the session.
func TestSessionOfLostClientIsClosed(t *testing.T) {
	began, session := make(chan struct{}), &countedSession{}
	d := open(t, &fake{}, func(so *service.Options, _ *Options) {
		so.OpenSession = func(ctx context.Context, _ run.SessionOptions) (service.Session, error) {
			close(began)
			<-ctx.Done()
			return session, nil // it was too late to stop
		}
	})
	conn, _ := d.raw(t, "POST /v1/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
	<-began
	conn.Close()
	hosttest.Eventually(t, "the session is closed", func() bool { return session.closed.Load() == 1 })
	if n := d.service.OpenSessions(); n != 0 {
		t.Errorf("%d are open", n)
	}
}

// What a step displayed counts against the budget of unread answers and the bound of the
// answers that are kept by key.
func TestDisplaysAreCounted(t *testing.T) {
	result := run.Result{Step: &run.Step{Display: []run.Display{{Forms: map[string]string{"image/png": strings.Repeat("x", 20_000)}}}}}
	if size := sizeOf("k", given{Answer: service.Answer{Result: result}}); size < 20_000 {
		t.Errorf("an answer has %d bytes", size)
	}
}
