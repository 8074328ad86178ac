package service

import (
	"context"
	"time"

	"github.com/cordon-sandbox/cordon/internal/observe"
	"github.com/cordon-sandbox/cordon/internal/openhooks"
	"github.com/cordon-sandbox/cordon/internal/token"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

const (
	// maxHooks bounds the open hooks of one caller: each keeps workers.
	maxHooks = 32
	// maxWorkers bounds the workers of one hook.
	maxWorkers = 64
	// hookIdleTimeout is how long a hook stays open without a call.
	hookIdleTimeout = 10 * time.Minute
)

// OpenHook compiles a hook and returns the id by which its owner calls it. It stays open
// until it is closed, is not called for ten minutes, or the service ends.
func (s *Service) OpenHook(ctx context.Context, who token.Caller, h run.HookSpec) (id string, err error) {
	if h, err = s.permitHook(who, h); err != nil {
		return "", err
	}
	if s.Options.OpenHook == nil {
		return "", run.Errorf(run.Unsupported, "there are no hooks here")
	}
	if err := s.hooks.Reserve(who.Name); err != nil {
		return "", err
	}
	defer func() {
		if id == "" {
			s.hooks.Release(who.Name)
		}
	}()
	// Add it before the request ends: otherwise the service could end in between, and
	// nobody would close the hook.
	err = s.inTurn(ctx, who, func(ctx context.Context) error {
		made, err := s.Options.OpenHook(ctx, h)
		if err == nil {
			id = s.hooks.Add(who.Name, h.Script, made)
		}
		return err
	})
	return id, err
}

// CallHook calls one of the caller's own hooks.
func (s *Service) CallHook(ctx context.Context, who token.Caller, frontend observe.Frontend, id string, c openhooks.HookCall) (Answer, error) {
	if err := c.Validate(); err != nil {
		return Answer{}, err
	}
	seen := observe.Run{Frontend: frontend, Kind: observe.Hook}
	return s.observed(ctx, who, seen, func(ctx context.Context, v *visit) (run.Result, error) {
		h, err := s.hooks.Use(who.Name, id)
		if err != nil {
			return run.Result{}, err
		}
		defer s.hooks.Done(h)
		v.Code = h.Script
		if err := s.roomFor(who, policy.Limits{}); err != nil {
			return run.Result{}, err
		}
		return c.Do(v.queued(ctx), h.Held)
	})
}

// CloseHook closes one of the caller's own hooks, after the calls under way.
func (s *Service) CloseHook(who token.Caller, id string) error {
	_, leave, err := s.enter(s.life)
	if err != nil {
		return err
	}
	defer leave()
	return s.hooks.CloseOne(who.Name, id)
}

// Hooks returns the number of open hooks.
func (s *Service) Hooks() int { return s.hooks.Len() }
