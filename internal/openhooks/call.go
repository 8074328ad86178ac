// Package openhooks defines the calls of a hook, which HTTP and JSON lines share.
package openhooks

import (
	"context"
	"encoding/json"

	"github.com/cordon-sandbox/cordon/internal/opened"
	"github.com/cordon-sandbox/cordon/run"
)

// Hook is what a frontend needs of a *cordon.Hook.
type Hook interface {
	Call(ctx context.Context, state, config any) (run.Result, error)
	CallFunction(ctx context.Context, name string, args ...any) (run.Result, error)
	Close() error
}

// Table holds open hooks.
type Table = opened.Table[Hook]

// NewTable returns an empty table.
func NewTable(o opened.Options) *Table {
	o.Kind = "hook"
	return opened.NewTable[Hook](o)
}

// HookCall is one call of a hook: of its script with a state and a config, or of a
// function that it defines.
type HookCall struct {
	State    json.RawMessage `json:"game_state,omitempty"` // {} if it is absent
	Config   json.RawMessage `json:"mod_config,omitempty"` // {} if it is absent
	Function string          `json:"function,omitempty"`
	Args     []any           `json:"args,omitempty"`
}

// Validate refuses a call that mixes the two forms.
func (c HookCall) Validate() error {
	switch {
	case c.Function != "" && (c.State != nil || c.Config != nil):
		return run.Errorf(run.Invalid, "game_state and mod_config are for the script, and function names a function of it: write one of both")
	case c.Function == "" && len(c.Args) > 0:
		return run.Errorf(run.Invalid, "args are for a function, and none is named: write function, too")
	}
	return nil
}

// Do calls h.
func (c HookCall) Do(ctx context.Context, h Hook) (run.Result, error) {
	if c.Function != "" {
		return h.CallFunction(ctx, c.Function, c.Args...)
	}
	return h.Call(ctx, orEmpty(c.State), orEmpty(c.Config))
}

func orEmpty(value json.RawMessage) json.RawMessage {
	if value == nil {
		return json.RawMessage("{}")
	}
	return value
}
