package cordon

import (
	"context"
	"errors"
	"io"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Session is an interpreter that serves one script after another: what
// one leaves in its globals, the next one finds. It can be forked, and saved to be
// loaded later, elsewhere.
//
// A run that is ended from outside (a limit, a cancel, a crash) ends the session: its
// interpreter was stopped in the middle of something. Fork a session before a run that
// may do so.
type Session struct {
	runner     *Runner
	session    backend.Session
	restricted bool
}

// OpenSession starts a session.
func (r *Runner) OpenSession(ctx context.Context, s run.SessionOptions) (*Session, error) {
	b, err := r.sessionTier(ctx, s.Trust)
	if err != nil {
		return nil, err
	}
	restricted := s.Restricted || r.policy.Restricts()
	opened, err := b.OpenSession(ctx, backend.SessionOptions{Restricted: restricted})
	if err != nil {
		return nil, err
	}
	return &Session{r, opened, restricted}, nil
}

// LoadSession continues a session that was saved, by a cordon with the same Python and
// under a policy with the same grants. What is damaged or of another build is an error
// of class run.Invalid.
//
// A snapshot is a guest, and is trusted as one: it gets nothing that the policy does not
// give. The language rules are inside of it, so that who may change the file may change
// them too.
func (r *Runner) LoadSession(ctx context.Context, from io.Reader) (*Session, error) {
	b, err := r.sessionTier(ctx, "")
	if err != nil {
		return nil, err
	}
	loaded, err := b.LoadSession(ctx, from)
	if err != nil {
		return nil, err
	}
	s := &Session{r, loaded, loaded.Restricted()}
	if r.policy.Restricts() && !s.restricted {
		return nil, errors.Join(run.Errorf(run.Invalid, "the policy requires the language rules of all code, and the snapshot was made without"), s.Close())
	}
	return s, nil
}

// sessionTier is the tier that offers sessions, if it is strong enough for the code.
func (r *Runner) sessionTier(ctx context.Context, trust policy.Trust) (backend.SessionOpener, error) {
	if _, err := r.selectTier(&run.Request{Tier: registered.Offering(backend.Sessions), Trust: trust}); err != nil {
		return nil, err
	}
	return offering[backend.SessionOpener](ctx, r, backend.Sessions)
}

// Run runs a script in the session, with limits of its own. Scripts of one session wait
// for each other, as Fork and Save wait for a script.
func (s *Session) Run(ctx context.Context, req run.Request) (run.Result, error) {
	if req.Kind() != run.KindScript {
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
	result, err := s.session.Run(ctx, job)
	result.ID = req.ID
	return withCause(ctx, result), err
}

// Fork gives a second session, which begins with all that this one has by now. Open files
// and /tmp stay with the first.
func (s *Session) Fork() (*Session, error) {
	forked, err := s.session.Fork()
	if err != nil {
		return nil, err
	}
	return &Session{s.runner, forked, s.restricted}, nil
}

// Save writes the session as it is now. Open files and /tmp are not in it.
func (s *Session) Save(to io.Writer) error { return s.session.Save(to) }

// Close ends the session, and a run in it that is under way.
func (s *Session) Close() error { return s.session.Close() }
