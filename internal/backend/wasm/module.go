package wasm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/cordon-sandbox/cordon/internal/wasmbin"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Module is one that was checked, rewritten and compiled.
type Module struct {
	backend *Backend
	digest  string
	parsed  *wasmbin.Module
	engine  *engine
	code    wazero.CompiledModule

	mu     sync.Mutex
	runs   int // under way
	closed bool
}

// OpenModule checks and compiles a module. That takes a turn: it is as much work as many
// a run, and the engine must not be closed meanwhile.
func (b *Backend) OpenModule(ctx context.Context, binary []byte) (*Module, error) {
	if err := b.gate.Enter(ctx); err != nil {
		return nil, err
	}
	defer b.gate.Leave()
	m, err := b.open(ctx, binary, wasmbin.Metering{Grain: wasmbin.Exact, Stack: true})
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(binary)
	m.digest = hex.EncodeToString(sum[:])
	return m, nil
}

// stackWords bounds how deeply calls may be nested, in words of eight bytes. Each call is
// charged with the most that it could need, which is several times what it does need.
const stackWords = 4 << 20

func (b *Backend) open(ctx context.Context, binary []byte, how wasmbin.Metering) (*Module, error) {
	parsed, err := wasmbin.Parse(binary)
	if err != nil {
		return nil, run.Wrap(run.Invalid, err)
	}
	offers, err := b.engines.offers(ctx)
	if err != nil {
		return nil, err
	}
	// Before it is compiled, which takes time and room, and would have to be undone.
	if err := checkImports(parsed.Imports, offers); err != nil {
		return nil, err
	}
	counted, err := parsed.Meter(how)
	if err != nil {
		return nil, run.Wrap(run.Invalid, err)
	}
	engine, code, err := b.engines.compile(ctx, counted, how.Grain != wasmbin.Exact)
	if err != nil {
		return nil, err
	}
	return &Module{backend: b, parsed: parsed, engine: engine, code: code}, nil
}

// Digest is that of what was opened.
func (m *Module) Digest() string { return m.digest }

// Close lets go of the compiled code. Runs under way keep it until they end.
func (m *Module) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil
	}
	m.closed = true
	return m.letGo()
}

// begin is for a run, and end for its end.
func (m *Module) begin() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return run.Errorf(run.Closed, "the module is closed")
	}
	m.runs++
	return nil
}

func (m *Module) end() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.runs--
	return m.letGo()
}

func (m *Module) letGo() error {
	if !m.closed || m.runs > 0 {
		return nil
	}
	return m.code.Close(context.Background())
}

// checkImports says all at once what a module wants and cannot have.
func checkImports(wanted []wasmbin.Import, there offers) error {
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
			problems = append(problems, fmt.Sprintf("%s.%s: there are %s", i.Module, i.Name, strings.Join(hostModules[:2], " and ")))
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

// fits says whether the memory that a module begins with is within the limit.
func (m *Module) fits(limit policy.Bytes) error {
	if own := m.parsed.Memory; own != nil && own.Min*wasmPage > int64(limit) {
		return fmt.Errorf("the module begins with a memory of %v, and the limit is %v", policy.Bytes(own.Min*wasmPage), limit)
	}
	return nil
}
