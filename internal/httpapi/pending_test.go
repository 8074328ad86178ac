package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cordon-sandbox/cordon/internal/admission"
	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/internal/service"
	"github.com/cordon-sandbox/cordon/internal/token"
	"github.com/cordon-sandbox/cordon/run"
)

// gate is a guest that runs until the test lets it go on, or it is canceled.
type gate chan struct{}

func (g gate) run(ctx context.Context, req run.Request) (run.Result, error) {
	select {
	case <-g:
		return echo(ctx, req)
	case <-ctx.Done():
		return canceled(), nil
	}
}

const async = "Prefer: respond-async"

// asyncRun is a RunInfo as a client reads it.
type asyncRun struct {
	Run, ID, State         string
	Accepted, Began, Ended time.Time
	Outcome                run.Outcome
	Problem                *Problem
	Result                 json.RawMessage
}

// decoded decodes an answer with this status.
func decoded[T any](d *frontend, a answer, status int) (v T) {
	d.t.Helper()
	if err := json.Unmarshal(a.body, &v); err != nil || a.status != status {
		d.t.Fatalf("%d, want %d: %v in %s", a.status, status, err, a.body)
	}
	return v
}

// start starts an asynchronous run and returns its path.
func (d *frontend) start(body string, headers ...string) (at string) {
	d.t.Helper()
	a := d.ask(http.MethodPost, "/v1/runs", body, append([]string{async}, headers...)...)
	got := decoded[asyncRun](d, a, http.StatusAccepted)
	if at = a.header.Get("Location"); at != "/v1/runs/"+got.Run || got.Run == "" || a.header.Get(runIDHeader) != got.Run || a.header.Get(appliedHeader) != respondAsync || got.Accepted.IsZero() || got.Result != nil {
		d.t.Fatalf("%v %s", a.header, a.body)
	}
	return at
}

// find describes a run, and waits for it first if the headers say so.
func (d *frontend) find(at string, headers ...string) asyncRun {
	d.t.Helper()
	return decoded[asyncRun](d, d.ask(http.MethodGet, at, "", headers...), http.StatusOK)
}

const waiting = "Prefer: wait=60"

func TestAsynchronousRuns(t *testing.T) {
	goOn := make(gate)
	d := open(t, &fake{line: admission.NewLine(admission.Options{Concurrent: 1, Queue: 1}), run: goOn.run}, nil)
	if a := d.ask(http.MethodGet, "/v1/runs", ""); strings.TrimSpace(string(a.body)) != `{"runs":[]}` {
		t.Errorf("%d %s", a.status, a.body)
	}
	first := d.start(`{"id": "r1", "script": "one"}`)
	second := d.start(`{"script": "two"}`)
	if got := d.find(first); got.State != "running" || got.ID != "r1" || got.Began.IsZero() || !got.Ended.IsZero() || got.Outcome != "" || got.Result != nil {
		t.Errorf("%+v", got)
	}
	if got := d.find(second); got.State != "queued" || got.ID != "" || !got.Began.IsZero() || got.Result != nil {
		t.Errorf("%+v", got)
	}
	if a := d.ask(http.MethodPost, "/v1/runs", `{"script": "three"}`, async); a.status != http.StatusTooManyRequests || a.header.Get("Retry-After") == "" || a.header.Get("Location") != "" {
		t.Errorf("the queue is full: %d %v %s", a.status, a.header, a.body)
	}
	for _, at := range []string{first, second} {
		goOn <- struct{}{}
		if got := d.find(at, waiting); got.State != "done" || got.Outcome != run.Succeeded || got.Ended.Before(got.Began) || got.Problem != nil {
			t.Errorf("%+v", got)
		}
	}
	// The Result is the same as in the answer to a request that waits.
	a := answer{status: http.StatusOK, body: d.find(first).Result}
	if got := d.result(a); got.ID != "r1" || string(got.Value) != `"one"` {
		t.Errorf("%s", a.body)
	}
	list := decoded[struct{ Runs []asyncRun }](d, d.ask(http.MethodGet, "/v1/runs", ""), http.StatusOK).Runs
	if len(list) != 2 || "/v1/runs/"+list[0].Run != first || "/v1/runs/"+list[1].Run != second || list[0].ID != "r1" || list[1].State != "done" || list[0].Outcome != run.Succeeded || list[0].Result != nil {
		t.Errorf("%+v", list)
	}
	if a := d.ask(http.MethodHead, first, ""); a.status != http.StatusOK || len(a.body) != 0 {
		t.Errorf("HEAD: %d %s", a.status, a.body)
	}
	if a := d.ask(http.MethodDelete, first, ""); a.status != http.StatusNoContent {
		t.Errorf("%d %s", a.status, a.body)
	}
	for _, method := range []string{http.MethodGet, http.MethodDelete} {
		if a := d.ask(method, first, ""); a.status != http.StatusNotFound {
			t.Errorf("%s: %d %s", method, a.status, a.body)
		}
	}
}

