package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/internal/service"
	"github.com/cordon-sandbox/cordon/run"
)

func TestIdempotencyKeys(t *testing.T) {
	var runs atomic.Int32
	d := open(t, &fake{run: func(ctx context.Context, req run.Request) (run.Result, error) {
		n := runs.Add(1)
		switch req.Script.Source {
		case "canceled":
			return canceled(), nil
		case "error":
			return run.Result{}, run.Errorf(run.Unsupported, "no")
		}
		return good(fmt.Sprint(n)), nil
	}}, func(_ *service.Options, o *Options) {
		o.Tokens = tokens{"a": {Name: "alice"}, "b": {Name: "bob"}}
	})
	ask := func(token, key, script string) answer {
		t.Helper()
		return d.ask(http.MethodPost, "/v1/runs", `{"script": "`+script+`"}`, "Authorization: Bearer "+token, "Idempotency-Key: "+key)
	}
	first, again := ask("a", "k1", "x"), ask("a", "k1", "x")
	if string(first.body) != string(again.body) || first.header.Get(runIDHeader) != again.header.Get(runIDHeader) || runs.Load() != 1 {
		t.Errorf("%d runs: %s and %s", runs.Load(), first.body, again.body)
	}
	if first.header.Get(replayedHeader) != "" || again.header.Get(replayedHeader) != "true" {
		t.Errorf("replayed: %q, %q", first.header.Get(replayedHeader), again.header.Get(replayedHeader))
	}
	if a := ask("a", "k1", "y"); a.status != http.StatusUnprocessableEntity || !strings.Contains(d.problem(a).Detail, "another request") {
		t.Errorf("another body: %d %s", a.status, a.body)
	}
	if a := ask("b", "k1", "y"); a.status != http.StatusOK {
		t.Errorf("the key of another caller conflicts: %d %s", a.status, a.body)
	}
	for _, script := range []string{"canceled", "error"} {
		before := runs.Load()
		ask("a", script, script)
		ask("a", script, script)
		if runs.Load() != before+2 {
			t.Errorf("%s was kept", script)
		}
	}
}

// hammer: of many concurrent requests with the same key, one runs and all get its Result.
func TestKeysHammer(t *testing.T) {
	var runs, failures atomic.Int32
	d := open(t, &fake{run: func(_ context.Context, req run.Request) (run.Result, error) {
		if failures.Add(1)%3 == 1 { // the first of three fails
			return run.Result{}, errors.New("no")
		}
		runs.Add(1)
		return good(`"` + req.Script.Source + `"`), nil
	}}, nil)
	const keys, each = 20, 15
	var all sync.WaitGroup
	var mu sync.Mutex
	ids := map[string]map[string]bool{}
	for i := range keys * each {
		all.Go(func() {
			key := fmt.Sprint("key-", i%keys)
			for {
				a := d.fetch(d.request(http.MethodPost, "/v1/runs", `{"script": "`+key+`"}`, "Idempotency-Key: "+key))
				if a.status == http.StatusInternalServerError || a.status == http.StatusTooManyRequests {
					continue // a failure of the fake, which is not kept
				}
				if got := d.result(a); string(got.Value) != `"`+key+`"` {
					t.Errorf("%s got %s", key, got.Value)
				}
				mu.Lock()
				if ids[key] == nil {
					ids[key] = map[string]bool{}
				}
				ids[key][a.header.Get(runIDHeader)] = true
				mu.Unlock()
				return
			}
		})
	}
	all.Wait()
	for key, seen := range ids {
		if len(seen) != 1 {
			t.Errorf("%s has the runs %v", key, seen)
		}
	}
	if got := runs.Load(); got != keys {
		t.Errorf("%d runs for %d keys", got, keys)
	}
}

// A request that waits for the first one and is canceled does not cancel it.
func TestKeyWaitersMayLeave(t *testing.T) {
	began, hold := make(chan struct{}), make(chan struct{})
	d := open(t, &fake{run: func(ctx context.Context, _ run.Request) (run.Result, error) {
		close(began)
		select {
		case <-hold:
			return good("1"), nil
		case <-ctx.Done():
			return run.Result{}, ctx.Err()
		}
	}}, nil)
	first := make(chan answer)
	go func() { first <- d.ask(http.MethodPost, "/v1/runs", `{"script": "x"}`, "Idempotency-Key: k") }()
	<-began
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	response, err := d.client.Do(d.request(http.MethodPost, "/v1/runs", `{"script": "x"}`, "Idempotency-Key: k").WithContext(ctx))
	if err == nil {
		response.Body.Close()
		t.Error("there was an answer before the end")
	}
	close(hold)
	if a := <-first; a.status != http.StatusOK {
		t.Errorf("%d: %s", a.status, a.body)
	}
}
