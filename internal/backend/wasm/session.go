package wasm

import (
	"context"
	"errors"
	"sync"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/run"
)

// Session is an interpreter that serves one script after another: what one leaves in its
// globals, the next one finds. It can be saved, loaded and forked, because its memory is
// all that there is of it.
type Session struct {
	backend    *Backend
	restricted bool

	mu       sync.Mutex
	instance *instance
	over     error // why it can be used no more
}

// OpenSession starts one.
func (b *Backend) OpenSession(ctx context.Context, restricted bool) (*Session, error) {
	p, err := b.kind(restricted).Get(ctx)
	if err != nil {
		return nil, err
	}
	i, err := p.lease()
	if err != nil {
		return nil, err
	}
	return b.keep(&Session{backend: b, restricted: restricted, instance: i})
}

// keep has a session end with the Runner.
func (b *Backend) keep(s *Session) (*Session, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.sessions == nil {
		return nil, errors.Join(backend.ErrClosed(), s.instance.close())
	}
	b.sessions[s] = true
	return s, nil
}

// Restricted says whether its scripts go by the language rules.
func (s *Session) Restricted() bool { return s.restricted }

// Run runs a script in the session. They wait for each other.
func (s *Session) Run(ctx context.Context, job backend.Job) (run.Result, error) {
	if job.Restricted != s.restricted {
		return run.Result{}, run.Errorf(run.Invalid, "a session is by the language rules from its beginning to its end, or not at all")
	}
	if err := s.backend.gate.Enter(ctx); err != nil {
		return run.Result{}, err
	}
	defer s.backend.gate.Leave()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over != nil {
		return run.Result{}, s.over
	}
	result, err := s.instance.run(ctx, s.backend.completed(job), true)
	result.Enforcement = s.backend.enforcementOf(job)
	if s.instance.stopped {
		// It was stopped in the middle of something, and nobody knows of what.
		s.over = run.Errorf(run.Closed, "the session ended with a run that did not come to its end: %s", result.Error)
		err = errors.Join(err, s.instance.close())
	}
	return result, err
}

// Fork gives a session that begins with all that this one has by now. Files that are open
// stay with the old one.
func (s *Session) Fork() (*Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over != nil {
		return nil, s.over
	}
	old := s.instance
	region, err := old.image.region()
	if err != nil {
		return nil, run.Errorf(run.Internal, "a memory for CPython: %w", err)
	}
	size := old.guest.memory.size
	changed, err := old.guest.memory.region.changed(size)
	if err != nil {
		changed = []pages{{0, size}}
	}
	for _, p := range changed {
		copy(region.bytes[p.at:p.at+p.length], old.guest.memory.region.bytes[p.at:p.at+p.length])
	}
	i, err := old.interpreter.instance(old.image, region, size)
	if err != nil {
		return nil, err
	}
	return s.backend.keep(&Session{backend: s.backend, restricted: s.restricted, instance: i})
}

// Close ends the session.
func (s *Session) Close() error {
	s.backend.mu.Lock()
	delete(s.backend.sessions, s)
	s.backend.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over != nil {
		return nil
	}
	s.over = run.Errorf(run.Closed, "the session is closed")
	return s.instance.close()
}

// closeSessions ends all there are, and lets no other begin.
func (b *Backend) closeSessions() error {
	b.mu.Lock()
	open := b.sessions
	b.sessions = nil
	b.mu.Unlock()
	var err error
	for s := range open {
		err = errors.Join(err, s.Close())
	}
	return err
}