// A request may wait for its asynchronous run: the answer is the usual one if the run is done
// by then.
func TestAsynchronousRunsThatAreAwaited(t *testing.T) {
	goOn := make(gate)
	d := open(t, &fake{run: func(ctx context.Context, req run.Request) (run.Result, error) {
		switch req.Script.Source {
		case "fail":
			return run.Result{}, run.Errorf(run.Unsupported, "not on this host")
		case "hold":
			return goOn.run(ctx, req)
		}
		return echo(ctx, req)
	}}, nil)
	a := d.ask(http.MethodPost, "/v1/runs", `{"script": "x"}`, "Prefer: respond-async, wait=60")
	if got := d.result(a); string(got.Value) != `"x"` || a.header.Get("Location") != "" || a.header.Get(appliedHeader) != "" {
		t.Errorf("%v %s", a.header, a.body)
	}
	if got := d.find("/v1/runs/" + a.header.Get(runIDHeader)); got.State != "done" {
		t.Errorf("%+v", got)
	}
	a = d.ask(http.MethodPost, "/v1/runs", `{"script": "fail"}`, "Prefer: respond-async, wait=60")
	if p := d.problem(a); a.status != http.StatusNotImplemented || p.Detail != "not on this host" {
		t.Errorf("%d %s", a.status, a.body)
	}
	if got := d.find("/v1/runs/" + a.header.Get(runIDHeader)); got.State != "done" || got.Problem == nil || got.Problem.Status != http.StatusNotImplemented || got.Problem.Detail != "not on this host" || got.Result != nil || got.Outcome != "" {
		t.Errorf("%+v", got)
	}
	began := time.Now()
	at := d.start(`{"script": "hold"}`, "Prefer: respond-async; foo, wait=1")
	if took := time.Since(began); took < time.Second {
		t.Errorf("the request waited %v", took)
	}
	if got := d.find(at, "Prefer: wait=1"); got.State != "running" || time.Since(began) < 2*time.Second {
		t.Errorf("%+v after %v", got, time.Since(began))
	}
	// Without respond-async there is no asynchronous run, and wait means nothing.
	go func() { goOn <- struct{}{}; goOn <- struct{}{} }()
	if a := d.ask(http.MethodPost, "/v1/runs", `{"script": "hold"}`, "Prefer: wait=0"); a.status != http.StatusOK {
		t.Errorf("%d %s", a.status, a.body)
	}
	d.find(at, waiting)
	if list := decoded[struct{ Runs []asyncRun }](d, d.ask(http.MethodGet, "/v1/runs", ""), http.StatusOK).Runs; len(list) != 3 {
		t.Errorf("%+v", list)
	}
}

// A failure of cordon is a problem of the run. The log has what the answer must not show.
func TestAsynchronousRunsThatFail(t *testing.T) {
	d := open(t, &fake{run: func(context.Context, run.Request) (run.Result, error) {
		return run.Result{}, errors.New("a secret of the host")
	}}, nil)
	at := d.start(`{"script": "x"}`)
	if got := d.find(at, waiting); got.Problem == nil || got.Problem.Status != http.StatusInternalServerError || strings.Contains(got.Problem.Detail, "secret") {
		t.Errorf("%+v", got)
	}
	hosttest.Eventually(t, "the log has the error", func() bool {
		return strings.Contains(d.log.String(), "a secret of the host") && strings.Contains(d.log.String(), strings.TrimPrefix(at, "/v1/runs/"))
	})
}

