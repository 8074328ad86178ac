package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/cordon-sandbox/cordon/internal/backend/wasm/guest"
	"github.com/cordon-sandbox/cordon/internal/wasmbin"
	"github.com/cordon-sandbox/cordon/run"
)

// Module is a checked, rewritten and compiled module.
type Module struct {
	*wasmbin.Module // before it was rewritten

	runtime *wasmRuntime
	code    wazero.CompiledModule
}

// Compile checks, rewrites and compiles a module.
func (e *Engine) Compile(ctx context.Context, binary []byte, how wasmbin.Metering) (*Module, error) {
	parsed, err := wasmbin.Parse(binary)
	if err != nil {
		return nil, run.Wrap(run.Invalid, err)
	}
	r, err := e.runtime(ctx, true)
	if err != nil {
		return nil, err
	}
	// Check before compiling, which takes time and memory.
	if err := checkImports(parsed.Imports, r.exports); err != nil {
		return nil, err
	}
	counted, err := parsed.Meter(how)
	if err != nil {
		return nil, run.Wrap(run.Invalid, err)
	}
	r, code, err := e.compile(ctx, counted, how.Grain != wasmbin.Exact)
	if err != nil {
		return nil, err
	}
	return &Module{Module: parsed, runtime: r, code: code}, nil
}

// Instantiate returns an instance. Its guest is in ctx.
func (m *Module) Instantiate(ctx context.Context, world wazero.ModuleConfig) (api.Module, error) {
	return m.runtime.InstantiateModule(ctx, m.code, world)
}

// Close frees the compiled code. No instance may exist.
func (m *Module) Close() error { return m.code.Close(context.Background()) }

// checkImports returns one error with all imports that do not exist.
func checkImports(wanted []wasmbin.Import, there exports) error {
	var problems []string
	for _, i := range wanted {
		functions, known := there[i.Module]
		definition := functions[i.Name]
		switch {
		case i.Kind != wasmbin.Function:
			problems = append(problems, fmt.Sprintf("%s.%s: a %s cannot be imported", i.Module, i.Name, i.Kind))
		case i.Module == "wasi_unstable":
			problems = append(problems, fmt.Sprintf("%s.%s: an old version of WASI: build the module for wasi_snapshot_preview1", i.Module, i.Name))
		case !known:
			problems = append(problems, fmt.Sprintf("%s.%s: there are %s", i.Module, i.Name, strings.Join(guest.HostModules[:2], " and ")))
		case definition == nil:
			problems = append(problems, fmt.Sprintf("%s.%s: there are %s", i.Module, i.Name, strings.Join(slices.Sorted(maps.Keys(functions)), ", ")))
		case typeOf(definition) != i.Type:
			problems = append(problems, fmt.Sprintf("%s.%s: its type is %s, but the module expects %s", i.Module, i.Name, typeOf(definition), i.Type))
		}
	}
	const most = 5
	switch n := len(problems); {
	case n == 0:
		return nil
	case n > most:
		problems = append(problems[:most], fmt.Sprintf("and %d more", n-most))
	}
	return run.Errorf(run.Invalid, "the module imports functions that do not exist: %s", strings.Join(problems, "; "))
}

// typeOf returns a type in the notation of internal/wasmbin.
func typeOf(f api.FunctionDefinition) string {
	names := func(types []api.ValueType) string {
		var list []string
		for _, t := range types {
			list = append(list, api.ValueTypeName(t))
		}
		return strings.Join(list, ", ")
	}
	text := "(" + names(f.ParamTypes()) + ")"
	if results := names(f.ResultTypes()); results != "" {
		text += " -> " + results
	}
	return text
}
