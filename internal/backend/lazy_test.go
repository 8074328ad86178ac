package backend

import (
	"context"
	"errors"
	"testing"

	"github.com/cordon-sandbox/cordon/run"
)

// standIn counts how often it was closed.
type standIn struct {
	Backend
	closed *int
}

func (s standIn) Close() error {
	*s.closed++
	return nil
}

func TestLazyStartsOnce(t *testing.T) {
	starts, closed := 0, 0
	failing := errors.New("not yet")
	tier := NewLazy(func(context.Context) (standIn, error) {
		if starts++; starts == 1 {
			return standIn{}, failing
		}
		return standIn{closed: &closed}, nil
	})
	if _, err := tier.Get(t.Context()); !errors.Is(err, failing) {
		t.Errorf("%v", err)
	}
	for range 3 {
		if _, err := tier.Get(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if starts != 2 {
		t.Errorf("%d starts", starts)
	}
	if err := tier.Close(); err != nil || closed != 1 {
		t.Errorf("%v, closed %d times", err, closed)
	}
}

// A caller waits for another's start no longer than its own context allows; and a start
// that ends after Close has begun is closed too.
func TestLazyThatStartsSlowly(t *testing.T) {
	closed := 0
	starting, goOn := make(chan struct{}), make(chan struct{})
	tier := NewLazy(func(context.Context) (standIn, error) {
		close(starting)
		<-goOn
		return standIn{closed: &closed}, nil
	})
	first := make(chan error, 1)
	go func() {
		_, err := tier.Get(context.Background())
		first <- err
	}()
	<-starting
	impatient, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := tier.Get(impatient); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	end := make(chan error, 1)
	go func() { end <- tier.Close() }()
	close(goOn)
	if err := errors.Join(<-first, <-end); err != nil || closed != 1 {
		t.Errorf("%v, closed %d times", err, closed)
	}
}

func TestTierThatIsClosed(t *testing.T) {
	tier := NewLazy(func(context.Context) (standIn, error) { return standIn{}, errors.New("started after its end") })
	if err := tier.Close(); err != nil {
		t.Error(err)
	}
	if _, err := tier.Get(t.Context()); run.ClassOf(err) != run.Closed {
		t.Errorf("%v", err)
	}
}
