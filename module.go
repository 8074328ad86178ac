package cordon

import (
	"context"
	"encoding/json"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/backend/wasm"
	"github.com/cordon-sandbox/cordon/run"
)

// Module is a WebAssembly module that is compiled once and run many times. Several
// goroutines may use it at once. Each run has a new instance with its own memory.
type Module struct {
	runner *Runner
	module *wasm.Module
}

var _ run.Module = (*Module)(nil)

// OpenModule checks and compiles a module: a program for WASI preview 1, which Run
// runs, or a library, whose functions Call calls. The compiled code is cached in the
// user's cache directory. An invalid module is an error of class run.Invalid.
func (r *Runner) OpenModule(ctx context.Context, binary []byte) (*Module, error) {
	turn, err := r.line.Enter(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer turn.Leave()
	modules, err := offering[interface {
		OpenModule(ctx context.Context, binary []byte) (*wasm.Module, error)
	}](ctx, r, backend.Modules)
	if err != nil {
		return nil, err
	}
	opened, err := modules.OpenModule(ctx, binary)
	if err != nil {
		return nil, err
	}
	return &Module{r, opened}, nil
}

// Call calls an exported function with a JSON argument and returns its JSON result as
// the Result's value; docs/wasm.md describes the calling convention. The argument is
// encoded with encoding/json. Whatever the function does gives a Result, as with Run.
func (m *Module) Call(ctx context.Context, function string, argument any) (run.Result, error) {
	return m.CallWith(ctx, run.Request{}, function, argument)
}

// CallWith is Call with the limits, tools and other fields of a request for a module.
func (m *Module) CallWith(ctx context.Context, req run.Request, function string, argument any) (run.Result, error) {
	text, err := json.Marshal(argument)
	if err != nil {
		return run.Result{}, run.Errorf(run.Invalid, "the argument is not JSON: %w", err)
	}
	if len(text) > run.MaxPayload {
		return run.Result{}, run.Errorf(run.Invalid, "the argument takes %d bytes, and may take %d", len(text), run.MaxPayload)
	}
	req.Module.Module = m
	_, job, err := m.runner.admit(req)
	if err != nil {
		return run.Result{}, err
	}
	turn, err := m.runner.line.Enter(ctx, nil)
	if err != nil {
		return run.Result{}, err
	}
	defer turn.Leave()
	result, err := m.module.Call(ctx, job, function, text)
	result.ID = req.ID
	return withCause(ctx, result), err
}

// Digest returns the SHA-256 of the module's file, in hexadecimal.
func (m *Module) Digest() string { return m.module.Digest() }

// Close releases the compiled code. Running guests keep it until they end.
func (m *Module) Close() error { return m.module.Close() }
