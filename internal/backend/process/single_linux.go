package process

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/zygote"
	"github.com/cordon-sandbox/cordon/policy"
)

// singles supplies the workers of a backend with OneShot. The worker for the expected run
// is started ahead. For any other run, a fork server is started while the caller waits,
// and becomes the worker itself.
type singles struct {
	backend *Backend
	recipe

	mu      sync.Mutex // held while a worker starts
	ready   *member    // nil once it was taken
	servers []*zygote.Zygote
	stopped bool
}

func newSingles(ctx context.Context, b *Backend, r recipe) (*singles, error) {
	s := &singles{backend: b, recipe: r}
	m, err := s.start(ctx, s.scratch)
	s.ready = m
	return s, err
}

func (s *singles) take(ctx context.Context, scratch policy.Bytes) (*member, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.ready; m != nil && scratch == s.scratch {
		s.ready = nil
		return m, nil
	}
	if s.stopped {
		return nil, backend.ErrClosed() // nothing would end another
	}
	return s.start(ctx, scratch)
}

func (s *singles) start(ctx context.Context, scratch policy.Bytes) (*member, error) {
	m, err := s.backend.startSingle(ctx, s.recipe, scratch)
	if err != nil {
		return nil, err
	}
	s.servers = append(slices.DeleteFunc(s.servers, (*zygote.Zygote).Gone), m.server)
	return m, nil
}

func (s *singles) waiting() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ready != nil {
		return 1
	}
	return 0
}

func (s *singles) stopAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
	for _, z := range s.servers {
		z.Close()
	}
}

func (s *singles) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ready != nil {
		s.ready.Close()
		s.ready = nil
	}
}

// startSingle starts a fork server that becomes its only worker.
func (b *Backend) startSingle(ctx context.Context, r recipe, scratch policy.Bytes) (*member, error) {
	began := time.Now()
	config := b.config(r)
	config.OneShot = true
	z, err := zygote.Launch(ctx, config)
	if err != nil {
		return nil, b.explain(ctx, err)
	}
	m := newMember(z)
	join, err := m.lease(b)
	if err != nil {
		z.Abandon()
		return nil, err
	}
	if m.Worker, err = z.Become(ctx, scratch, join, m.letGo); err != nil {
		m.letGo()
		return nil, b.explain(ctx, err)
	}
	r.meter.Setups.Since(began)
	return m, m.enroll(join)
}
