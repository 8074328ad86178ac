package service

import (
	"context"
	"errors"

	"github.com/cordon-sandbox/cordon/internal/admission"
	"github.com/cordon-sandbox/cordon/run"
)

// errDraining is the answer to new requests while the service ends.
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

// enter counts a request, and returns a context that also ends with the service. A request
// that arrives while the service drains is counted too, so that its refusal is reported to
// observers, but only while an earlier one is under way: otherwise new requests could keep
// the service alive forever.
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
		close(s.allDone)
	}
}

// explain replaces an error that was caused by the end of the service: the caller did not
// cancel the request. A request that is refused as busy also gets the time of a retry.
func (s *Service) explain(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	var known *admission.Busy
	if run.ClassOf(err) == run.Busy && !errors.As(err, &known) {
		return admission.NewBusy(err.Error())
	}
	if (errors.Is(err, context.Canceled) || errors.Is(err, errEnded) || errors.Is(err, run.ErrClosed)) && errors.Is(context.Cause(ctx), errEnded) {
		return run.Errorf(run.Closed, "the service has ended before it was this request's turn, or during it: try again, perhaps elsewhere%w", silent{err})
	}
	return err
}

// silent wraps a cause without showing its text.
type silent struct{ error }

func (silent) Error() string   { return "" }
func (s silent) Unwrap() error { return s.error }

// Drain refuses new requests and waits for those under way, including the ones that wait
// for a turn. When ctx ends, it cancels the rest. Then it closes the hooks; observers get
// no more events.
func (s *Service) Drain(ctx context.Context) error {
	s.mu.Lock()
	if !s.draining {
		if s.draining = true; s.under == 0 {
			close(s.allDone)
		}
	}
	s.mu.Unlock()
	select {
	case <-s.allDone:
	case <-ctx.Done():
		s.stop(errEnded)
		<-s.allDone
	}
	return s.closeOpened()
}

// Close cancels all requests under way, then drains the service.
func (s *Service) Close() error {
	s.stop(errEnded)
	return s.Drain(context.Background())
}
