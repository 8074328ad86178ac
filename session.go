package cordon

import (
	"cmp"
	"context"
	"errors"
	"io"
	"sync"

	"github.com/cordon-sandbox/cordon/internal/admission"
	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Session is an interpreter that runs one step after another and keeps their globals.
//
// A step that reaches a time limit, or is canceled, is interrupted: it gets a
// KeyboardInterrupt, and the session goes on. A step that does not end then, or that reaches
// another limit which ends its process, ends the session: see run.Step. On TierWasm every step
// that does not end by itself ends the session; such a session can be forked before.
type Session struct {
	runner     *Runner
	session    backend.Session
	tier       policy.Tier
	limits     policy.Limits // of steps that set none
	restricted bool
	one        *admission.Bound // steps that wait for another one of the session have no turn

	life context.Context // of all its steps
	end  context.CancelFunc

	mu        sync.Mutex
	interrupt context.CancelFunc // of the running step, or nil
}

func (r *Runner) newSession(s backend.Session, tier policy.Tier, limits policy.Limits) *Session {
	made := &Session{runner: r, session: s, tier: tier, limits: limits, restricted: s.Restricted(), one: admission.NewBound(1)}
	made.life, made.end = context.WithCancel(context.Background())
	return made
}

// OpenSession starts a session.
func (r *Runner) OpenSession(ctx context.Context, s run.SessionOptions) (*Session, error) {
	tier := cmp.Or(s.Tier, registered.Offering(backend.Sessions))
	if !registered.Offers(tier, backend.Sessions) {
		return nil, run.Errorf(run.Invalid, "tier %q has no sessions", tier)
	}
	limits, err := r.permitSession(tier, s)
	if err != nil {
		return nil, err
	}
	turn, err := r.line.Enter(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer turn.Leave()
	b, err := r.backend(ctx, tier)
	if err != nil {
		return nil, err
	}
	opener, ok := b.(backend.SessionOpener)
	if !ok {
		return nil, run.Errorf(run.Unsupported, "tier %q has no sessions on this system: name tier %q", tier, registered.Offering(backend.Snapshots))
	}
	opened, err := opener.OpenSession(ctx, backend.SessionOptions{Restricted: s.Restricted || r.policy.Restricts(), Limits: limits})
	if err != nil {
		return nil, err
	}
	return r.newSession(opened, tier, limits), nil
}

// LoadSession continues a saved session. The Python and the grants of the policy must
// be the same as when it was saved. A snapshot that is damaged or of another build is
// an error of class run.Invalid.
//
// A snapshot is as untrusted as any guest: it gets only what the policy grants. The
// language rules are inside it, so that a person who can change the file can change
// them too.
func (r *Runner) LoadSession(ctx context.Context, from io.Reader) (*Session, error) {
	tier := registered.Offering(backend.Snapshots)
	limits, err := r.permitSession(tier, run.SessionOptions{})
	if err != nil {
		return nil, err
	}
	turn, err := r.line.Enter(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer turn.Leave()
	b, err := offering[backend.SnapshotLoader](ctx, r, backend.Snapshots)
	if err != nil {
		return nil, err
	}
	loaded, err := b.LoadSession(ctx, from)
	if err != nil {
		return nil, err
	}
	s := r.newSession(loaded, tier, limits)
	if r.policy.Restricts() && !s.restricted {
		return nil, errors.Join(run.Errorf(run.Invalid, "the policy requires the language rules of all code, and the snapshot was made without"), s.Close())
	}
	return s, nil
}

// permitSession refuses code for which a tier is not strong enough, and returns the limits of a
// session.
func (r *Runner) permitSession(tier policy.Tier, s run.SessionOptions) (policy.Limits, error) {
	if _, err := r.selectTier(&run.Request{Tier: tier, Trust: s.Trust}); err != nil {
		return policy.Limits{}, err
	}
	limits, err := r.policy.Narrow(s.Limits)
	if err != nil {
		return policy.Limits{}, run.Wrap(run.Invalid, err)
	}
	return limits, nil
}

// Run runs a step: the script of a request, with the limits that the request sets and those of
// the session for the rest. Steps of one session run one at a time; Fork and Save wait for a
// running step.
func (s *Session) Run(ctx context.Context, req run.Request) (run.Result, error) {
	if req.Kind() != policy.GuestScript {
		return run.Result{}, run.Errorf(run.Invalid, "a session runs scripts")
	}
	if req.Tier != "" && req.Tier != s.tier {
		return run.Result{}, run.Errorf(run.Invalid, "this session is on tier %q: leave the tier out", s.tier)
	}
	if req.Script.Restricted && !s.restricted {
		return run.Result{}, run.Errorf(run.Invalid, "restricted is for a whole session, and this one was opened without the language rules: open another one")
	}
	req.Tier, req.Script.Restricted = s.tier, s.restricted
	_, job, err := s.runner.admit(req)
	if err != nil {
		return run.Result{}, err
	}
	if job.Limits, err = s.runner.policy.Narrow(req.Limits.Fill(s.limits, s.runner.policy.Maxima)); err != nil {
		return run.Result{}, run.Wrap(run.Invalid, err)
	}
	ctx, leave, err := s.enter(ctx)
	if err != nil {
		return run.Result{}, err
	}
	defer leave()
	result, err := s.session.Run(ctx, job)
	result.ID = req.ID
	return withCause(ctx, result), err
}

// Variables lists the global variables of the session by name, at most 1,000, and counts the
// others. Names that begin with an underscore are left out. It waits for a running step.
func (s *Session) Variables(ctx context.Context) (list []run.Variable, omitted int, err error) {
	ctx, leave, err := s.enter(ctx)
	if err != nil {
		return nil, 0, err
	}
	defer leave()
	return s.session.Variables(ctx)
}

// Complete lists what the name at the end of a line of Python can become, for an editor: for
// "x = sys.pl" it is "platform" and "platlibdir". The list is sorted, has at most 1,000 names,
// and is the guest's word. Complete waits for a running step.
func (s *Session) Complete(ctx context.Context, line string) ([]string, error) {
	if len(line) > run.MaxScript {
		return nil, run.Errorf(run.Invalid, "the line is longer than %v, the maximum of a step", policy.Bytes(run.MaxScript))
	}
	ctx, leave, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	return s.session.Complete(ctx, line)
}

// enter waits for a turn of the session, which leave ends. An interrupt, and the end of the
// session, end the context that it returns.
func (s *Session) enter(ctx context.Context) (inside context.Context, leave func(), err error) {
	inside, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(s.life, cancel)
	turn, err := s.runner.line.Enter(inside, s.one)
	if s.life.Err() != nil {
		err = run.Errorf(run.Gone, "the session is closed")
	}
	end := func() {
		turn.Leave()
		stop()
		cancel()
	}
	if err != nil {
		end()
		return nil, nil, err
	}
	s.setInterrupt(cancel)
	return inside, func() {
		s.setInterrupt(nil)
		end()
	}, nil
}

// Interrupt cancels the running step, as if its context had ended. Without one, it does
// nothing.
func (s *Session) Interrupt() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.interrupt != nil {
		s.interrupt()
	}
}

func (s *Session) setInterrupt(cancel context.CancelFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.interrupt = cancel
}

// Files returns the session's /work, the directory in which its steps start. It can be used while
// a step runs.
func (s *Session) Files() (run.Files, error) {
	return s.session.Files()
}

// Fork returns a new session with a copy of this one's state and files. Files that are open stay
// with this one. Sessions on TierProcess cannot be forked yet.
func (s *Session) Fork() (*Session, error) {
	saved, err := s.saved("forked")
	if err != nil {
		return nil, err
	}
	forked, err := saved.Fork()
	if err != nil {
		return nil, err
	}
	return s.runner.newSession(forked, s.tier, s.limits), nil
}

// Save writes the state of the session. Its files are not part of it. Sessions on
// TierProcess cannot be saved.
func (s *Session) Save(to io.Writer) error {
	saved, err := s.saved("saved")
	if err != nil {
		return err
	}
	return saved.Save(to)
}

func (s *Session) saved(what string) (backend.SavedSession, error) {
	saved, ok := s.session.(backend.SavedSession)
	if !ok {
		return nil, run.Errorf(run.Unsupported, "a session on tier %q cannot be %s: open it on tier %q", s.tier, what, registered.Offering(backend.Snapshots))
	}
	return saved, nil
}

// Close ends the session, the step that it runs, and those that wait.
func (s *Session) Close() error {
	s.end()
	return s.session.Close()
}
