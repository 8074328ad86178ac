package wasmbin

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// endlessPrograms do not end by themselves, or not within any useful time.
var endlessPrograms = map[string]func(a *assembler){
	"loop": func(a *assembler) { a.function("f", sig(nil, nil), nil, loop(br(0))) },
	"conditional loop": func(a *assembler) {
		a.function("f", sig(nil, nil), nil, loop(i32c(1), brIf(0)))
	},
	"loop by branch table": func(a *assembler) {
		a.function("f", sig(nil, nil), nil, block(loop(i32c(7), brTable(1, 0))))
	},
	"loop with parameters": func(a *assembler) {
		a.function("f", sig(nil, nil), nil, i32c(1), opLoop, u(a.typeIndex(i32ToI32)), br(0), opEnd, opDrop)
	},
	"nested loops": func(a *assembler) {
		a.function("f", sig(nil, nil), nil, loop(loop(loop(br(2)))))
	},
	"loop around a call": func(a *assembler) {
		a.function("f", sig(nil, nil), nil, loop(call(1), br(0)))
		a.function("", sig(nil, nil), nil)
	},
	"calls that double": func(a *assembler) {
		for i := range 60 {
			a.function([]string{"f", ""}[min(i, 1)], sig(nil, nil), nil, call(i+1), call(i+1))
		}
		a.function("", sig(nil, nil), nil)
	},
	"recursion that doubles": func(a *assembler) {
		a.function("f", sig(nil, nil), nil, i32c(60), call(1))
		a.function("", sig([]byte{i32}, nil), nil, get(0), ifThen(get(0), i32c(1), i32Sub, call(1), get(0), i32c(1), i32Sub, call(1)))
	},
	"indirect recursion that doubles": func(a *assembler) {
		a.tables = append(a.tables, b(typeFuncRef, 0, 1))
		a.elements = append(a.elements, b(0, i32c(0), opEnd, 1, 1))
		t := a.typeIndex(sig([]byte{i32}, nil))
		a.function("f", sig(nil, nil), nil, i32c(60), call(1))
		a.function("", sig([]byte{i32}, nil), nil, get(0), ifThen(get(0), i32c(1), i32Sub, i32c(0), callIndirect(t, 0), get(0), i32c(1), i32Sub, call(1)))
	},
	"long fills": func(a *assembler) {
		a.memory(16)
		a.function("f", sig(nil, nil), nil, loop(i32c(0), i32c(1), i32c(1<<20), more(moreMemoryFill, 0), br(0)))
	},
}

// TestEndlessProgramsStop checks that each program stops soon after its budget is used up, on
// every engine at the same instruction.
func TestEndlessProgramsStop(t *testing.T) {
	stopped := map[string]int64{} // fuel used, by program, variant and budget
	onEveryEngine(t, func(t *testing.T, h *host) {
		h.grant = 1000
		for name, build := range endlessPrograms {
			a := &assembler{}
			build(a)
			m, err := Parse(a.bytes())
			requireNoError(t, err)
			for _, variant := range variants[2:] {
				binary, err := buildVariant(m, nil, variant)
				requireNoError(t, err)
				c, err := h.CompileModule(h.ctx, binary)
				requireNoError(t, err)
				for _, budget := range []int64{1, 12345, 200_000} {
					if strings.HasPrefix(variant, "coarse") {
						budget = budget/1000 + 1 // checks, each of which may stand for much work
					}
					instance, err := h.instantiate(c)
					requireNoError(t, err)
					h.budget, h.maxDebt = budget, 0
					got := h.call(instance, "f")
					if got.failure != errFuel.Error() {
						t.Errorf("%s, %s: got %+v, want failure %q", name, variant, got, errFuel)
					}
					if late := got.fuel - budget; late < 0 || late > 2*maxPath && name != "long fills" {
						t.Errorf("%s, %s: stopped after %d fuel with a budget of %d", name, variant, got.fuel, budget)
					}
					key := fmt.Sprint(name, variant, budget)
					if other, ok := stopped[key]; ok && other != got.fuel {
						t.Errorf("%s, %s: stopped after %d fuel, want %d as on the other engine", name, variant, got.fuel, other)
					}
					stopped[key] = got.fuel
				}
			}
		}
	})
}

// TestLongPaths checks that code without loops also checks the counter, after a bounded number
// of instructions.
func TestLongPaths(t *testing.T) {
	a := &assembler{}
	straight, branched, calls := []byte(nil), []byte(nil), []byte(nil)
	for range 6_000 {
		straight = append(straight, b(get(0), i32c(1), i32Add, set(0))...)
		calls = append(calls, b(get(0), call(3), set(0))...)
	}
	for range 1_500 {
		branched = append(branched, block(get(0), brIf(0), i32c(1), set(0))...)
	}
	// Checks in code that does not run must not count as checks of the path around it.
	skipped, one := []byte(nil), straight[:len(straight)/6_000]
	for range 15 {
		skipped = append(skipped, b(i32c(0), ifThen(bytes.Repeat(one, maxPath/4+1)), bytes.Repeat(one, 100))...)
		skipped = append(skipped, block(i32c(1), brIf(0), bytes.Repeat(one, maxPath/4+1))...)
		skipped = append(skipped, b(i32c(1), opIf, blockVoid, one, opElse, bytes.Repeat(one, maxPath/4+1), opEnd)...)
	}
	a.function("straight", i32ToI32, nil, straight, get(0))
	a.function("branched", i32ToI32, nil, branched, get(0))
	a.function("calls", i32ToI32, nil, calls, get(0))
	light := []byte(nil)
	for range maxLight/4 - 1 {
		light = append(light, b(get(0), i32c(1), i32Add, set(0))...)
	}
	a.function("light", i32ToI32, nil, light, get(0))
	a.function("skipped", i32ToI32, nil, skipped, get(0))
	onEveryEngine(t, func(t *testing.T, h *host) {
		h.grant = 1
		for i, c := range h.compileVariants(t, a.bytes())[:4] {
			instance, err := h.instantiate(c)
			requireNoError(t, err)
			for _, function := range []string{"straight", "branched", "calls", "skipped"} {
				h.maxDebt, h.refills = 0, 0
				got := h.call(instance, function, 0)
				if got.failure != "" {
					t.Errorf("%s, %s: %s", function, variants[i], got.failure)
				}
				if i < 2 {
					continue // original and naive do not check
				}
				// The debt at the end is also work since the last check.
				unchecked := max(h.maxDebt, -int64(instance.ExportedGlobal(CounterExport).Get()))
				if unchecked > 2*maxPath+maxLight || h.refills == 0 {
					t.Errorf("%s, %s: %d of %d instructions ran without a check, %d refills", function, variants[i], unchecked, got.fuel, h.refills)
				}
			}
		}
	})
}