// The run of another token does not exist.
func TestAsynchronousRunsOfOthersAreUnknown(t *testing.T) {
	goOn := make(gate)
	d := open(t, &fake{run: goOn.run}, func(_ *service.Options, o *Options) {
		o.Tokens = tokens{"a": {Name: "alice"}, "b": {Name: "bob"}}
	})
	const alice, bob = "Authorization: Bearer a", "Authorization: Bearer b"
	at := d.start(`{"script": "x"}`, alice)
	for _, done := range []bool{false, true} {
		if done {
			goOn <- struct{}{}
			d.find(at, alice, waiting)
		}
		for _, method := range []string{http.MethodGet, http.MethodDelete} {
			if a := d.ask(method, at, "", bob, waiting); a.status != http.StatusNotFound || d.problem(a).Class != run.Unknown {
				t.Errorf("%s: %d %s", method, a.status, a.body)
			}
			if a := d.ask(method, at, ""); a.status != http.StatusUnauthorized {
				t.Errorf("%s without a token: %d %s", method, a.status, a.body)
			}
		}
		if a := d.ask(http.MethodGet, "/v1/runs", "", bob); strings.TrimSpace(string(a.body)) != `{"runs":[]}` {
			t.Errorf("%s", a.body)
		}
	}
	if got := d.find(at, alice); got.Outcome != run.Succeeded {
		t.Errorf("bob canceled it: %+v", got)
	}
}

func TestCancelAsynchronousRuns(t *testing.T) {
	d := open(t, &fake{line: admission.NewLine(admission.Options{Concurrent: 1, Queue: 1}), run: make(gate).run}, nil)
	running, queued := d.start(`{"script": "x"}`), d.start(`{"id": "q", "script": "x"}`)
	for _, at := range []string{queued, running} {
		if a := d.ask(http.MethodDelete, at, ""); a.status != http.StatusNoContent {
			t.Errorf("%d %s", a.status, a.body)
		}
		got := d.find(at, waiting)
		if result := d.result(answer{status: http.StatusOK, body: got.Result}); got.State != "done" || got.Outcome != run.Canceled || result.Outcome != run.Canceled || result.Status != run.StatusError {
			t.Errorf("%+v", got)
		}
		if a := d.ask(http.MethodDelete, at, ""); a.status != http.StatusNoContent {
			t.Errorf("%d %s", a.status, a.body)
		}
		if a := d.ask(http.MethodGet, at, ""); a.status != http.StatusNotFound {
			t.Errorf("%d %s", a.status, a.body)
		}
	}
}

