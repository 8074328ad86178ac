package hook

import (
	"context"
	"runtime"
	"time"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Lifetime is the total CPU time of a worker. Each call has its own limit, which the
// Runner's clock enforces.
const Lifetime = 24 * time.Hour

// MaxCalls is the number of calls after which a worker is replaced: by then its memory is
// fragmented, and its hash secret old.
const MaxCalls = 100_000

// Set is the open hooks of a backend, which closes them. The zero value is empty.
type Set struct{ open backend.Set[*Hook] }

// Open opens a hook in a first worker. Calls of a platform hook share workers. Any other
// hook gets a new worker for each call, opened ahead of it: start is called with once. Only
// this function decides what an empty Trust means.
func (s *Set) Open(ctx context.Context, h run.HookSpec, ahead *Ahead, start func(ctx context.Context, once bool) (Worker, error)) (*Hook, error) {
	once := h.Trust != policy.TrustPlatform
	options := Options{MaxWorkers: h.Workers}
	options.Start = func(ctx context.Context) (Worker, error) {
		return backend.UntilStarted(ctx, func() (Worker, error) { return start(ctx, once) })
	}
	if options.MaxWorkers == 0 {
		options.MaxWorkers = max(2*runtime.NumCPU(), 4)
	}
	if once {
		options.Ahead = ahead
	}
	first, err := options.Start(ctx)
	if err != nil {
		return nil, err
	}
	var opened *Hook
	options.OnClose = func() { s.open.Remove(opened) }
	opened = New(first, options)
	if !s.open.Add(opened) {
		opened.Close()
		return nil, backend.ErrClosed()
	}
	return opened, nil
}

// Idle returns the number of idle workers of all hooks.
func (s *Set) Idle() (idle int) {
	for _, h := range s.open.All() {
		idle += h.Idle()
	}
	return idle
}

// Close closes all hooks, and refuses new ones.
func (s *Set) Close() {
	for _, h := range s.open.Close() {
		h.Close()
	}
}
