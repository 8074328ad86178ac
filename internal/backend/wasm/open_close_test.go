package wasm

import (
	"sync"
	"testing"

	"github.com/cordon-sandbox/cordon/run"
)

// Close waits for a module that is being opened before it closes the engine.
func TestCloseWaitsForOpening(t *testing.T) {
	b, err := New(Options{Cache: testCache})
	if err != nil {
		t.Fatal(err)
	}
	pass, err := b.gate.Enter(t.Context()) // as OpenModule does
	if err != nil {
		t.Fatal(err)
	}
	closed := make(chan error, 1)
	go func() { closed <- b.Close() }()
	<-b.gate.Closed()
	if _, err := b.OpenModule(t.Context(), moduleOf(nil)); run.ClassOf(err) != run.Closed {
		t.Errorf("while it is being closed: %v", err)
	}
	select {
	case err := <-closed:
		t.Errorf("closed before the last one was done: %v", err)
	default:
	}
	pass.Leave()
	if err := <-closed; err != nil {
		t.Error(err)
	}
	if _, err := b.OpenModule(t.Context(), moduleOf(nil)); run.ClassOf(err) != run.Closed {
		t.Errorf("when it is closed: %v", err)
	}
}

// TestOpenCloseHammer opens modules while their Runner is closed: each is opened, or the error
// says why not.
func TestOpenCloseHammer(t *testing.T) {
	for range 20 {
		b, err := New(Options{Cache: "none"})
		if err != nil {
			t.Fatal(err)
		}
		var opening sync.WaitGroup
		begun := make(chan struct{}, 4)
		for range 4 {
			opening.Go(func() {
				for n := byte(0); ; n++ {
					_, err := b.OpenModule(t.Context(), moduleOf(nil, 0x41, n&0x3f, 0x1a)) // a different module each time
					select {
					case begun <- struct{}{}:
					default:
					}
					if err == nil {
						continue
					}
					if run.ClassOf(err) != run.Closed {
						t.Error(err)
					}
					return
				}
			})
		}
		<-begun
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		opening.Wait()
	}
}
