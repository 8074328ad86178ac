// Package service is the one path from a frontend to the Runner: it knows the caller, checks
// what it may ask for, reports the run to observers, and ends in order. The Runner
// validates requests and queues them, by the caller that their context names.
// Frontends translate; they decide nothing.
package service

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cordon-sandbox/cordon/internal/admission"
	"github.com/cordon-sandbox/cordon/internal/observe"
	"github.com/cordon-sandbox/cordon/internal/openhooks"
	"github.com/cordon-sandbox/cordon/internal/token"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Runner is what the service needs of a *cordon.Runner. Run and Check validate what they
// get, then take a turn (admission.Line) of the caller in their context.
type Runner interface {
	Run(ctx context.Context, req run.Request) (run.Result, error)
	Check(ctx context.Context, c run.Check) ([]run.Finding, error)
	Tiers() []policy.Tier
	Enforcement() run.Enforcement
}

// Options are the parts of a service.
type Options struct {
	Runner Runner
	// OpenHook is the Runner's; nil means that there are no hooks.
	OpenHook func(ctx context.Context, h run.HookSpec) (openhooks.Hook, error)
	// Policy is the Runner's.
	Policy policy.Policy
	// Version is shown to callers that ask for information.
	Version string
	// Answers bounds what was answered and not yet taken; nil means one with its defaults.
	Answers *admission.Answers
	// Commands allows commands, and not scripts alone.
	Commands bool
	// Workspaces are directories in and below which commands may work. Without one, they
	// have their private /tmp.
	Workspaces []string

	Observers []observe.Observer
	Tracer    observe.Tracer
	// Refuse says why nothing may run now, such as an audit log that cannot be written;
	// nil never does.
	Refuse func() error
}

// Service answers the frontends. It is safe for concurrent use, and must be closed.
type Service struct {
	Options
	policy policy.Policy // the Runner's, every default filled in
	roots  []string      // the workspaces, as they are without symbolic links
	hooks  *openhooks.Table

	waiting, running atomic.Int64 // requests that wait for their turn, and that have it

	life       context.Context // of all that is under way
	stop       context.CancelCauseFunc
	closeHooks func() error // closes them once

	mu       sync.Mutex
	under    int // requests under way
	early    int // those of them that came before the draining
	draining bool
	gone     chan struct{} // closed when it is draining and nothing is under way
}

// New returns a service over a Runner. The caller closes the Runner after the service.
func New(o Options) *Service {
	if o.Answers == nil {
		o.Answers = admission.NewAnswers(admission.AnswerOptions{})
	}
	life, stop := context.WithCancelCause(context.Background())
	s := &Service{Options: o, policy: o.Policy.Resolved(), life: life, stop: stop, gone: make(chan struct{}),
		hooks: openhooks.NewTable(openhooks.Options{PerOwner: mostHooks, Idle: idleHook}),
	}
	s.closeHooks = sync.OnceValue(s.hooks.Close)
	for _, directory := range o.Workspaces {
		s.roots = append(s.roots, withoutLinks(directory))
	}
	return s
}

// Ready returns why the service takes no requests now, or nil.
func (s *Service) Ready() error {
	if s.isDraining() {
		return errDraining()
	}
	if s.Refuse != nil {
		return s.Refuse()
	}
	return nil
}

// Run runs a script or a command for a caller.
func (s *Service) Run(ctx context.Context, who token.Caller, frontend observe.Frontend, req run.Request) (Answer, error) {
	kind, code := observe.Script, req.Script.Source
	if req.Kind() == policy.GuestCommand {
		kind, code = observe.Command, strings.Join(req.Command.Args, "\x00")
	}
	seen := observe.Run{Frontend: frontend, Kind: kind, Code: code}
	return s.observed(ctx, who, seen, func(ctx context.Context, v *visit) (run.Result, error) {
		req, err := s.permit(who, req)
		if err != nil {
			return run.Result{}, err
		}
		if err := s.roomFor(who, req.Limits); err != nil {
			return run.Result{}, err
		}
		result, err := s.Runner.Run(v.queued(ctx), req)
		if err != nil && req.Tier == policy.TierWasm && run.ClassOf(err) == run.NotFound {
			// The caller named it, and learns nothing of where it was looked for.
			err = run.Errorf(run.Invalid, "tier %q does not run scripts here: it has no CPython (python-wasm.zip)%w", req.Tier, silent{err})
		}
		return result, err
	})
}

// Queue returns how many requests wait for their turn, and how many have it.
func (s *Service) Queue() (waiting, running int) {
	return int(s.waiting.Load()), int(s.running.Load())
}

// Check judges a script by the language rules. It waits for its turn as a run does.
func (s *Service) Check(ctx context.Context, who token.Caller, c run.Check) (found []run.Finding, err error) {
	err = s.inTurn(ctx, who, func(ctx context.Context) (err error) {
		found, err = s.Runner.Check(ctx, c)
		return err
	})
	return found, err
}
