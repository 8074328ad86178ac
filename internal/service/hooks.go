package service

import (
	"context"

	"github.com/cordon-sandbox/cordon/internal/observe"
	"github.com/cordon-sandbox/cordon/internal/token"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// HookCall is one call of a hook: of its script with a state and a config, or of a
// function that it defines.
type HookCall struct {
	State    any    `json:"game_state,omitempty"`
	Config   any    `json:"mod_config,omitempty"`
	Function string `json:"function,omitempty"`
	Args     []any  `json:"args,omitempty"`
}

// OpenHook compiles a hook and gives the id by which its owner calls it. It is open until
// it is closed, was not called for ten minutes, or the service ends.
func (s *Service) OpenHook(ctx context.Context, who token.Caller, h run.HookSpec) (id string, err error) {
	if s.Options.OpenHook == nil {
		return "", run.Errorf(run.Unsupported, "there are no hooks here")
	}
	if h, err = s.permitHook(who, h); err != nil {
		return "", err
	}
	if err := s.hooks.reserve(who.Name); err != nil {
		return "", err
	}
	defer func() {
		if id == "" {
			s.hooks.release(who.Name)
		}
	}()
	// It is known before its turn ends: or else the service could end in between, and
	// nobody would close it.
	err = s.inTurn(ctx, who, func(ctx context.Context) error {
		made, err := s.Options.OpenHook(ctx, h)
		if err == nil {
			id = s.hooks.add(&opened{Hook: made, owner: who.Name, script: h.Script})
		}
		return err
	})
	return id, err
}

// CallHook calls a hook of somebody's own.
func (s *Service) CallHook(ctx context.Context, who token.Caller, frontend observe.Frontend, id string, c HookCall) (Answer, error) {
	seen := observe.Run{Frontend: frontend, Kind: observe.Hook}
	return s.observed(ctx, who, seen, func(ctx context.Context, v *visit) (run.Result, error) {
		h, err := s.hooks.use(who.Name, id)
		if err != nil {
			return run.Result{}, err
		}
		defer s.hooks.done(h)
		v.Code = h.script
		if err := s.roomFor(who, policy.Limits{}); err != nil {
			return run.Result{}, err
		}
		if err := v.wait(ctx); err != nil {
			return run.Result{}, err
		}
		if c.Function != "" {
			return h.CallFunction(ctx, c.Function, c.Args...)
		}
		return h.Call(ctx, c.State, c.Config)
	})
}

// CloseHook lets go of a hook of somebody's own, after the calls under way.
func (s *Service) CloseHook(who token.Caller, id string) error {
	_, leave, err := s.enter(s.life)
	if err != nil {
		return err
	}
	defer leave()
	h, err := s.hooks.take(who.Name, id)
	if err != nil {
		return err
	}
	<-h.quiet
	return h.Close()
}

// Hooks is how many are open.
func (s *Service) Hooks() int {
	s.hooks.mu.Lock()
	defer s.hooks.mu.Unlock()
	return len(s.hooks.open)
}
