package wasmbin

import (
	"fmt"
	"reflect"
	"testing"
)

// recursive are functions that call themselves, or each other, as deep as their
// argument says, and the host's probe at each level.
var recursive = map[string]func(a *assembly, probe int){
	"plain": func(a *assembly, probe int) {
		a.function("f", toI, nil, call(probe), get(0), i32Eqz, when(i32c(0), opReturn), get(0), i32c(1), i32Sub, call(probe+1), i32c(1), i32Add)
	},
	"each other": func(a *assembly, probe int) {
		a.function("f", toI, nil, call(probe), get(0), i32Eqz, when(i32c(0), opReturn), get(0), i32c(1), i32Sub, call(probe+2))
		a.function("g", toI, []byte{i64, f64}, call(probe), get(0), i32Eqz, when(i32c(0), opReturn), get(0), i32c(1), i32Sub, call(probe+1))
	},
	"through a table": func(a *assembly, probe int) {
		a.tables = append(a.tables, b(typeFuncRef, 0, u(1)))
		a.elements = append(a.elements, b(0, i32c(0), opEnd, u(1), u(probe+1)))
		a.function("f", toI, nil, call(probe), get(0), i32Eqz, when(i32c(0), opReturn), get(0), i32c(1), i32Sub, i32c(0), callIndirect(a.typ(toI), 0))
	},
	"many values": func(a *assembly, probe int) {
		// All of them are needed after the call.
		a.memory(1)
		loads, sums := []byte(nil), []byte(nil)
		for i := range 300 {
			loads = append(loads, b(i32c(i), 0x28, 2, u(i*4))...)
			sums = append(sums, i32Add)
		}
		a.function("f", toI, nil, call(probe), get(0), i32Eqz, when(i32c(0), opReturn), loads, get(0), i32c(1), i32Sub, call(probe+1), sums)
	},
	"many vectors": func(a *assembly, probe int) {
		a.memory(1)
		loads, sums := []byte(nil), []byte(nil)
		for i := range 300 {
			loads = append(loads, b(i32c(i), simd(0, 4, u(i*16)))...)
			sums = append(sums, simd(174)...)
		}
		a.function("f", toI, nil, call(probe), get(0), i32Eqz, when(i32c(0), opReturn),
			loads, get(0), i32c(1), i32Sub, call(probe+1), simd(17), sums, simd(27, 0))
	},
	"many results": func(a *assembly, probe int) {
		// One call makes 500 values, and one more takes them.
		hundreds := make([]byte, 500)
		for i := range hundreds {
			hundreds[i] = i64
		}
		zeros := []byte(nil)
		for range hundreds {
			zeros = append(zeros, i64c(0)...)
		}
		a.function("f", toI, nil, call(probe), get(0), i32Eqz, when(i32c(0), opReturn),
			call(probe+2), call(probe+2), get(0), i32c(1), i32Sub, call(probe+1), opDrop, call(probe+3), call(probe+3), i32c(1))
		a.function("", sig(nil, hundreds), nil, zeros)
		a.function("", sig(hundreds, nil), nil)
	},
	"vectors without their instructions": func(a *assembly, probe int) {
		hundred := make([]byte, 100)
		for i := range hundred {
			hundred[i] = v128
		}
		a.function("f", toI, nil, call(probe), get(0), i32Eqz, when(i32c(0), opReturn),
			call(probe+2), call(probe+2), get(0), i32c(1), i32Sub, call(probe+1), opDrop, call(probe+3), call(probe+3), i32c(1))
		zeros := []byte(nil)
		for range hundred {
			zeros = append(zeros, b(simd(vectorConst, make([]byte, 16)))...)
		}
		a.function("", sig(nil, hundred), nil, zeros)
		a.function("", sig(hundred, nil), nil)
	},
	"loops inside of each other": func(a *assembly, probe int) {
		// Each local is another value in each loop.
		const n = 40
		code := b(get(0), i32c(1), i32Sub, call(probe+1), set(1))
		locals := make([]byte, n)
		for i := range locals {
			locals[i] = i32
			code = append(code, b(get(1), i32c(i), i32Add, set(1+i))...)
		}
		for i := range n {
			code = loop(code, get(1+i), i32c(1<<30), i32Add, i32c(0), 0x46 /* eq */, brIf(0))
		}
		sums := get(0)
		for i := range n {
			sums = b(sums, get(1+i), i32Add)
		}
		a.function("f", toI, locals, call(probe), get(0), i32Eqz, when(i32c(0), opReturn), code, sums)
	},
	"ways that meet": func(a *assembly, probe int) {
		const n = 30
		locals, code, sums := make([]byte, n), []byte(nil), get(0)
		for i := range locals {
			locals[i] = i64
			code = append(code, b(get(0), when(get(0), opI64ExtendU, set(1+i), get(0), i32c(1), i32Sub, call(probe+1), opDrop, i32c(0), set(0)))...)
			sums = b(sums, get(1+i), 0xa7, i32Add)
		}
		a.function("f", toI, locals, call(probe), get(0), i32Eqz, when(i32c(0), opReturn), code, sums)
	},
}

