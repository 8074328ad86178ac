package service

import (
	"context"
	"errors"
	"strings"

	"github.com/cordon-sandbox/cordon/internal/admission"
	"github.com/cordon-sandbox/cordon/run"
)

// errDraining is what new requests hear while the service ends.
func errDraining() error {
	return run.Errorf(run.Closed, "the service is about to end and takes nothing new: try again, perhaps elsewhere")
}

// errEnded is why the context of a request ends before the request does.
var errEnded = errors.New("the service has ended")

func (s *Service) isDraining() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.draining
}

// enter counts a request in, and gives it a context that ends with the service, too. One
// that comes while the service drains is counted in as well, to be refused in order; but
// only as long as there is one that came before, or else they could keep it for ever.
func (s *Service) enter(ctx context.Context) (inside context.Context, leave func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	late := s.draining
	if late && s.early == 0 {
		return nil, nil, errDraining()
	}
	s.under++
	if !late {
		s.early++
	}
	inside, cancel := context.WithCancelCause(ctx)
	forget := context.AfterFunc(s.life, func() { cancel(context.Cause(s.life)) })
	return inside, func() {
		forget()
		cancel(nil)
		s.leave(late)
	}, nil
}

func (s *Service) leave(late bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !late {
		s.early--
	}
	if s.under--; s.draining && s.under == 0 {
		close(s.gone)
	}
}

// explained gives an error that comes of the end of the service the words for it: the
// caller has canceled nothing. Who was sent away by the Runner hears when to come again,
// as who is by the line.
func (s *Service) explained(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	var known *admission.Busy
	if run.ClassOf(err) == run.Busy && !errors.As(err, &known) {
		return s.Line.Busy(strings.TrimSuffix(err.Error(), "; try again later"))
	}
	if (errors.Is(err, context.Canceled) || errors.Is(err, errEnded) || errors.Is(err, run.ErrClosed)) && errors.Is(context.Cause(ctx), errEnded) {
		return run.Errorf(run.Closed, "the service has ended before it was this request's turn, or during it: try again, perhaps elsewhere%w", silent{err})
	}
	return err
}

// silent keeps a cause whose words have been said better.
type silent struct{ error }

func (silent) Error() string   { return "" }
func (s silent) Unwrap() error { return s.error }

// Drain takes nothing new, and waits for what is under way, waiting requests among it.
// When ctx ends before, so does the rest of that. Then the hooks are closed, and no
// observer hears of anything any more.
func (s *Service) Drain(ctx context.Context) error {
	s.mu.Lock()
	if !s.draining {
		if s.draining = true; s.under == 0 {
			close(s.gone)
		}
	}
	s.mu.Unlock()
	select {
	case <-s.gone:
	case <-ctx.Done():
		s.stop(errEnded)
		<-s.gone
	}
	return s.closeHooks()
}

// Close ends what is under way.
func (s *Service) Close() error {
	s.stop(errEnded)
	return s.Drain(context.Background())
}
