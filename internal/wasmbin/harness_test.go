package wasmbin

import (
	"context"
	"errors"
	"fmt"
	"hash/crc64"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// engines are the configurations that metered modules are tested with.
var engines = map[string]func() wazero.RuntimeConfig{
	"compiler":    wazero.NewRuntimeConfigCompiler,
	"interpreter": wazero.NewRuntimeConfigInterpreter,
}

// onEveryEngine runs a test as a subtest on each engine.
func onEveryEngine(t *testing.T, test func(t *testing.T, h *host)) {
	for _, name := range slices.Sorted(maps.Keys(engines)) {
		t.Run(name, func(t *testing.T) { test(t, newHost(t, name)) })
	}
}

var (
	errFuel     = errors.New("out of fuel")
	errOverflow = errors.New("call stack exhausted")
)

// host is an engine with the functions that metered modules and the tests import.
type host struct {
	wazero.Runtime
	ctx        context.Context
	engine     string
	granted    map[api.Module]int64 // fuel that each instance got so far
	budget     int64                // fuel that each instance may get in total
	grant      int64                // fuel per refill
	refills    int                  // calls of refill
	maxDebt    int64                // the most fuel that was overdrawn at a refill
	stackWords uint64               // stack for each call, in words
	onProbe    func(stack []uint64) // called by "test" "probe" with a slice on the engine's stack
}

func newHost(t testing.TB, engine string) *host {
	h := &host{ctx: t.Context(), engine: engine, granted: map[api.Module]int64{}, budget: 1 << 40, grant: 1 << 20, stackWords: 1 << 20}
	h.Runtime = wazero.NewRuntimeWithConfig(h.ctx, engines[engine]().WithMemoryLimitPages(1024))
	t.Cleanup(func() {
		if err := h.Close(context.WithoutCancel(h.ctx)); err != nil {
			t.Error(err)
		}
	})
	_, err := h.NewHostModuleBuilder(HostModule).
		NewFunctionBuilder().WithFunc(h.refill).Export(Refill).
		NewFunctionBuilder().WithFunc(func() { panic(errOverflow) }).Export(Overflow).
		Instantiate(h.ctx)
	requireNoError(t, err)
	_, err = h.NewHostModuleBuilder("test").
		NewFunctionBuilder().WithFunc(func(n int32) int32 { return n + 1 }).Export("next").
		NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(h.probe), nil, nil).Export("probe").
		Instantiate(h.ctx)
	requireNoError(t, err)
	return h
}

// refill grants more fuel, or ends the guest if its budget is used up.
func (h *host) refill(_ context.Context, guest api.Module, left int64) int64 {
	h.refills++
	h.maxDebt = max(h.maxDebt, -left)
	if left >= 0 {
		panic(fmt.Errorf("refill called with %d left", left))
	}
	if h.granted[guest]-left > h.budget {
		panic(errFuel)
	}
	// At least the debt: a bulk instruction may cost more than one grant.
	grant := max(h.grant, -left)
	h.granted[guest] += grant
	return left + grant
}

func (h *host) probe(_ context.Context, _ api.Module, stack []uint64) {
	if h.onProbe != nil {
		h.onProbe(stack[:cap(stack)])
	}
}

// requireNoError ends the test if there is an error.
func requireNoError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// variants are the forms in which a module is tested. The first is the unchanged module.
var variants = []string{"original", "naive", "exact", "exact and stack", "coarse", "coarse and stack"}

// buildVariant returns a module in one of the variants.
func buildVariant(m *Module, original []byte, variant string) ([]byte, error) {
	switch how := (Metering{Stack: strings.HasSuffix(variant, "stack")}); {
	case variant == "original":
		return original, nil
	case variant == "naive":
		return naive(m), nil
	case strings.HasPrefix(variant, "coarse"):
		how.Grain = Coarse
		return m.Meter(how)
	default:
		return m.Meter(how)
	}
}

// compileVariants compiles a module in all variants, in order.
func (h *host) compileVariants(t testing.TB, original []byte) (compiled []wazero.CompiledModule) {
	t.Helper()
	m, err := Parse(original)
	requireNoError(t, err)
	for _, variant := range variants {
		binary, err := buildVariant(m, original, variant)
		if err != nil {
			t.Fatalf("%s: %v", variant, err)
		}
		c, err := h.CompileModule(h.ctx, binary)
		if err != nil {
			t.Fatalf("%s: %v", variant, err)
		}
		compiled = append(compiled, c)
	}
	return compiled
}

// instantiate creates an instance, and does not call _start.
func (h *host) instantiate(c wazero.CompiledModule) (api.Module, error) {
	return h.InstantiateModule(h.ctx, c, wazero.NewModuleConfig().WithName("").WithStartFunctions())
}

// setStack sets the remaining stack. The host must do so before each call, because functions do
// not restore it.
func (h *host) setStack(instance api.Module, words uint64) {
	if g := instance.ExportedGlobal(StackExport); g != nil {
		g.(api.MutableGlobal).Set(words)
	}
}

// fuelUsed returns the fuel that an instance has used.
func (h *host) fuelUsed(instance api.Module) int64 {
	if g := instance.ExportedGlobal(CounterExport); g != nil {
		return h.granted[instance] - int64(g.Get())
	}
	return 0
}

// outcome is the result of a call.
type outcome struct {
	results string
	failure string // empty if the call returned
	fuel    int64  // used by the call
}

// call calls an exported function with the stack and budget of the host.
func (h *host) call(instance api.Module, name string, arguments ...uint64) outcome {
	before := h.fuelUsed(instance)
	h.setStack(instance, h.stackWords)
	function := instance.ExportedFunction(name)
	results, err := function.Call(h.ctx, arguments...)
	i := 0
	for _, t := range function.Definition().ResultTypes() {
		switch {
		case err != nil:
		case t == typeFuncRef:
			results[i] = min(results[i], 1) // an address: only whether it is null can be compared
		case t == typeV128:
			i++
		case t == typeI32 || t == typeF32:
			results[i] = uint64(uint32(results[i])) // the upper half is undefined
		}
		i++
	}
	o := outcome{results: fmt.Sprint(results), fuel: h.fuelUsed(instance) - before}
	if err != nil {
		o.failure = failureMessage(err)
	}
	return o
}

// memoryChecksum returns the size and checksum of an instance's memory, or nothing if it exports
// no memory.
func memoryChecksum(instance api.Module) string {
	if len(instance.ExportedMemoryDefinitions()) == 0 {
		return ""
	}
	data, _ := instance.Memory().Read(0, instance.Memory().Size())
	return fmt.Sprint(len(data), crc64.Checksum(data, crcTable))
}

var crcTable = crc64.MakeTable(crc64.ECMA)

// failureMessage returns the first line of an error: the others are a stack trace.
func failureMessage(err error) string {
	for _, known := range []error{errFuel, errOverflow} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
