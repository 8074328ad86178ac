package wasm

import (
	"context"
	"errors"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/run"
)

// Session is an interpreter that serves one script after another: what one leaves in its
// globals, the next one finds. It can be saved, loaded and forked, because its memory is
// all that there is of it.
type Session struct {
	backend    *Backend
	restricted bool
	life       context.Context // over when it is closed, and a run in it too
	end        context.CancelFunc

	// turn holds one, for whoever uses what is below.
	turn     chan struct{}
	instance *instance
	over     error // why it can be used no more
}

// OpenSession starts one.
func (b *Backend) OpenSession(ctx context.Context, restricted bool) (*Session, error) {
	if err := b.gate.Enter(ctx); err != nil {
		return nil, err
	}
	defer b.gate.Leave()
	p, err := b.kind(restricted).Get(ctx)
	if err != nil {
		return nil, err
	}
	i, err := p.lease()
	if err != nil {
		return nil, err
	}
	return b.newSession(i, restricted)
}

// newSession makes one of an instance, which ends with the Runner.
func (b *Backend) newSession(i *instance, restricted bool) (*Session, error) {
	s := &Session{backend: b, restricted: restricted, instance: i, turn: make(chan struct{}, 1)}
	s.life, s.end = context.WithCancel(context.Background())
	s.turn <- struct{}{}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.sessions == nil {
		return nil, errors.Join(backend.ErrClosed(), s.close(backend.ErrClosed()))
	}
	b.sessions[s] = true
	return s, nil
}

// Restricted says whether its scripts go by the language rules.
func (s *Session) Restricted() bool { return s.restricted }

// Run runs a script in the session. They wait for each other, and come to the gate only
// then: those who wait in one session take no turns from others.
func (s *Session) Run(ctx context.Context, job backend.Job) (run.Result, error) {
	if job.Script.Restricted != s.restricted {
		return run.Result{}, run.Errorf(run.Invalid, "a session is by the language rules from its beginning to its end, or not at all")
	}
	select {
	case <-s.turn:
		defer s.done()
	case <-ctx.Done():
		return run.Result{}, ctx.Err()
	}
	if s.over != nil {
		return run.Result{}, s.over
	}
	if err := s.backend.gate.Enter(ctx); err != nil {
		return run.Result{}, err
	}
	defer s.backend.gate.Leave()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.life, cancel)()
	result, err := s.instance.run(ctx, s.backend.completed(job), true)
	result.Enforcement = s.backend.enforcementOf(job)
	if s.instance.stopped {
		// It was stopped in the middle of something, and nobody knows of what.
		err = errors.Join(err, s.close(run.Errorf(run.Closed, "the session ended with a run that did not come to its end: %s", result.Error)))
	}
	return result, err
}

// use waits for the turn, and says whether the session can be used.
func (s *Session) use() error {
	<-s.turn
	if s.over != nil {
		s.done()
	}
	return s.over
}

func (s *Session) done() { s.turn <- struct{}{} }

// Fork gives a session that begins with all that this one has by now. Files that are open
// stay with the old one.
func (s *Session) Fork() (*Session, error) {
	if err := s.use(); err != nil {
		return nil, err
	}
	defer s.done()
	old := s.instance
	size := old.guest.memory.size
	region, err := old.image.region()
	if err != nil {
		return nil, run.Errorf(run.Internal, "a memory for CPython: %w", err)
	}
	if !region.grow(size) {
		old.image.give(region)
		return nil, run.Errorf(run.Internal, "a memory for CPython: it does not grow to %d bytes", size)
	}
	changed, err := old.guest.memory.region.changed(size)
	if err != nil {
		changed = []pages{{0, size}} // more than must be, and no less
	}
	for _, p := range changed {
		copy(region.bytes[p.at:p.at+p.length], old.guest.memory.region.bytes[p.at:p.at+p.length])
	}
	i, err := old.interpreter.instance(old.image, region, size)
	if err != nil {
		return nil, err
	}
	return s.backend.newSession(i, s.restricted)
}

// Close ends the session, and a run in it that is under way.
func (s *Session) Close() error {
	defer s.backend.forget(s) // in the end: until then the Runner's waits for it
	s.end()
	if s.use() != nil {
		return nil
	}
	defer s.done()
	return s.close(run.Errorf(run.Closed, "the session is closed"))
}

// close lets go of the memory. Whoever calls it has the turn, or is the only one.
func (s *Session) close(why error) error {
	s.over = why
	s.end()
	return s.instance.close()
}

func (b *Backend) forget(s *Session) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.sessions, s)
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
