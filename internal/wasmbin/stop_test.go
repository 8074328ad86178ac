package wasmbin

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// endlessPrograms do not stop by themselves, or not before the sun does.
var endlessPrograms = map[string]func(a *assembly){
	"a loop": func(a *assembly) { a.function("f", sig(nil, nil), nil, loop(br(0))) },
	"a loop by condition": func(a *assembly) {
		a.function("f", sig(nil, nil), nil, loop(i32c(1), brIf(0)))
	},
	"a loop by table": func(a *assembly) {
		a.function("f", sig(nil, nil), nil, block(loop(i32c(7), brTable(1, 0))))
	},
	"a loop with parameters": func(a *assembly) {
		a.function("f", sig(nil, nil), nil, i32c(1), opLoop, u(a.typ(toI)), br(0), opEnd, opDrop)
	},
	"loops inside of each other": func(a *assembly) {
		a.function("f", sig(nil, nil), nil, loop(loop(loop(br(2)))))
	},
	"a loop around a call": func(a *assembly) {
		a.function("f", sig(nil, nil), nil, loop(call(1), br(0)))
		a.function("", sig(nil, nil), nil)
	},
	"calls that double": func(a *assembly) {
		for i := range 60 {
			a.function([]string{"f", ""}[min(i, 1)], sig(nil, nil), nil, call(i+1), call(i+1))
		}
		a.function("", sig(nil, nil), nil)
	},
	"recursion that doubles": func(a *assembly) {
		a.function("f", sig(nil, nil), nil, i32c(60), call(1))
		a.function("", sig([]byte{i32}, nil), nil, get(0), when(get(0), i32c(1), i32Sub, call(1), get(0), i32c(1), i32Sub, call(1)))
	},
	"indirect recursion that doubles": func(a *assembly) {
		a.tables = append(a.tables, b(typeFuncRef, 0, 1))
		a.elements = append(a.elements, b(0, i32c(0), opEnd, 1, 1))
		t := a.typ(sig([]byte{i32}, nil))
		a.function("f", sig(nil, nil), nil, i32c(60), call(1))
		a.function("", sig([]byte{i32}, nil), nil, get(0), when(get(0), i32c(1), i32Sub, i32c(0), callIndirect(t, 0), get(0), i32c(1), i32Sub, call(1)))
	},
	"long fills": func(a *assembly) {
		a.memory(16)
		a.function("f", sig(nil, nil), nil, loop(i32c(0), i32c(1), i32c(1<<20), more(moreMemoryFill, 0), br(0)))
	},
}

// TestStops: everything stops, on all engines at the same instruction.
func TestStops(t *testing.T) {
	stopped := map[string]int64{}
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.portion = 1000
		for name, put := range endlessPrograms {
			a := &assembly{}
			put(a)
			m, err := Parse(a.bytes())
			must(t, err)
			for _, way := range ways[2:] {
				binary, err := made(m, nil, way)
				must(t, err)
				c, err := w.CompileModule(w.ctx, binary)
				must(t, err)
				for _, budget := range []int64{1, 12345, 200_000} {
					if strings.HasPrefix(way, "coarse") {
						budget = budget/1000 + 1 // looks, of which each may be much work
					}
					instance, err := w.instance(c)
					must(t, err)
					w.budget, w.longest = budget, 0
					got := w.call(instance, "f")
					if got.failure != errFuel.Error() {
						t.Errorf("%s, %s: %+v", name, way, got)
					}
					if late := got.used - budget; late < 0 || late > 2*maxPath && name != "long fills" {
						t.Errorf("%s, %s: stopped after %d of %d", name, way, got.used, budget)
					}
					key := fmt.Sprint(name, way, budget)
					if before, ok := stopped[key]; ok && before != got.used {
						t.Errorf("%s, %s: stopped after %d, on another engine %d", name, way, got.used, before)
					}
					stopped[key] = got.used
				}
			}
		}
	})
}

// TestLongPaths: code that neither loops nor calls looks at the counter, too.
func TestLongPaths(t *testing.T) {
	a := &assembly{}
	straight, branched, calls := []byte(nil), []byte(nil), []byte(nil)
	for range 6_000 {
		straight = append(straight, b(get(0), i32c(1), i32Add, set(0))...)
		calls = append(calls, b(get(0), call(3), set(0))...)
	}
	for range 1_500 {
		branched = append(branched, block(get(0), brIf(0), i32c(1), set(0))...)
	}
	// Looks in code that is not run are none.
	skipped, one := []byte(nil), straight[:len(straight)/6_000]
	for range 15 {
		skipped = append(skipped, b(i32c(0), when(bytes.Repeat(one, maxPath/4+1)), bytes.Repeat(one, 100))...)
		skipped = append(skipped, block(i32c(1), brIf(0), bytes.Repeat(one, maxPath/4+1))...)
		skipped = append(skipped, b(i32c(1), opIf, blockVoid, one, opElse, bytes.Repeat(one, maxPath/4+1), opEnd)...)
	}
	a.function("straight", toI, nil, straight, get(0))
	a.function("branched", toI, nil, branched, get(0))
	a.function("calls", toI, nil, calls, get(0))
	light := []byte(nil)
	for range maxLight/4 - 1 {
		light = append(light, b(get(0), i32c(1), i32Add, set(0))...)
	}
	a.function("light", toI, nil, light, get(0))
	a.function("skipped", toI, nil, skipped, get(0))
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.portion = 1
		for i, c := range w.compiled(t, a.bytes())[:4] {
			instance, err := w.instance(c)
			must(t, err)
			for _, e := range []string{"straight", "branched", "calls", "skipped"} {
				w.longest, w.asked = 0, 0
				got := w.call(instance, e, 0)
				if got.failure != "" {
					t.Errorf("%s, %s: %+v", e, ways[i], got)
				}
				if i < 2 {
					continue // cannot be stopped
				}
				// What is owed at the end has been done without a look, too.
				longest := max(w.longest, -int64(instance.ExportedGlobal(CounterExport).Get()))
				if longest > 2*maxPath+maxLight || w.asked == 0 {
					t.Errorf("%s, %s: %d instructions without a look, of %d, %d looks", e, ways[i], longest, got.used, w.asked)
				}
			}
		}
	})
}
