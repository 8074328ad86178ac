package httpapi

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/internal/admission"
	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/internal/service"
	"github.com/cordon-sandbox/cordon/internal/token"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

const unreadSize = 10 << 20

// unreadClients returns a number of clients whose answers are far above the budget. Short
// tests have fewer, because they run with the race detector, which is slow on large answers.
func unreadClients() int {
	if testing.Short() {
		return 40
	}
	return 200
}

// largeAnswers returns a new value for each guest, because a shared one would hide copies.
func largeAnswers(context.Context, run.Request) (run.Result, error) {
	r := good("")
	r.Value = append(append([]byte{'"'}, bytes.Repeat([]byte("x"), unreadSize)...), '"')
	return r, nil
}

// Clients that do not read their answers use up only the budget of their token: further
// requests with it are refused as busy, other callers are served, and the memory of the
// service is bounded.
func TestUnreadAnswers(t *testing.T) {
	for name, header := range map[string]string{
		"plain": "X-Nothing: 1", "events": "Accept: text/event-stream", "by key": "Idempotency-Key: %d",
	} {
		t.Run(name, func(t *testing.T) {
			line := admission.NewLine(admission.Options{Concurrent: 4, Queue: 1024})
			d := open(t, &fake{line: line, run: func(ctx context.Context, req run.Request) (run.Result, error) {
				if req.Script.Source == "small" {
					return good("1"), nil
				}
				return largeAnswers(ctx, req)
			}}, func(_ *service.Options, o *Options) {
				o.Tokens = tokens{"m": {Name: "mallory"}, "a": {Name: "alice"}}
				o.WriteTimeout = time.Hour // no timeout: only the budget bounds the clients
			})
			d.flood(t, header)
			if unsent := d.service.Answers.Unsent(); unsent < unreadSize || unsent > int64(admission.DefaultAnswersPerCaller) {
				t.Errorf("answers of %d bytes wait to be read", unsent)
			}
			// Streams begin before their runs do, and runs have memory of their own.
			hosttest.Eventually(t, "no run is under way", func() bool {
				s := line.Stats()
				return s.Running+s.Waiting == 0
			})
			runtime.GC()
			var now runtime.MemStats
			runtime.ReadMemStats(&now)
			if now.HeapAlloc > 256<<20 { // TestServeUnreadAnswers measures a real service
				t.Errorf("%d MiB are in use", now.HeapAlloc>>20)
			}
			if a := d.ask(http.MethodPost, "/v1/runs", `{"script": "small"}`, "Authorization: Bearer a"); a.status != http.StatusOK {
				t.Errorf("alice is not served: %d %s", a.status, a.body)
			}
			a := d.ask(http.MethodPost, "/v1/runs", `{"script": "large"}`, "Authorization: Bearer m")
			if p := d.problem(a); a.status != http.StatusTooManyRequests || a.header.Get("Retry-After") == "" || !strings.Contains(p.Detail, "unread answers of mallory") {
				t.Errorf("%d %+v", a.status, p)
			}
		})
	}
}

// flood starts many clients that request large answers and do not read them.
func (d *frontend) flood(t *testing.T, header string) {
	t.Helper()
	var clients sync.WaitGroup
	for i := range unreadClients() {
		clients.Go(func() {
			line := header
			if strings.Contains(line, "%d") {
				line = fmt.Sprintf(line, i)
			}
			body := `{"script": "large"}`
			_, r := d.raw(t, "POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer m\r\n"+line+
				"\r\nContent-Type: application/json\r\nContent-Length: "+strconv.Itoa(len(body))+"\r\n\r\n"+body)
			if status := statusOf(t, r); status != http.StatusOK && status != http.StatusTooManyRequests {
				t.Errorf("status %d", status)
			}
		})
	}
	clients.Wait()
}

func statusOf(t *testing.T, r *bufio.Reader) int {
	line, err := r.ReadString('\n')
	if err != nil {
		t.Error(err)
		return 0
	}
	status, err := strconv.Atoi(strings.Fields(line)[1])
	if err != nil {
		t.Error(err)
	}
	return status
}

// An answer is no longer counted after the client has read it, or was disconnected because
// it did not.
func TestAnswersAreGivenBack(t *testing.T) {
	body := `{"script": "large"}`
	headers := []string{"X: y", "Accept: text/event-stream", "Idempotency-Key: k", "Idempotency-Key: k"}
	t.Run("read", func(t *testing.T) {
		d := open(t, &fake{run: largeAnswers}, func(_ *service.Options, o *Options) { o.WriteTimeout = time.Hour })
		for _, header := range headers {
			if a := d.ask(http.MethodPost, "/v1/runs", body, header); a.status != http.StatusOK || len(a.body) < unreadSize {
				t.Errorf("%s: %d, %d bytes", header, a.status, len(a.body))
			}
		}
		d.untilNothingIsUnsent(t)
	})
	t.Run("not read", func(t *testing.T) {
		d := open(t, &fake{run: largeAnswers}, func(_ *service.Options, o *Options) { o.WriteTimeout = 100 * time.Millisecond })
		for _, header := range headers {
			_, r := d.raw(t, "POST /v1/runs HTTP/1.1\r\nHost: localhost\r\n"+header+"\r\nContent-Type: application/json\r\nContent-Length: "+strconv.Itoa(len(body))+"\r\n\r\n"+body)
			if status := statusOf(t, r); status != http.StatusOK {
				t.Errorf("%s: %d", header, status)
			}
		}
		d.untilNothingIsUnsent(t)
	})
}

func (d *frontend) untilNothingIsUnsent(t *testing.T) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for d.service.Answers.Unsent() != 0 {
		if time.Now().After(deadline) {
			t.Fatalf("%d bytes are never released", d.service.Answers.Unsent())
		}
		<-time.After(10 * time.Millisecond)
	}
}

// A kept answer counts again while it is sent again.
func TestUnreadReplays(t *testing.T) {
	d := open(t, &fake{run: largeAnswers}, func(so *service.Options, o *Options) {
		so.Answers = admission.NewAnswers(admission.AnswerOptions{PerCaller: 30 * policy.MiB})
		o.WriteTimeout = time.Hour
	})
	body := `{"script": "large"}`
	ask := "POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nIdempotency-Key: k\r\nContent-Type: application/json\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body
	var last int
	for range 5 {
		_, r := d.raw(t, ask)
		last = statusOf(t, r)
	}
	if last != http.StatusTooManyRequests {
		t.Errorf("the last one has status %d", last)
	}
}

// The budget also bounds what mounted frontends write.
func TestMountedWritersAreCounted(t *testing.T) {
	wrote := make(chan error, 1)
	d := open(t, &fake{run: largeAnswers}, func(so *service.Options, o *Options) {
		so.Answers = admission.NewAnswers(admission.AnswerOptions{PerCaller: policy.MiB})
		o.Mounts = map[string]http.Handler{"/other": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			release, err := o.Service.Answers.Hold(token.Local.Name, 512<<10)
			if err != nil {
				t.Error(err)
			}
			defer release()
			_, err = w.Write(make([]byte, policy.MiB))
			wrote <- err
		})}
		o.Service = service.New(*so)
	})
	d.ask(http.MethodGet, "/other", "")
	if err := <-wrote; run.ClassOf(err) != run.Busy {
		t.Errorf("%v", err)
	}
}
