package wasmbin

import (
	"testing"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

// BenchmarkMetered compares the run time of metered modules with that of the original. It
// alternates between the variants and uses the fastest round of each: on a busy machine, other
// measures are not comparable.
func BenchmarkMetered(b *testing.B) {
	numeric := &assembler{}
	addNumericFunctions(numeric)
	b.Run("program", func(b *testing.B) { benchmarkVariants(b, buildProgram(b, "mixed"), "") })
	for _, function := range []string{"loop", "sieve", "fib"} {
		b.Run(function, func(b *testing.B) { benchmarkVariants(b, numeric.bytes(), function) })
	}
}

func benchmarkVariants(b *testing.B, original []byte, function string) {
	h := newHost(b, "compiler")
	wasi_snapshot_preview1.MustInstantiate(h.ctx, h)
	m, err := Parse(original)
	requireNoError(b, err)
	measured := []string{"original", "exact", "exact and stack", "coarse"}
	compiled := map[string]wazero.CompiledModule{}
	for _, variant := range measured {
		binary, err := buildVariant(m, original, variant)
		requireNoError(b, err)
		compiled[variant], err = h.CompileModule(experimental.WithCompilationWorkers(h.ctx, 2), binary)
		requireNoError(b, err)
	}
	best := map[string]time.Duration{}
	const rounds = 20
	b.ResetTimer()
	for b.Loop() {
		for range rounds {
			for _, variant := range measured {
				took := h.timeRun(b, compiled[variant], function)
				if before, ok := best[variant]; !ok || took < before {
					best[variant] = took
				}
			}
		}
	}
	for _, variant := range measured[1:] {
		b.ReportMetric(float64(best[variant])/float64(best["original"]), map[string]string{
			"exact": "exact/original", "exact and stack": "stack/original", "coarse": "coarse/original",
		}[variant])
	}
	b.ReportMetric(float64(best["original"].Microseconds()), "µs/original")
	b.ReportMetric(0, "ns/op") // not useful: it is the sum over all variants
}

// timeRun returns how long a call of a function takes, or a whole program if function is empty.
func (h *host) timeRun(b *testing.B, c wazero.CompiledModule, function string) time.Duration {
	if function == "" {
		start := time.Now()
		h.run(b, c)
		return time.Since(start)
	}
	instance, err := h.instantiate(c)
	requireNoError(b, err)
	defer instance.Close(h.ctx)
	start := time.Now()
	if got := h.call(instance, function, 27); got.failure != "" {
		b.Fatalf("%s: %s", function, got.failure)
	}
	return time.Since(start)
}

// addNumericFunctions adds the code that metering slows down most: short loops, and short
// functions that are called often.
func addNumericFunctions(a *assembler) {
	a.memory(4)
	// loop sums products over an array.
	a.function("loop", i32ToI32, []byte{i32, i32}, loop(
		i32c(0), set(1),
		loop(
			get(2), get(1), 0x28, 2, 0, get(1), i32c(3), i32Mul, get(0), i32Add, i32Mul, i32Add, set(2),
			get(1), i32c(4), i32Add, tee(1), i32c(100_000), i32LtU, brIf(0),
		),
		get(0), i32c(1), i32Sub, tee(0), brIf(0),
	), get(2))
	// sieve writes to memory in steps of decreasing size.
	a.function("sieve", i32ToI32, []byte{i32}, loop(
		i32c(0), set(1),
		loop(get(1), i32c(0), 0x3a, 0, 0, get(1), get(0), i32Add, tee(1), i32c(200_000), i32LtU, brIf(0)),
		get(0), i32c(1), i32Sub, tee(0), brIf(0),
	), get(1))
	a.function("fib", i32ToI32, nil, get(0), i32c(2), i32LtU, b(opIf, i32), get(0), opElse,
		get(0), i32c(1), i32Sub, call(2), get(0), i32c(2), i32Sub, call(2), i32Add, opEnd)
}