func recursiveModule(name string) []byte {
	a := &assembly{}
	probe := a.importFunction("test", "probe", sig(nil, nil))
	recursive[name](a, probe)
	return a.bytes()
}

// TestFrames measures on the engine's own stack what calls really take: never more
// than what was charged for them.
func TestFrames(t *testing.T) {
	w := newWorld(t, "compiler")
	for name := range recursive {
		t.Run(name, func(t *testing.T) {
			m, err := Parse(recursiveModule(name))
			must(t, err)
			for _, grain := range []Grain{Exact, Coarse} {
				binary, err := m.Meter(Metering{Grain: grain, Stack: true})
				must(t, err)
				c, err := w.CompileModule(w.ctx, binary)
				must(t, err)
				instance, err := w.instance(c)
				must(t, err)
				charged := int64(0)
				for i := range m.bodies {
					if !m.bodies[i].leaf() {
						charged = max(charged, m.bodies[i].frame()*8)
					}
				}
				largest, last := int64(0), uintptr(0)
				f := instance.ExportedFunction("f")
				for range 2 {
					// The stack moves when it grows, which it has done the second time.
					largest, last = 0, 0
					w.depth = func(stack []uint64) {
						at := reflect.ValueOf(stack).Pointer()
						if last != 0 {
							largest = max(largest, int64(last)-int64(at))
						}
						last = at
					}
					w.setRoom(instance, 1<<24)
					_, err = f.Call(w.ctx, 20)
					must(t, err)
				}
				w.depth = nil
				t.Logf("%d bytes, charged %d", largest, charged)
				if largest == 0 || largest > charged {
					t.Errorf("a call takes %d bytes of the stack, and was charged %d", largest, charged)
				}
			}
		})
	}
}

// TestOverflow looks at how deep calls go: as deep as there is room, on all engines,
// each time.
func TestOverflow(t *testing.T) {
	depths := map[string]string{}
	onEveryEngine(t, func(t *testing.T, w *world) {
		for name := range recursive {
			m, err := Parse(recursiveModule(name))
			must(t, err)
			binary, err := m.Meter(Metering{Stack: true})
			must(t, err)
			c, err := w.CompileModule(w.ctx, binary)
			must(t, err)
			instance, err := w.instance(c)
			must(t, err)
			levels := 0
			w.depth = func([]uint64) { levels++ }
			for _, room := range []int64{0, 100, 5_000, 50_000} {
				w.room, levels = uint64(room), 0
				got := w.call(instance, "f", 1<<30)
				if got.failure != errOverflow.Error() {
					t.Errorf("%s, %d words: %+v", name, room, got)
				}
				least := int64(maxFrame)
				for i := range m.bodies {
					if !m.bodies[i].leaf() {
						least = min(least, m.bodies[i].frame())
					}
				}
				if int64(levels) > room/least {
					t.Errorf("%s: %d calls of %d words in %d", name, levels, least, room)
				}
				key := fmt.Sprintf("%s, %d words", name, room)
				said := fmt.Sprint(levels, " levels, ", got.used)
				if before, ok := depths[key]; ok && before != said {
					t.Errorf("%s: %s, and on another engine %s", key, said, before)
				}
				depths[key] = said
			}
			w.depth = nil
			// A guest that was ended is not one that is broken.
			w.room = 1 << 20
			if got := w.call(instance, "f", 3); got.failure != "" {
				t.Errorf("%s, afterwards: %+v", name, got)
			}
		}
	})
}

// TestStartHasRoom: a start function runs before anybody could give it some.
func TestStartHasRoom(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		a := &assembly{}
		a.globals = append(a.globals, b(i32, 1, i32c(0), opEnd))
		a.export("ran", int(Global), 0)
		a.function("", sig(nil, nil), nil, i32c(1), gset(0))
		a.start = a.function("", sig(nil, nil), nil, call(0))
		m, err := Parse(a.bytes())
		must(t, err)
		if !m.HasStart() {
			t.Error("no start function")
		}
		binary, err := m.Meter(Metering{Stack: true})
		must(t, err)
		c, err := w.CompileModule(w.ctx, binary)
		must(t, err)
		instance, err := w.instance(c)
		must(t, err)
		if ran := instance.ExportedGlobal("ran").Get(); ran != 1 {
			t.Errorf("ran %d times", ran)
		}
	})
}
