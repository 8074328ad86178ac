// Package service is the only path from a frontend to the Runner. It checks what the caller
// may ask for, reports each run to observers, and shuts down in order. The Runner validates
// requests and queues them by the caller in their context. Frontends only translate between
// their protocol and the service.
package service

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cordon-sandbox/cordon/internal/admission"
	"github.com/cordon-sandbox/cordon/internal/observe"
	"github.com/cordon-sandbox/cordon/internal/opened"
	"github.com/cordon-sandbox/cordon/internal/openhooks"
	"github.com/cordon-sandbox/cordon/internal/token"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Runner is the part of a *cordon.Runner that the service needs. Run and Check validate
// their arguments, then take a turn (admission.Line) for the caller in their context.
type Runner interface {
	Run(ctx context.Context, req run.Request) (run.Result, error)
	Check(ctx context.Context, c run.Check) ([]run.Finding, error)
	Tiers() []policy.Tier
	Enforcement() run.Enforcement
}

// Options are the parts of a service.
type Options struct {
	Runner Runner
	// OpenHook is the Runner's method; nil means that there are no hooks.
	OpenHook func(ctx context.Context, h run.HookSpec) (openhooks.Hook, error)
	// OpenSession is the Runner's method; nil means that there are no sessions.
	OpenSession func(ctx context.Context, o run.SessionOptions) (Session, error)
	// Policy is the policy of the Runner.
	Policy policy.Policy
	// Version is shown to callers that ask for information.
	Version string
	// Answers bounds the answers that clients have not read yet; nil means the defaults.
	Answers *admission.Answers
	// Commands allows commands as well as scripts.
	Commands bool
	// Workspaces are directories in and below which commands may work. Without one,
	// commands have only their private /tmp.
	Workspaces []string
	// FileRoots are directories below which requests may name files that a script gets.
	FileRoots []string

	Observers []observe.Observer
	Tracer    observe.Tracer
	// Refuse returns why nothing may run now, for example because the audit log cannot be
	// written. If Refuse is nil, requests are never refused for this reason.
	Refuse func() error
}

// Service answers the frontends. It is safe for concurrent use, and must be closed.
type Service struct {
	Options
	policy policy.Policy // the Runner's policy, with all defaults filled in
	roots  []string      // the workspaces, with symbolic links resolved
	hooks  *openhooks.Table
	// sessions are those that callers have open.
	sessions *opened.Table[Session]
	pending  *pendingRuns

	waiting, running atomic.Int64 // requests that wait for their turn, and that have it

	life context.Context // the parent of all requests under way
	stop context.CancelCauseFunc
	// closeOpened closes hooks and sessions once, when nothing is under way.
	closeOpened func() error

	mu       sync.Mutex
	under    int // requests under way
	early    int // those of them that arrived before the service began to drain
	draining bool
	allDone  chan struct{} // closed when the service drains and no request is under way
}

// New returns a service over a Runner. The caller closes the Runner after the service.
func New(o Options) *Service {
	if o.Answers == nil {
		o.Answers = admission.NewAnswers(admission.AnswerOptions{})
	}
	life, stop := context.WithCancelCause(context.Background())
	s := &Service{Options: o, policy: o.Policy.Resolved(), life: life, stop: stop, allDone: make(chan struct{}),
		hooks:    openhooks.NewTable(opened.Options{PerOwner: maxHooks, Idle: hookIdleTimeout}),
		sessions: opened.NewTable[Session](opened.Options{Kind: "session", PerOwner: maxSessions, Idle: sessionIdleTimeout, Remember: true, CloseBusy: true}),
		pending:  newPendingRuns(keptResults),
	}
	s.closeOpened = sync.OnceValue(func() error {
		s.pending.ending.Wait()
		return errors.Join(s.hooks.Close(), s.sessions.Close())
	})
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
	return s.run(ctx, who, frontend, req, func(_ *visit, permitted run.Request) error { return s.roomFor(who, permitted.Limits) })
}

// run is Run, and calls admit before the Runner has the request.
func (s *Service) run(ctx context.Context, who token.Caller, frontend observe.Frontend, req run.Request, admit func(v *visit, permitted run.Request) error) (Answer, error) {
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
		if err := admit(v, req); err != nil {
			return run.Result{}, err
		}
		result, err := s.Runner.Run(v.queued(ctx), req)
		if err != nil && req.Tier == policy.TierWasm && run.ClassOf(err) == run.NotFound {
			// The caller chose the tier. The error does not show the paths that were searched.
			err = run.Errorf(run.Invalid, "tier %q does not run scripts here: it has no CPython (python-wasm.zip)%w", req.Tier, silent{err})
		}
		return result, err
	})
}

// Queue returns how many requests wait for their turn, and how many have it.
func (s *Service) Queue() (waiting, running int) {
	return int(s.waiting.Load()), int(s.running.Load())
}

// Check checks a script against the language rules. It waits for its turn like a run.
func (s *Service) Check(ctx context.Context, who token.Caller, c run.Check) (found []run.Finding, err error) {
	err = s.inTurn(ctx, who, func(ctx context.Context) (err error) {
		found, err = s.Runner.Check(ctx, c)
		return err
	})
	return found, err
}