// The Results of a caller are bounded, also by their size.
func TestLargeResultsReplaceOlderOnes(t *testing.T) {
	d := open(t, &fake{run: largeAnswers}, nil)
	var all []string
	for range 7 {
		at := d.start(`{"script": "x"}`)
		_, answer, err := d.service.AwaitRun(t.Context(), token.Local, strings.TrimPrefix(at, "/v1/runs/"))
		if err != nil {
			t.Fatal(err)
		}
		answer.Sent()
		all = append(all, at)
	}
	a := d.ask(http.MethodGet, all[0], "")
	if p := d.problem(a); a.status != http.StatusGone || p.Class != run.Gone || !strings.Contains(p.Detail, "newer ones") {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := d.fetch(d.request(http.MethodGet, all[1], "")); a.status != http.StatusOK || len(a.body) < unreadSize || !json.Valid(a.body) {
		t.Errorf("%d, %d bytes", a.status, len(a.body))
	}
	d.untilNothingIsUnsent(t)
}

// A run goes on when its client disconnects, during the request or after the answer.
func TestAsynchronousRunsOutliveTheirClients(t *testing.T) {
	goOn := make(gate)
	d := open(t, &fake{run: goOn.run}, nil)
	const request = "POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nPrefer: respond-async%s\r\nContent-Length: 18\r\n\r\n{\"script\": \"pass\"}"
	one, r := d.raw(t, fmt.Sprintf(request, ""))
	if status := statusOf(t, r); status != http.StatusAccepted {
		t.Errorf("status %d", status)
	}
	two, _ := d.raw(t, fmt.Sprintf(request, ", wait=60"))
	list := func() []asyncRun {
		return decoded[struct{ Runs []asyncRun }](d, d.ask(http.MethodGet, "/v1/runs", ""), http.StatusOK).Runs
	}
	hosttest.Eventually(t, "both run", func() bool { return len(list()) == 2 })
	one.Close()
	two.Close()
	goOn <- struct{}{}
	goOn <- struct{}{}
	for _, got := range list() {
		if got := d.find("/v1/runs/"+got.Run, waiting); got.Outcome != run.Succeeded {
			t.Errorf("%+v", got)
		}
	}
}

// The memory of a body is counted until its run has ended.
func TestBodiesOfAsynchronousRuns(t *testing.T) {
	goOn := make(gate)
	d := open(t, &fake{run: goOn.run}, nil)
	body := `{"script": "` + strings.Repeat("x", 100_000) + `"}`
	key := "Idempotency-Key: k"
	at := d.start(body, key)
	d.start(body, key)
	if a := d.ask(http.MethodPost, "/v1/runs", `{"script": " "}`, async); a.status != http.StatusBadRequest {
		t.Errorf("%d %s", a.status, a.body)
	}
	hosttest.Eventually(t, "one body is in memory", func() bool { return d.api.bodies.used.Load() == int64(len(body)) })
	goOn <- struct{}{}
	d.find(at, waiting)
	hosttest.Eventually(t, "no body is in memory", func() bool { return d.api.bodies.used.Load() == 0 })
}

// Asynchronous runs end with the service, and new ones are refused.
func TestAsynchronousRunsEndWithTheService(t *testing.T) {
	d := open(t, &fake{line: admission.NewLine(admission.Options{Concurrent: 1, Queue: 1}), run: make(gate).run}, nil)
	all := []string{d.start(`{"script": "x"}`), d.start(`{"script": "x"}`)}
	waited := make(chan answer, 1)
	go func() { waited <- d.ask(http.MethodGet, all[0], "", waiting) }()
	if err := d.service.Close(); err != nil {
		t.Error(err)
	}
	for _, a := range []answer{<-waited, d.ask(http.MethodGet, all[0], ""), d.ask(http.MethodGet, all[1], "")} {
		if got := decoded[asyncRun](d, a, http.StatusOK); got.State != "done" || got.Problem == nil || got.Problem.Status != http.StatusServiceUnavailable || got.Problem.Class != run.Closed {
			t.Errorf("%s", a.body)
		}
	}
	if a := d.ask(http.MethodPost, "/v1/runs", `{"script": "x"}`, async); a.status != http.StatusServiceUnavailable || a.header.Get("Retry-After") == "" {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// The same key and body is the same run, while it is known.
func TestKeysOfAsynchronousRuns(t *testing.T) {
	var runs atomic.Int32
	goOn := make(gate)
	d := open(t, &fake{run: func(ctx context.Context, req run.Request) (run.Result, error) {
		runs.Add(1)
		if req.Script.Source == "fail" {
			return run.Result{}, run.Errorf(run.Unsupported, "no")
		}
		return goOn.run(ctx, req)
	}}, nil)
	const key = "Idempotency-Key: k"
	post := func(body string, headers ...string) answer {
		t.Helper()
		return d.ask(http.MethodPost, "/v1/runs", body, headers...)
	}
	at := d.start(`{"script": "x"}`, key)
	for _, done := range []bool{false, true} {
		if done {
			goOn <- struct{}{}
			d.find(at, waiting)
		}
		a := post(`{"script": "x"}`, async, key)
		if got := decoded[asyncRun](d, a, http.StatusAccepted); "/v1/runs/"+got.Run != at || a.header.Get(replayedHeader) != "true" || a.header.Get(runIDHeader) != got.Run || (got.State == "done") != done {
			t.Errorf("%v %s", a.header, a.body)
		}
		for name, a := range map[string]answer{
			"another body": post(`{"script": "y"}`, async, key), "one that waits": post(`{"script": "x"}`, key),
		} {
			if a.status != http.StatusUnprocessableEntity {
				t.Errorf("%s: %d %s", name, a.status, a.body)
			}
		}
	}
	a := post(`{"script": "x"}`, "Prefer: respond-async, wait=60", key)
	if got := d.result(a); string(got.Value) != `"x"` || a.header.Get(replayedHeader) != "true" || runs.Load() != 1 {
		t.Errorf("%d runs; %s", runs.Load(), a.body)
	}
	d.ask(http.MethodDelete, at, "")
	again := d.start(`{"script": "x"}`, key)
	hosttest.Eventually(t, "it runs again", func() bool { return runs.Load() == 2 })
	if again == at {
		t.Errorf("%s is forgotten", at)
	}
	// A canceled run is known. One that failed is not kept by its key.
	d.ask(http.MethodDelete, again, "")
	d.find(again, waiting)
	if got := d.start(`{"script": "x"}`, key); got != again {
		t.Errorf("%s, want %s", got, again)
	}
	const other = "Idempotency-Key: other"
	failed := d.start(`{"script": "fail"}`, other)
	d.find(failed, waiting)
	hosttest.Eventually(t, "the next one runs", func() bool { return d.start(`{"script": "fail"}`, other) != failed })
}

// hammer: of many concurrent requests with the same key, one is run.
func TestKeysOfAsynchronousRunsHammer(t *testing.T) {
	var runs atomic.Int32
	d := open(t, &fake{run: func(ctx context.Context, req run.Request) (run.Result, error) {
		runs.Add(1)
		return echo(ctx, req)
	}}, nil)
	const keys, each = 20, 10
	var ids sync.Map
	var all sync.WaitGroup
	for i := range keys * each {
		all.Go(func() {
			key := fmt.Sprint("key-", i%keys)
			a := d.fetch(d.request(http.MethodPost, "/v1/runs", `{"script": "`+key+`"}`, async, "Idempotency-Key: "+key))
			id := a.header.Get(runIDHeader)
			if first, known := ids.LoadOrStore(key, id); a.status != http.StatusAccepted || known && first != id {
				t.Errorf("%s: %d, %v and %v", key, a.status, first, id)
			}
		})
	}
	all.Wait()
	hosttest.Eventually(t, "all have run", func() bool { return runs.Load() >= keys })
	if got := runs.Load(); got != keys {
		t.Errorf("%d runs for %d keys", got, keys)
	}
}

// A key is known as long as its run, however long that takes.
func TestKeyLastsAsLongAsItsRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		goOn := make(gate)
		s := service.New(service.Options{Runner: &fake{line: admission.NewLine(admission.Options{Concurrent: 2}), run: goOn.run}})
		h, err := New(Options{Service: s})
		if err != nil {
			t.Fatal(err)
		}
		at := newPipes()
		server := NewServer(h, nil)
		wait := serve(t, server, at)
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(context.Context, string, string) (net.Conn, error) { return at.dial(), nil }}}
		ask := func() (id string) {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost/v1/runs", strings.NewReader(`{"script": "x"}`))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", jsonType)
			r.Header.Set(preferHeader, respondAsync)
			r.Header.Set(keyHeader, "k")
			response, err := client.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			if body, err := io.ReadAll(response.Body); err != nil || response.StatusCode != http.StatusAccepted {
				t.Fatalf("%d %s, %v", response.StatusCode, body, err)
			}
			return response.Header.Get(runIDHeader)
		}
		id := ask()
		same := func(want bool, when string) {
			t.Helper()
			if got := ask(); (got == id) != want {
				t.Errorf("%s: %s and %s", when, id, got)
			}
		}
		<-time.After(time.Hour)
		same(true, "while it runs")
		goOn <- struct{}{}
		<-time.After(10*time.Minute - time.Second)
		same(true, "while its Result is kept")
		<-time.After(2 * time.Second)
		same(false, "afterwards")
		if err := errors.Join(s.Close(), server.Close()); err != nil {
			t.Error(err)
		}
		wait()
	})
}

