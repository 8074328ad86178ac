package zygote

import (
	"context"
	"testing"
)

// A cancellation that arrives while its call ends must not hit the next call: when the
// call is done, the worker is either dead or left alone.
func TestCancelDoesNotHitNextCall(t *testing.T) {
	for range 100 {
		ctx, cancel := context.WithCancel(t.Context())
		w := &Worker{}
		c := &conversation{worker: w, interruption: interruption{worker: w}}
		done := c.stopWhenCanceled(ctx)
		cancel()
		done()
		if why := w.kill.reason(); why != KilledCanceled {
			t.Fatalf("the kill is still running: %q", why)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	w := &Worker{}
	c := &conversation{worker: w, interruption: interruption{worker: w}}
	c.stopWhenCanceled(ctx)()
	cancel()
	if why := w.kill.reason(); why != "" {
		t.Errorf("a cancellation after the call killed the worker: %q", why)
	}
}
