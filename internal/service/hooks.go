package service

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"

	"github.com/cordon-sandbox/cordon/internal/observe"
	"github.com/cordon-sandbox/cordon/internal/token"
	"github.com/cordon-sandbox/cordon/run"
)

// mostHooks bounds those that one caller has open: each keeps workers.
const mostHooks = 32

// hooks are those that are open, by their ids. The zero value is empty.
type hooks struct {
	mu   sync.Mutex
	open map[string]*opened
}

type opened struct {
	Hook
	owner, script string
	calls         sync.WaitGroup // under way
}

// HookCall is one call of a hook: of its script with a state and a config, or of a
// function that it defines.
type HookCall struct {
	State    any    `json:"game_state,omitempty"`
	Config   any    `json:"mod_config,omitempty"`
	Function string `json:"function,omitempty"`
	Args     []any  `json:"args,omitempty"`
}

// OpenHook compiles a hook and gives the id by which its owner calls it.
func (s *Service) OpenHook(ctx context.Context, who token.Caller, h run.Hook) (id string, err error) {
	if s.Options.OpenHook == nil {
		return "", run.Errorf(run.Unsupported, "there are no hooks here")
	}
	if h.Limits, err = s.narrow(who, h.Limits); err != nil {
		return "", err
	}
	if n := s.hooks.of(who.Name); n >= mostHooks {
		return "", run.Errorf(run.Busy, "%d hooks are open: close one first", n)
	}
	var made Hook
	err = s.inTurn(ctx, who, func(ctx context.Context) error {
		made, err = s.Options.OpenHook(ctx, h)
		return err
	})
	if err != nil {
		return "", err
	}
	return s.hooks.add(&opened{Hook: made, owner: who.Name, script: h.Script}), nil
}

// CallHook calls a hook of somebody's own.
func (s *Service) CallHook(ctx context.Context, who token.Caller, door observe.Door, id string, c HookCall) (run.Result, error) {
	h, err := s.hooks.use(who.Name, id)
	if err != nil {
		return run.Result{}, err
	}
	defer h.calls.Done()
	return s.observed(ctx, who, observe.Run{Door: door, Kind: observe.Hook, Code: h.script}, func(ctx context.Context, turn *turn) (run.Result, error) {
		if err := turn.wait(ctx); err != nil {
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
	h, err := s.hooks.take(who.Name, id)
	if err != nil {
		return err
	}
	h.calls.Wait()
	return h.Close()
}

func (h *hooks) of(owner string) (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, one := range h.open {
		if one.owner == owner {
			n++
		}
	}
	return n
}

func (h *hooks) add(one *opened) (id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.open == nil {
		h.open = map[string]*opened{}
	}
	id = rand.Text()
	h.open[id] = one
	return id
}

// use gives a hook that will not be closed before its call is done.
func (h *hooks) use(owner, id string) (*opened, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	one, err := h.find(owner, id)
	if err == nil {
		one.calls.Add(1)
	}
	return one, err
}

func (h *hooks) take(owner, id string) (*opened, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	one, err := h.find(owner, id)
	if err == nil {
		delete(h.open, id)
	}
	return one, err
}

// find: somebody else's hook is as unknown as one that does not exist.
func (h *hooks) find(owner, id string) (*opened, error) {
	if one := h.open[id]; one != nil && one.owner == owner {
		return one, nil
	}
	return nil, run.Errorf(run.Unknown, "no hook has the id %q: it was never opened here, or is closed", id)
}

// close lets go of all of them. Nothing is called any more.
func (h *hooks) close() (err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for id, one := range h.open {
		err = errors.Join(err, one.Close())
		delete(h.open, id)
	}
	return err
}