// hammer: many clients start, await, list, cancel and forget runs. Each Result belongs to its
// request, and nothing is left.
func TestAsynchronousRunsHammer(t *testing.T) {
	const clients, each = 16, 12
	d := open(t, &fake{line: admission.NewLine(admission.Options{Concurrent: 4, Queue: 1024}), run: func(ctx context.Context, req run.Request) (run.Result, error) {
		if strings.HasPrefix(req.Script.Source, "forever") {
			<-ctx.Done()
			return canceled(), nil
		}
		return echo(ctx, req)
	}}, func(_ *service.Options, o *Options) {
		o.Tokens = tokens{"0": {Name: "zero"}, "1": {Name: "one"}, "2": {Name: "two"}, "3": {Name: "three"}}
	})
	ask := func(method, path, body, secret string, headers ...string) answer {
		return d.fetch(d.request(method, path, body, append(headers, "Authorization: Bearer "+secret)...))
	}
	var all sync.WaitGroup
	for i := range clients {
		all.Go(func() {
			secret := strconv.Itoa(i % 4)
			for n := range each {
				script, cancels := fmt.Sprintf("%d-%d", i, n), n%3 == 0
				if cancels {
					script = "forever " + script
				}
				a := ask(http.MethodPost, "/v1/runs", `{"script": "`+script+`"}`, secret, async)
				at := a.header.Get("Location")
				if a.status != http.StatusAccepted {
					t.Errorf("%d %s", a.status, a.body)
					return
				}
				if cancels {
					ask(http.MethodDelete, at, "", secret)
				}
				var got asyncRun
				if a = ask(http.MethodGet, at, "", secret, waiting); a.status != http.StatusOK || json.Unmarshal(a.body, &got) != nil || got.State != "done" {
					t.Errorf("%d %s", a.status, a.body)
					return
				}
				result := d.result(answer{status: http.StatusOK, body: got.Result})
				if cancels && result.Outcome != run.Canceled || !cancels && string(result.Value) != `"`+script+`"` {
					t.Errorf("%s: %s", script, a.body)
				}
				if a := ask(http.MethodGet, "/v1/runs", "", secret); a.status != http.StatusOK || !json.Valid(a.body) {
					t.Errorf("%d %s", a.status, a.body)
				}
				if a := ask(http.MethodDelete, at, "", secret); a.status != http.StatusNoContent {
					t.Errorf("%d %s", a.status, a.body)
				}
			}
		})
	}
	all.Wait()
	for i := range 4 {
		if a := ask(http.MethodGet, "/v1/runs", "", strconv.Itoa(i)); strings.TrimSpace(string(a.body)) != `{"runs":[]}` {
			t.Errorf("%s", a.body)
		}
	}
	d.untilNothingIsUnsent(t)
	if waiting, running := d.service.Queue(); waiting+running != 0 || d.api.bodies.used.Load() != 0 {
		t.Errorf("%d wait, %d run, %d bytes of bodies", waiting, running, d.api.bodies.used.Load())
	}
}

