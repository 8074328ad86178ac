package httpapi

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/internal/openhooks"
	"github.com/cordon-sandbox/cordon/internal/service"
	"github.com/cordon-sandbox/cordon/run"
)

// countedHook is a hook that counts its calls.
type countedHook struct{ calls, closed atomic.Int64 }

func (h *countedHook) Call(context.Context, any, any) (run.Result, error) {
	h.calls.Add(1)
	return good("1"), nil
}

func (h *countedHook) CallFunction(ctx context.Context, _ string, _ ...any) (run.Result, error) {
	return h.Call(ctx, nil, nil)
}

func (h *countedHook) Close() error {
	h.closed.Add(1)
	return nil
}

// A key belongs to one request: the same body for another hook is another request.
func TestAKeyIsForOnePath(t *testing.T) {
	var made []*countedHook
	d := open(t, &fake{}, func(so *service.Options, _ *Options) {
		so.OpenHook = func(context.Context, run.HookSpec) (openhooks.Hook, error) {
			made = append(made, &countedHook{})
			return made[len(made)-1], nil
		}
	})
	var at []string
	for range 2 {
		a := d.ask(http.MethodPost, "/v1/hooks", `{"script": "pass"}`)
		if a.status != http.StatusCreated {
			t.Fatalf("%d %s", a.status, a.body)
		}
		at = append(at, a.header.Get("Location")+"/calls")
	}
	for i, want := range []int{200, 422} {
		if a := d.ask(http.MethodPost, at[i], `{}`, "Idempotency-Key: k"); a.status != want {
			t.Errorf("hook %d: %d %s; want %d", i, a.status, a.body, want)
		}
	}
	if made[0].calls.Load() != 1 || made[1].calls.Load() != 0 {
		t.Errorf("%d and %d calls", made[0].calls.Load(), made[1].calls.Load())
	}
}

// A client that disconnects before the hook is open does not learn its id and cannot close
// it, so the service closes the hook.
func TestHookOfLostClientIsClosed(t *testing.T) {
	began, hook := make(chan struct{}), &countedHook{}
	d := open(t, &fake{}, func(so *service.Options, _ *Options) {
		so.OpenHook = func(ctx context.Context, _ run.HookSpec) (openhooks.Hook, error) {
			close(began)
			<-ctx.Done()
			return hook, nil // it was too late to stop
		}
	})
	conn, _ := d.raw(t, "POST /v1/hooks HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 18\r\n\r\n{\"script\": \"pass\"}")
	<-began
	conn.Close()
	hosttest.Eventually(t, "the hook is closed", func() bool { return hook.closed.Load() == 1 })
	if n := d.service.Hooks(); n != 0 {
		t.Errorf("%d are open", n)
	}
}
