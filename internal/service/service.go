// Package service is the one road from a door to the Runner: who asks, what they may ask
// for, when it is their turn, what is written down of it, and how all of it ends. Doors
// translate; they decide nothing.
package service

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/cordon-sandbox/cordon/internal/admission"
	"github.com/cordon-sandbox/cordon/internal/observe"
	"github.com/cordon-sandbox/cordon/internal/token"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Runner is what the service needs of a *cordon.Runner.
type Runner interface {
	Run(ctx context.Context, req run.Request) (run.Result, error)
	Check(ctx context.Context, c run.Check) ([]run.Finding, error)
	Tiers() []policy.Tier
	Enforcement() run.Enforcement
}

// Hook is what the service needs of a *cordon.Hook.
type Hook interface {
	Call(ctx context.Context, state, config any) (run.Result, error)
	CallFunction(ctx context.Context, name string, args ...any) (run.Result, error)
	Close() error
}

// Options are the parts of a service.
type Options struct {
	Runner Runner
	// OpenHook is the Runner's; nil means that there are no hooks.
	OpenHook func(ctx context.Context, h run.Hook) (Hook, error)
	// Policy is the Runner's.
	Policy policy.Policy
	// Version is shown to who asks for information.
	Version string
	// Line bounds what is under way and what waits.
	Line *admission.Line
	// Commands allows commands, and not scripts alone.
	Commands bool
	// Workspaces are folders in and below which commands may work. Without one, they
	// have their private /tmp.
	Workspaces []string

	Observers []observe.Observer
	Tracer    observe.Tracer
	// Refuse says why nothing may run now, such as an audit log that cannot be written;
	// nil never does.
	Refuse func() error
}

// Service answers the doors. It is safe for concurrent use, and must be closed.
type Service struct {
	Options
	hooks hooks

	life context.Context // of all that is under way
	stop context.CancelCauseFunc

	mu       sync.Mutex
	under    int // requests under way
	draining bool
	gone     chan struct{} // closed when it is draining and nothing is under way
}

// New gives a service over a Runner, which stays the caller's to close, after the
// service.
func New(o Options) *Service {
	life, stop := context.WithCancelCause(context.Background())
	return &Service{Options: o, life: life, stop: stop, gone: make(chan struct{})}
}

// errDraining is what new requests hear while the service ends.
func errDraining() error {
	return run.Errorf(run.Closed, "the service is about to end and takes nothing new: try again, perhaps elsewhere")
}

// Ready says why the service takes nothing now, nil if it does.
func (s *Service) Ready() error {
	if s.isDraining() {
		return errDraining()
	}
	if s.Refuse != nil {
		return s.Refuse()
	}
	return nil
}

func (s *Service) isDraining() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.draining
}

// Run runs a script or a command for somebody.
func (s *Service) Run(ctx context.Context, who token.Caller, door observe.Door, req run.Request) (run.Result, error) {
	kind, code := observe.Script, req.Script
	if len(req.Command) > 0 {
		kind, code = observe.Command, strings.Join(req.Command, "\x00")
	}
	return s.observed(ctx, who, observe.Run{Door: door, Kind: kind, Code: code}, func(ctx context.Context, turn *turn) (run.Result, error) {
		req, err := s.permit(who, req)
		if err != nil {
			return run.Result{}, err
		}
		if err := turn.wait(ctx); err != nil {
			return run.Result{}, err
		}
		return s.Runner.Run(ctx, req)
	})
}

// Check has the language rules judge a script. It waits for its turn as a run does.
func (s *Service) Check(ctx context.Context, who token.Caller, c run.Check) (found []run.Finding, err error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	err = s.inTurn(ctx, who, func(ctx context.Context) error {
		found, err = s.Runner.Check(ctx, c)
		return err
	})
	return found, err
}

// inTurn does something that is not a run, when it is somebody's turn.
func (s *Service) inTurn(ctx context.Context, who token.Caller, do func(ctx context.Context) error) error {
	ctx, leave, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	t := &turn{line: s.Line, who: who}
	defer t.end()
	if err := t.wait(ctx); err != nil {
		return err
	}
	return do(ctx)
}

// observed does what a request asks for, and tells the observers.
func (s *Service) observed(ctx context.Context, who token.Caller, seen observe.Run, do func(context.Context, *turn) (run.Result, error)) (result run.Result, err error) {
	seen.ID, seen.Caller, seen.Arrived = followed(ctx).id(), who.Name, time.Now()
	ctx, leave, err := s.enter(ctx)
	if err != nil {
		return run.Result{}, err
	}
	defer leave()
	if s.Tracer != nil {
		ctx = observe.WithTracer(ctx, s.Tracer)
	}
	ctx, end := observe.Begin(ctx, observe.Request)
	t := &turn{line: s.Line, who: who}
	result, err = do(ctx, t)
	t.end()
	end(err)
	seen.Result, seen.Err, seen.Started, seen.Ended = result, err, t.began, time.Now()
	for _, o := range s.Observers {
		o.Ended(ctx, seen)
	}
	return result, err
}

// enter counts a request in, and gives it a context that ends with the service, too.
func (s *Service) enter(ctx context.Context) (inside context.Context, leave func(), err error) {
	if s.Refuse != nil {
		if err := s.Refuse(); err != nil {
			return nil, nil, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining {
		return nil, nil, errDraining()
	}
	s.under++
	inside, cancel := context.WithCancelCause(ctx)
	forget := context.AfterFunc(s.life, func() { cancel(context.Cause(s.life)) })
	return inside, func() {
		forget()
		cancel(nil)
		s.leave()
	}, nil
}

func (s *Service) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.under--; s.draining && s.under == 0 {
		close(s.gone)
	}
}

// turn is a request's time in the line.
type turn struct {
	line  *admission.Line
	who   token.Caller
	leave func()
	began time.Time
}

func (t *turn) wait(ctx context.Context) (err error) {
	ctx, end := observe.Begin(ctx, observe.Queue)
	t.leave, err = t.line.Enter(ctx, t.who.Name, t.who.Quota)
	end(err)
	t.began = time.Now()
	if err != nil {
		t.began = time.Time{}
		return err
	}
	if begins := followed(ctx).begins; begins != nil {
		begins()
	}
	return nil
}

func (t *turn) end() {
	if t.leave != nil {
		t.leave()
	}
}

var errEnded = errors.New("the service has ended")

// Drain takes nothing new, and waits for what is under way. When ctx ends before, so does
// the rest of that.
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
	return s.hooks.close()
}

// Close ends what is under way.
func (s *Service) Close() error {
	s.stop(errEnded)
	return s.Drain(context.Background())
}