func TestPreferences(t *testing.T) {
	for _, test := range []struct {
		headers []string
		want    preferences
	}{
		{nil, preferences{}},
		{[]string{""}, preferences{}},
		{[]string{"respond-async"}, preferences{async: true}},
		{[]string{"Respond-Async ; x=y , WAIT = 5"}, preferences{true, 5 * time.Second}},
		{[]string{"return=minimal", "wait=10, respond-async"}, preferences{true, 10 * time.Second}},
		{[]string{"respond-async, wait=61"}, preferences{true, time.Minute}},
		{[]string{"respond-async, wait=99999999999999999999"}, preferences{true, time.Minute}},
		{[]string{"wait=5, wait=6"}, preferences{wait: 5 * time.Second}},
		{[]string{"wait=x, wait=6"}, preferences{}},
		{[]string{"wait=-1"}, preferences{}},
		{[]string{"wait=1.5"}, preferences{}},
		{[]string{"wait"}, preferences{}},
		{[]string{"respond-asynchronously, await=5"}, preferences{}},
		{[]string{`x="a, respond-async, b", y="\", wait=5"`}, preferences{}},
		{[]string{`x="a, respond-async`}, preferences{}},
	} {
		r := &http.Request{Header: http.Header{preferHeader: test.headers}}
		if got := preferencesOf(r); got != test.want {
			t.Errorf("%q: %+v, want %+v", test.headers, got, test.want)
		}
	}
}
