package httpapi

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/internal/admission"
	"github.com/cordon-sandbox/cordon/internal/service"
	"github.com/cordon-sandbox/cordon/run"
)

type event struct{ name, data string }

func readEvents(t *testing.T, text string) (events []event) {
	t.Helper()
	for block := range strings.SplitSeq(strings.TrimSuffix(text, "\n\n"), "\n\n") {
		name, data, ok := strings.Cut(block, "\n")
		if !ok || !strings.HasPrefix(name, "event: ") || !strings.HasPrefix(data, "data: ") || strings.Contains(data, "\n") {
			t.Fatalf("%q is not an event", block)
		}
		events = append(events, event{strings.TrimPrefix(name, "event: "), strings.TrimPrefix(data, "data: ")})
	}
	return events
}

// documented validates a stream against the document.
func (d *frontend) documented(events []event) {
	d.t.Helper()
	var list []any
	for _, e := range events {
		list = append(list, map[string]any{"event": e.name, "data": json.RawMessage(e.data)})
	}
	text, err := json.Marshal(list)
	if err != nil {
		d.t.Fatal(err)
	}
	d.conforms(d.spec.Paths.Value("/v1/runs").Post.Responses.Value("200").Value.Content[eventsType].Schema.Value, text)
}

func TestStream(t *testing.T) {
	pieces := []string{"plain\n", "gr\xc3", "\xbc\xc3\x9fe ", "\xf0", "\x9f", "\x98", "\x80", " \xff bad ", "cut \xe2\x82"}
	d := open(t, &fake{run: func(_ context.Context, req run.Request) (run.Result, error) {
		for _, piece := range pieces {
			if _, err := req.Streams.Out.Write([]byte(piece)); err != nil {
				t.Error(err)
			}
		}
		if _, err := req.Streams.Err.Write([]byte("oh\r\n\ndear")); err != nil {
			t.Error(err)
		}
		return good("1"), nil
	}}, nil)
	a := d.ask(http.MethodPost, "/v1/runs", `{"script": "pass"}`, "Accept: text/event-stream, application/json;q=0.5")
	events := readEvents(t, string(a.body))
	d.documented(events)
	var order []string
	texts := map[string]string{}
	for _, e := range events {
		order = append(order, e.name)
		var piece string
		if json.Unmarshal([]byte(e.data), &piece) == nil {
			texts[e.name] += piece
		}
	}
	if got := strings.Join(order, " "); !strings.HasPrefix(got, "started stdout") || !strings.HasSuffix(got, " result") || strings.Contains(got, "error") {
		t.Errorf("order: %s", got)
	}
	if texts["stdout"] != "plain\ngrüße 😀 \ufffd bad cut \ufffd" && texts["stdout"] != "plain\ngrüße 😀 \ufffd bad cut \ufffd\ufffd" || texts["stderr"] != "oh\r\n\ndear" {
		t.Errorf("%q", texts)
	}
	if id := a.header.Get(runIDHeader); id == "" || events[0].data != `{"run_id":"`+id+`"}` {
		t.Errorf("%q is not in %s", id, events[0].data)
	}
}

// Before the request has its turn, a refusal is an HTTP status.
func TestStreamsThatNeverBegin(t *testing.T) {
	hold, held := make(chan struct{}), make(chan struct{})
	d := open(t, &fake{line: admission.NewLine(admission.Options{Concurrent: 1}), run: func(context.Context, run.Request) (run.Result, error) {
		close(held)
		<-hold
		return good("1"), nil
	}}, nil)
	first := make(chan answer)
	go func() { first <- d.ask(http.MethodPost, "/v1/runs", `{"script": "pass"}`, "Accept: text/event-stream") }()
	<-held
	if a := d.ask(http.MethodPost, "/v1/runs", `{"script": "pass"}`, "Accept: text/event-stream"); a.status != http.StatusTooManyRequests || a.header.Get("Retry-After") == "" {
		t.Errorf("%d: %s", a.status, a.body)
	}
	if a := d.ask(http.MethodPost, "/v1/runs", `{"script": ""}`, "Accept: text/event-stream"); a.status != http.StatusBadRequest {
		t.Errorf("%d: %s", a.status, a.body)
	}
	close(hold)
	if a := <-first; a.status != http.StatusOK {
		t.Errorf("%d: %s", a.status, a.body)
	}
}

func TestStreamShowsProgress(t *testing.T) {
	hold := make(chan struct{})
	d := open(t, &fake{run: func(context.Context, run.Request) (run.Result, error) {
		<-hold
		return good("1"), nil
	}}, nil)
	response, err := d.client.Do(d.request(http.MethodPost, "/v1/runs", `{"script": "pass"}`, "Accept: text/event-stream"))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var text strings.Builder
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		text.WriteString(lines.Text() + "\n")
		if lines.Text() == "event: progress" {
			close(hold) // it came while the guest ran
		}
	}
	events := readEvents(t, text.String())
	d.documented(events)
	if len(events) != 3 || events[1].name != eventProgress || events[2].name != eventResult {
		t.Errorf("%v", events)
	}
}

// The run of a client that does not read its events is canceled, and frees its turn.
func TestSlowReaderLosesItsRun(t *testing.T) {
	ended := make(chan struct{})
	d := open(t, &fake{line: admission.NewLine(admission.Options{Concurrent: 1, Queue: 1}), run: func(ctx context.Context, req run.Request) (run.Result, error) {
		if req.Streams.Out == nil {
			return good("1"), nil
		}
		piece := []byte(strings.Repeat("x", 32<<10))
		for ctx.Err() == nil {
			if _, err := req.Streams.Out.Write(piece); err != nil {
				break
			}
		}
		<-ctx.Done()
		close(ended)
		return canceled(), nil
	}}, func(_ *service.Options, o *Options) {
		o.WriteTimeout = 200 * time.Millisecond
	})
	_, r := d.raw(t, "POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: text/event-stream\r\nContent-Length: 18\r\n\r\n{\"script\": \"pass\"}")
	if line, err := r.ReadString('\n'); err != nil || !strings.Contains(line, "200") {
		t.Fatalf("%q, %v", line, err)
	}
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Fatal("the guest runs forever")
	}
	if a := d.ask(http.MethodPost, "/v1/runs", `{"script": "pass"}`); a.status != http.StatusOK {
		t.Errorf("the next one: %d %s", a.status, a.body)
	}
}

// A run is canceled when its client disconnects, with and without a stream.
func TestDisconnectCancels(t *testing.T) {
	for _, accept := range []string{jsonType, eventsType} {
		began, ended := make(chan struct{}), make(chan struct{})
		d := open(t, &fake{run: func(ctx context.Context, _ run.Request) (run.Result, error) {
			close(began)
			<-ctx.Done()
			close(ended)
			return canceled(), nil
		}}, nil)
		conn, _ := d.raw(t, "POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: "+accept+"\r\nContent-Length: 18\r\n\r\n{\"script\": \"pass\"}")
		<-began
		conn.Close()
		select {
		case <-ended:
		case <-time.After(20 * time.Second):
			t.Fatalf("%s: the run goes on without a client", accept)
		}
	}
}

func TestPartialCharacters(t *testing.T) {
	for text, want := range map[string]int{"": 0, "a": 0, "ü": 0, "a\xc3": 1, "\xe2\x82": 2, "\xf0\x9f\x98": 3, "\xf0\x9f\x98\x80": 0, "\xff": 0, "\x80\x80\x80\x80": 0, "a\x80": 0} {
		if got := partial([]byte(text)); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}
