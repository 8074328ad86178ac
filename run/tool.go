package run

import (
	"context"
	"encoding/json"
)

// Tool is a function of the host that a guest may call. A Python script finds it in
// `tools`, by its name.
type Tool struct {
	// Call does the work. What it returns must be what encoding/json can write. An error
	// becomes an exception of the guest's, which shows its words. The context ends with
	// the run.
	Call func(ctx context.Context, call ToolCall) (any, error)
	// MaxCalls bounds how often one run may call it; 0 means DefaultToolCalls.
	MaxCalls int
}

// DefaultToolCalls is the bound of a tool that has none of its own.
const DefaultToolCalls = 1000

// ToolCall is what a guest gave to a tool. It is JSON that a stranger wrote.
type ToolCall struct {
	Args   []json.RawMessage          `json:"args"`
	Kwargs map[string]json.RawMessage `json:"kwargs"`
}
