package wasmbin

import (
	"fmt"
	"testing"
)

// TestSame runs every program in all ways on all engines: what comes out is the same,
// and so is what is counted.
func TestSame(t *testing.T) {
	counted := map[string]int64{}
	onEveryEngine(t, func(t *testing.T, w *world) {
		for _, p := range programs {
			t.Run(p.name, func(t *testing.T) {
				a := &assembly{}
				p.make(a)
				ends := make([][]end, len(ways))
				for i, c := range w.compiled(t, a.bytes()) {
					instance, err := w.instance(c)
					must(t, err)
					for _, call := range p.calls {
						got := w.call(instance, call.function, call.arguments...)
						got.results += memory(instance)
						ends[i] = append(ends[i], got)
					}
				}
				for n, call := range p.calls {
					original, naive := ends[0][n], ends[1][n]
					for i, way := range ways {
						got := ends[i][n]
						if got.results != original.results || got.failure != original.failure {
							t.Errorf("%s%v, %s: %+v, originally %+v", call.function, call.arguments, way, got, original)
						}
						exact := way == "exact" || way == "exact and stack"
						if exact && got.failure == "" && got.used != naive.used {
							t.Errorf("%s%v, %s: counted %d, one by one %d", call.function, call.arguments, way, got.used, naive.used)
						}
						key := fmt.Sprint(p.name, n, way)
						if before, ok := counted[key]; ok && before != got.used {
							t.Errorf("%s%v, %s: counted %d, by another engine %d", call.function, call.arguments, way, got.used, before)
						}
						counted[key] = got.used
					}
					if naive.failure == "" && call.cost >= 0 && naive.used != call.cost {
						t.Errorf("%s%v: counted %d, by hand %d", call.function, call.arguments, naive.used, call.cost)
					}
				}
			})
		}
	})
}
