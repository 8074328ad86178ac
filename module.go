package cordon

import (
	"context"
	"encoding/json"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/backend/wasm"
	"github.com/cordon-sandbox/cordon/run"
)

// Module is WebAssembly that was checked and compiled once and is run many times, by
// many goroutines. Each run has a new instance, in a memory of its own.
type Module struct {
	runner *Runner
	module *wasm.Module
}

var _ run.Module = (*Module)(nil)

// OpenModule checks and compiles a module: a program for WASI preview 1, whose main
// function Run runs, or a library, whose functions Call calls. What was compiled is kept
// in the user's cache directory, for the next time. What is wrong with a module is an error
// of class run.Invalid.
func (r *Runner) OpenModule(ctx context.Context, binary []byte) (*Module, error) {
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

// Call calls a function that the module exports: JSON in, JSON out, as docs/wasm.md
// says. The argument is what encoding/json can write, and the Result's value what the
// function gave. Whatever it does is a Result, as with Run.
func (m *Module) Call(ctx context.Context, function string, argument any) (run.Result, error) {
	return m.CallWith(ctx, run.Request{}, function, argument)
}

// CallWith is Call with limits, tools and all else that a request for a module may say.
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
	result, err := m.module.Call(ctx, job, function, text)
	result.ID = req.ID
	return withCause(ctx, result), err
}

// Digest is the SHA-256 of what was opened, in hexadecimal.
func (m *Module) Digest() string { return m.module.Digest() }

// Close lets go of the compiled code. Runs under way keep it until they end.
func (m *Module) Close() error { return m.module.Close() }
