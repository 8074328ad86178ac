package wasm

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/tetratelabs/wazero/api"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/backend/verdict"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// allocators are the functions that allocate memory for the argument in a module. The first
// that the module exports is used. All are (size i32) -> i32.
var allocators = []string{"cordon_alloc", "malloc"}

// A callable function is (address i32, length i32) -> i64. Its arguments locate the JSON.
// Its result locates the answer: the address in the upper half, the length in the lower.
const (
	callType     = "(i32, i32) -> i64"
	allocateType = "(i32) -> i32"
)

// Call calls an exported function of the module in a new instance.
func (m *Module) Call(ctx context.Context, job backend.Job, function string, argument []byte) (run.Result, error) {
	allocate, err := m.callable(function)
	if err != nil {
		return run.Result{}, err
	}
	pass, err := m.backend.gate.Enter(ctx)
	if err != nil {
		return run.Result{}, err
	}
	defer pass.Leave()
	return m.execute(ctx, job, func(ctx context.Context, i api.Module) (verdict.Value, error) {
		if _, library := m.code.Export(initialize); library {
			if _, err := call(ctx, i, initialize); err != nil {
				return verdict.Value{}, err
			}
		}
		room, err := call(ctx, i, allocate, uint64(len(argument)))
		if err != nil {
			return verdict.Value{}, err
		}
		if !i.Memory().Write(uint32(room[0]), argument) || uint32(room[0]) == 0 {
			return verdict.Value{Wrong: fmt.Sprintf("%s did not allocate %d bytes", allocate, len(argument))}, nil
		}
		answer, err := call(ctx, i, function, room[0], uint64(len(argument)))
		if err != nil {
			return verdict.Value{}, err
		}
		return answerOf(i.Memory(), function, answer[0], job.Limits.Result), nil
	})
}

// callable checks that a module has the exports that a call needs.
func (m *Module) callable(function string) (allocate string, err error) {
	export, there := m.code.Export(function)
	switch {
	case !there || export.Type == "":
		return "", run.Errorf(run.NotFound, "the module exports no function %q", function)
	case export.Type != callType:
		return "", run.Errorf(run.Invalid, "the function %q is %s, but a function that is called with JSON is %s: see docs/wasm.md", function, export.Type, callType)
	}
	if m.code.Memory == nil {
		return "", run.Errorf(run.Invalid, "the module has no memory for its argument")
	}
	for _, name := range allocators {
		if export, there := m.code.Export(name); there && export.Type == allocateType {
			return name, nil
		}
	}
	return "", run.Errorf(run.Invalid, "the module exports neither cordon_alloc nor malloc, %s, to allocate memory for its argument", allocateType)
}

// answerOf reads the JSON that a function returns.
func answerOf(memory api.Memory, function string, packed uint64, most policy.Bytes) verdict.Value {
	at, length := uint32(packed>>32), uint32(packed)
	if length == 0 {
		return verdict.Value{}
	}
	text, ok := memory.Read(at, length)
	switch {
	case !ok:
		return verdict.Value{Wrong: fmt.Sprintf("the answer of %s is outside its memory: %d bytes at %#x", function, length, at)}
	case policy.Bytes(length) > most:
		return verdict.Value{TooLarge: true}
	}
	// On one line and without spaces, like all results.
	var compact bytes.Buffer
	compact.Grow(len(text))
	if err := json.Compact(&compact, text); err != nil {
		return verdict.Value{Wrong: fmt.Sprintf("the answer of %s is not JSON", function)}
	}
	return verdict.Value{JSON: compact.Bytes()}
}
