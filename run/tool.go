package run

import (
	"context"
	"encoding/json"
)

// Tool is a function of the host that a guest may call. A Python script calls it as
// `tools.name`.
type Tool struct {
	// Call does the work. Its result is encoded with encoding/json. An error becomes an
	// exception in the guest, with the error's message. The context ends with the run.
	Call func(ctx context.Context, call ToolCall) (any, error)
	// MaxCalls is how often one run may call the tool; 0 means DefaultToolCalls.
	MaxCalls int
}

// DefaultToolCalls is the maximum number of calls of a tool that sets none.
const DefaultToolCalls = 1000

// ToolCall holds the arguments of a call. They are untrusted JSON.
type ToolCall struct {
	Args   []json.RawMessage          `json:"args"`
	Kwargs map[string]json.RawMessage `json:"kwargs"`
}
