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

// Module is code that was checked, rewritten and compiled.
type Module struct {
	*wasmbin.Module // as it was, before it was rewritten

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
	// Before compiling, which takes time and memory.
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

// Instantiate makes an instance, whose guest is in ctx.
func (m *Module) Instantiate(ctx context.Context, world wazero.ModuleConfig) (api.Module, error) {
	return m.runtime.InstantiateModule(ctx, m.code, world)
}

// Close frees the compiled code. No instance may be left.
func (m *Module) Close() error { return m.code.Close(context.Background()) }

// checkImports names what a module imports and cannot have, all at once.
func checkImports(wanted []wasmbin.Import, there exports) error {
	var problems []string
	for _, i := range wanted {
		functions, known := there[i.Module]
		definition := functions[i.Name]
		switch {
		case i.Kind != wasmbin.Function:
			problems = append(problems, fmt.Sprintf("%s.%s: a %s, and none can be imported", i.Module, i.Name, i.Kind))
		case i.Module == "wasi_unstable":
			problems = append(problems, fmt.Sprintf("%s.%s: a WASI of before 2020: build it anew, for wasi_snapshot_preview1", i.Module, i.Name))
		case !known:
			problems = append(problems, fmt.Sprintf("%s.%s: there are %s", i.Module, i.Name, strings.Join(guest.HostModules[:2], " and ")))
		case definition == nil:
			problems = append(problems, fmt.Sprintf("%s.%s: there are %s", i.Module, i.Name, strings.Join(slices.Sorted(maps.Keys(functions)), ", ")))
		case typeOf(definition) != i.Type:
			problems = append(problems, fmt.Sprintf("%s.%s: it is %s here, and the module has %s", i.Module, i.Name, typeOf(definition), i.Type))
		}
	}
	const most = 5
	switch n := len(problems); {
	case n == 0:
		return nil
	case n > most:
		problems = append(problems[:most], fmt.Sprintf("and %d more", n-most))
	}
	return run.Errorf(run.Invalid, "the module imports what does not exist here: %s", strings.Join(problems, "; "))
}

// typeOf writes a type as internal/wasmbin does.
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
