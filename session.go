package cordon

import (
	"context"
	"errors"
	"io"

	"github.com/cordon-sandbox/cordon/internal/admission"
	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Session is an interpreter that runs one script after another and keeps their globals.
// It can be forked, and saved and loaded again later or elsewhere.
//
// A run that does not end normally (a limit, a cancellation, a crash) ends the session,
// because its interpreter stopped at an arbitrary instruction. Fork the session before
// such a run to keep its state.
type Session struct {
	runner     *Runner
	session    backend.Session
	restricted bool
	one        *admission.Bound // scripts that wait for another one of the session have no turn
}

func (r *Runner) newSession(s backend.Session, restricted bool) *Session {
	return &Session{r, s, restricted, admission.NewBound(1)}
}

// OpenSession starts a session.
func (r *Runner) OpenSession(ctx context.Context, s run.SessionOptions) (*Session, error) {
	if err := r.permitSession(s.Trust); err != nil {
		return nil, err
	}
	turn, err := r.line.Enter(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer turn.Leave()
	b, err := offering[backend.SessionOpener](ctx, r, backend.Sessions)
	if err != nil {
		return nil, err
	}
	restricted := s.Restricted || r.policy.Restricts()
	opened, err := b.OpenSession(ctx, backend.SessionOptions{Restricted: restricted})
	if err != nil {
		return nil, err
	}
	return r.newSession(opened, restricted), nil
}

// LoadSession continues a saved session. The Python and the grants of the policy must
// be the same as when it was saved. A snapshot that is damaged or of another build is
// an error of class run.Invalid.
//
// A snapshot is as untrusted as any guest: it gets only what the policy grants. The
// language rules are inside it, so that a person who can change the file can change
// them too.
func (r *Runner) LoadSession(ctx context.Context, from io.Reader) (*Session, error) {
	if err := r.permitSession(""); err != nil {
		return nil, err
	}
	turn, err := r.line.Enter(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer turn.Leave()
	b, err := offering[backend.SessionOpener](ctx, r, backend.Sessions)
	if err != nil {
		return nil, err
	}
	loaded, err := b.LoadSession(ctx, from)
	if err != nil {
		return nil, err
	}
	s := r.newSession(loaded, loaded.Restricted())
	if r.policy.Restricts() && !s.restricted {
		return nil, errors.Join(run.Errorf(run.Invalid, "the policy requires the language rules of all code, and the snapshot was made without"), s.Close())
	}
	return s, nil
}

// permitSession refuses code for which the tier that offers sessions is not strong enough.
func (r *Runner) permitSession(trust policy.Trust) error {
	_, err := r.selectTier(&run.Request{Tier: registered.Offering(backend.Sessions), Trust: trust})
	return err
}

// Run runs a script in the session, with the limits of the request. Scripts of one
// session run one at a time; Fork and Save wait for a running script.
func (s *Session) Run(ctx context.Context, req run.Request) (run.Result, error) {
	if req.Kind() != policy.GuestScript {
		return run.Result{}, run.Errorf(run.Invalid, "a session runs scripts")
	}
	tier := registered.Offering(backend.Sessions)
	if req.Tier != "" && req.Tier != tier {
		return run.Result{}, run.Errorf(run.Invalid, "a session is on tier %q: leave the tier out", tier)
	}
	req.Tier, req.Script.Restricted = tier, s.restricted
	_, job, err := s.runner.admit(req)
	if err != nil {
		return run.Result{}, err
	}
	turn, err := s.runner.line.Enter(ctx, s.one)
	if err != nil {
		return run.Result{}, err
	}
	defer turn.Leave()
	result, err := s.session.Run(ctx, job)
	result.ID = req.ID
	return withCause(ctx, result), err
}

// Fork returns a new session with a copy of this one's state. Open files and /tmp are
// not copied.
func (s *Session) Fork() (*Session, error) {
	forked, err := s.session.Fork()
	if err != nil {
		return nil, err
	}
	return s.runner.newSession(forked, s.restricted), nil
}

// Save writes the state of the session. Open files and /tmp are not part of it.
func (s *Session) Save(to io.Writer) error { return s.session.Save(to) }

// Close ends the session and the script that it runs.
func (s *Session) Close() error { return s.session.Close() }
