package wasmbin

import (
	"fmt"
	"testing"
)

// TestVariantsAgree runs each program in all variants on every engine and compares results,
// memory and fuel.
func TestVariantsAgree(t *testing.T) {
	fuel := map[string]int64{} // by program, call and variant
	onEveryEngine(t, func(t *testing.T, h *host) {
		for _, p := range programs {
			t.Run(p.name, func(t *testing.T) {
				a := &assembler{}
				p.build(a)
				outcomes := make([][]outcome, len(variants))
				for i, c := range h.compileVariants(t, a.bytes()) {
					instance, err := h.instantiate(c)
					requireNoError(t, err)
					for _, call := range p.calls {
						got := h.call(instance, call.function, call.arguments...)
						got.results += memoryChecksum(instance)
						outcomes[i] = append(outcomes[i], got)
					}
				}
				for n, call := range p.calls {
					original, naive := outcomes[0][n], outcomes[1][n]
					for i, variant := range variants {
						got := outcomes[i][n]
						if got.results != original.results || got.failure != original.failure {
							t.Errorf("%s%v, %s: got %+v, want %+v as the original", call.function, call.arguments, variant, got, original)
						}
						exact := variant == "exact" || variant == "exact and stack"
						if exact && got.failure == "" && got.fuel != naive.fuel {
							t.Errorf("%s%v, %s: used %d fuel, want %d as naive", call.function, call.arguments, variant, got.fuel, naive.fuel)
						}
						key := fmt.Sprint(p.name, n, variant)
						if other, ok := fuel[key]; ok && other != got.fuel {
							t.Errorf("%s%v, %s: used %d fuel, want %d as on the other engine", call.function, call.arguments, variant, got.fuel, other)
						}
						fuel[key] = got.fuel
					}
					if naive.failure == "" && call.cost >= 0 && naive.fuel != call.cost {
						t.Errorf("%s%v: used %d fuel, want %d as counted by hand", call.function, call.arguments, naive.fuel, call.cost)
					}
				}
			})
		}
	})
}
