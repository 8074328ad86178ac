package cordon

import (
	"context"
	"errors"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/run"
)

// standIn counts how often it was closed.
type standIn struct {
	backend.Backend
	closed *int
}

func (s standIn) Close() error {
	*s.closed++
	return nil
}

func TestTierStartsOnce(t *testing.T) {
	starts, closed := 0, 0
	failing := errors.New("not yet")
	tier := newTier(func(context.Context) (standIn, error) {
		if starts++; starts == 1 {
			return standIn{}, failing
		}
		return standIn{closed: &closed}, nil
	})
	if _, err := tier.get(t.Context()); !errors.Is(err, failing) {
		t.Errorf("%v", err)
	}
	for range 3 {
		if _, err := tier.get(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if starts != 2 {
		t.Errorf("%d starts", starts)
	}
	if err := tier.close(); err != nil || closed != 1 {
		t.Errorf("%v, closed %d times", err, closed)
	}
}

// Who waits for somebody else's start waits no longer than it wants to; and a start
// that ends after Close has begun is closed too.
func TestTierThatStartsSlowly(t *testing.T) {
	closed := 0
	starting, goOn := make(chan struct{}), make(chan struct{})
	tier := newTier(func(context.Context) (standIn, error) {
		close(starting)
		<-goOn
		return standIn{closed: &closed}, nil
	})
	first := make(chan error, 1)
	go func() {
		_, err := tier.get(context.Background())
		first <- err
	}()
	<-starting
	impatient, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := tier.get(impatient); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	end := make(chan error, 1)
	go func() { end <- tier.close() }()
	close(goOn)
	if err := errors.Join(<-first, <-end); err != nil || closed != 1 {
		t.Errorf("%v, closed %d times", err, closed)
	}
}

func TestTierThatIsClosed(t *testing.T) {
	tier := newTier(func(context.Context) (standIn, error) { return standIn{}, errors.New("started after its end") })
	if err := tier.close(); err != nil {
		t.Error(err)
	}
	if _, err := tier.get(t.Context()); run.ClassOf(err) != run.Closed {
		t.Errorf("%v", err)
	}
}
