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

// engines are what metered modules run on.
var engines = map[string]func() wazero.RuntimeConfig{
	"compiler":    wazero.NewRuntimeConfigCompiler,
	"interpreter": wazero.NewRuntimeConfigInterpreter,
}

func onEveryEngine(t *testing.T, test func(t *testing.T, w *world)) {
	for _, name := range slices.Sorted(maps.Keys(engines)) {
		t.Run(name, func(t *testing.T) { test(t, newWorld(t, name)) })
	}
}

var (
	errFuel     = errors.New("nothing left")
	errOverflow = errors.New("calls too deep")
)

// world is an engine with a host in it.
type world struct {
	wazero.Runtime
	ctx     context.Context
	engine  string
	granted map[api.Module]int64 // so far
	budget  int64                // in total
	portion int64                // at a time
	asked   int
	longest int64                // that was owed when it was asked for more
	room    uint64               // for calls, in words
	depth   func(stack []uint64) // gets the address of the engine's stack, from "test" "probe"
}

func newWorld(t testing.TB, engine string) *world {
	w := &world{ctx: t.Context(), engine: engine, granted: map[api.Module]int64{}, budget: 1 << 40, portion: 1 << 20, room: 1 << 20}
	w.Runtime = wazero.NewRuntimeWithConfig(w.ctx, engines[engine]().WithMemoryLimitPages(1024))
	t.Cleanup(func() {
		if err := w.Close(context.WithoutCancel(w.ctx)); err != nil {
			t.Error(err)
		}
	})
	_, err := w.NewHostModuleBuilder(HostModule).
		NewFunctionBuilder().WithFunc(w.refill).Export(Refill).
		NewFunctionBuilder().WithFunc(func() { panic(errOverflow) }).Export(Overflow).
		Instantiate(w.ctx)
	must(t, err)
	_, err = w.NewHostModuleBuilder("test").
		NewFunctionBuilder().WithFunc(func(n int32) int32 { return n + 1 }).Export("next").
		NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(w.probe), nil, nil).Export("probe").
		Instantiate(w.ctx)
	must(t, err)
	return w
}

func (w *world) refill(_ context.Context, guest api.Module, left int64) int64 {
	w.asked++
	w.longest = max(w.longest, -left)
	if left >= 0 {
		panic(fmt.Errorf("asked for more with %d left", left))
	}
	if w.granted[guest]-left > w.budget {
		panic(errFuel)
	}
	// At least as much as is owed: a long instruction may take many portions.
	grant := max(w.portion, -left)
	w.granted[guest] += grant
	return left + grant
}

func (w *world) probe(_ context.Context, _ api.Module, stack []uint64) {
	if w.depth != nil {
		w.depth(stack[:cap(stack)])
	}
}

// must ends a test.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// ways are all that can be made of a module. The first is as it was.
var ways = []string{"original", "naive", "exact", "exact and stack", "coarse", "coarse and stack"}

// made makes it.
func made(m *Module, original []byte, way string) ([]byte, error) {
	switch how := (Metering{Stack: strings.HasSuffix(way, "stack")}); {
	case way == "original":
		return original, nil
	case way == "naive":
		return naive(m), nil
	case strings.HasPrefix(way, "coarse"):
		how.Grain = Coarse
		return m.Meter(how)
	default:
		return m.Meter(how)
	}
}

// compiled is a module in all ways.
func (w *world) compiled(t testing.TB, original []byte) (all []wazero.CompiledModule) {
	t.Helper()
	m, err := Parse(original)
	must(t, err)
	for _, way := range ways {
		binary, err := made(m, original, way)
		if err != nil {
			t.Fatalf("%s: %v", way, err)
		}
		c, err := w.CompileModule(w.ctx, binary)
		if err != nil {
			t.Fatalf("%s: %v", way, err)
		}
		all = append(all, c)
	}
	return all
}

// instance begins one.
func (w *world) instance(c wazero.CompiledModule) (api.Module, error) {
	return w.InstantiateModule(w.ctx, c, wazero.NewModuleConfig().WithName("").WithStartFunctions())
}

// setRoom has to be done before each call: functions do not give back what they took.
func (w *world) setRoom(instance api.Module, words uint64) {
	if g := instance.ExportedGlobal(StackExport); g != nil {
		g.(api.MutableGlobal).Set(words)
	}
}

// used is how much an instance has counted.
func (w *world) used(instance api.Module) int64 {
	if g := instance.ExportedGlobal(CounterExport); g != nil {
		return w.granted[instance] - int64(g.Get())
	}
	return 0
}

// end is how a call ended.
type end struct {
	results string
	failure string // empty if it returned
	used    int64
}

// call calls a function.
func (w *world) call(instance api.Module, name string, arguments ...uint64) end {
	before := w.used(instance)
	w.setRoom(instance, w.room)
	function := instance.ExportedFunction(name)
	results, err := function.Call(w.ctx, arguments...)
	at := 0
	for _, t := range function.Definition().ResultTypes() {
		switch {
		case err != nil:
		case t == typeFuncRef:
			results[at] = min(results[at], 1) // an address, of which we know whether it is one
		case t == typeV128:
			at++
		case t == typeI32 || t == typeF32:
			results[at] = uint64(uint32(results[at])) // the rest is not said to be anything
		}
		at++
	}
	e := end{results: fmt.Sprint(results), used: w.used(instance) - before}
	if err != nil {
		e.failure = failure(err)
	}
	return e
}

// memory tells what a guest left behind.
func memory(instance api.Module) string {
	if len(instance.ExportedMemoryDefinitions()) == 0 {
		return ""
	}
	all, _ := instance.Memory().Read(0, instance.Memory().Size())
	return fmt.Sprint(len(all), crc64.Checksum(all, crcTable))
}

var crcTable = crc64.MakeTable(crc64.ECMA)

// failure is the first line of an error: what follows is a trace.
func failure(err error) string {
	for _, known := range []error{errFuel, errOverflow} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
