package wasmbin

import (
	"testing"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

// BenchmarkMetered tells how many times as long metered modules take. All ways take
// turns, and the fastest turn of each counts: on a machine with other work, nothing
// else can be compared.
func BenchmarkMetered(b *testing.B) {
	numbers := &assembly{}
	numericFunctions(numbers)
	b.Run("program", func(b *testing.B) { benchmarkWays(b, built(b, "mixed"), "") })
	for _, function := range []string{"loop", "sieve", "fib"} {
		b.Run(function, func(b *testing.B) { benchmarkWays(b, numbers.bytes(), function) })
	}
}

func benchmarkWays(b *testing.B, original []byte, function string) {
	w := newWorld(b, "compiler")
	wasi_snapshot_preview1.MustInstantiate(w.ctx, w)
	m, err := Parse(original)
	must(b, err)
	measured := []string{"original", "exact", "exact and stack", "coarse"}
	compiled := map[string]wazero.CompiledModule{}
	for _, way := range measured {
		binary, err := made(m, original, way)
		must(b, err)
		compiled[way], err = w.CompileModule(experimental.WithCompilationWorkers(w.ctx, 2), binary)
		must(b, err)
	}
	best := map[string]time.Duration{}
	const turns = 20
	b.ResetTimer()
	for b.Loop() {
		for range turns {
			for _, way := range measured {
				took := w.timed(b, compiled[way], function)
				if before, ok := best[way]; !ok || took < before {
					best[way] = took
				}
			}
		}
	}
	for _, way := range measured[1:] {
		b.ReportMetric(float64(best[way])/float64(best["original"]), map[string]string{
			"exact": "exact/original", "exact and stack": "stack/original", "coarse": "coarse/original",
		}[way])
	}
	b.ReportMetric(float64(best["original"].Microseconds()), "µs/original")
	b.ReportMetric(0, "ns/op") // says nothing: it is the sum of all ways
}

func (w *world) timed(b *testing.B, c wazero.CompiledModule, function string) time.Duration {
	if function == "" {
		begin := time.Now()
		w.run(b, c)
		return time.Since(begin)
	}
	instance, err := w.instance(c)
	must(b, err)
	defer instance.Close(w.ctx)
	begin := time.Now()
	if got := w.call(instance, function, 27); got.failure != "" {
		b.Fatalf("%+v", got)
	}
	return time.Since(begin)
}

// numericFunctions are what metering costs most for: short loops, and short functions
// that are called often.
func numericFunctions(a *assembly) {
	a.memory(4)
	// A sum of products over an array.
	a.function("loop", toI, []byte{i32, i32}, loop(
		i32c(0), set(1),
		loop(
			get(2), get(1), 0x28, 2, 0, get(1), i32c(3), i32Mul, get(0), i32Add, i32Mul, i32Add, set(2),
			get(1), i32c(4), i32Add, tee(1), i32c(100_000), i32LtU, brIf(0),
		),
		get(0), i32c(1), i32Sub, tee(0), brIf(0),
	), get(2))
	// Every byte of a memory, in steps.
	a.function("sieve", toI, []byte{i32}, loop(
		i32c(0), set(1),
		loop(get(1), i32c(0), 0x3a, 0, 0, get(1), get(0), i32Add, tee(1), i32c(200_000), i32LtU, brIf(0)),
		get(0), i32c(1), i32Sub, tee(0), brIf(0),
	), get(1))
	a.function("fib", toI, nil, get(0), i32c(2), i32LtU, b(opIf, i32), get(0), opElse,
		get(0), i32c(1), i32Sub, call(2), get(0), i32c(2), i32Sub, call(2), i32Add, opEnd)
}
