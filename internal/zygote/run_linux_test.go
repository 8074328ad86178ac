package zygote

import (
	"context"
	"testing"
)

// A cancel that comes while its call ends is not the next call's: when the call is done,
// the worker is either dead or left alone.
func TestCancelIsOver(t *testing.T) {
	for range 100 {
		ctx, cancel := context.WithCancel(t.Context())
		w := &Worker{}
		done := w.killWhenCanceled(ctx)
		cancel()
		done()
		if why := w.kill.reason(); why != KilledCanceled {
			t.Fatalf("the kill of a cancel is still under way: %q", why)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	w := &Worker{}
	w.killWhenCanceled(ctx)()
	cancel()
	if why := w.kill.reason(); why != "" {
		t.Errorf("a cancel behind the call killed the worker: %q", why)
	}
}
