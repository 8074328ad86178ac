package wasmbin

import (
	"fmt"
	"reflect"
	"testing"
)

// recursive are functions that call themselves or each other to the depth of their argument,
// and call the host's probe at each level.
var recursive = map[string]func(a *assembler, probe int){
	"plain": func(a *assembler, probe int) {
		a.function("f", i32ToI32, nil, call(probe), get(0), i32Eqz, ifThen(i32c(0), opReturn), get(0), i32c(1), i32Sub, call(probe+1), i32c(1), i32Add)
	},
	"mutual": func(a *assembler, probe int) {
		a.function("f", i32ToI32, nil, call(probe), get(0), i32Eqz, ifThen(i32c(0), opReturn), get(0), i32c(1), i32Sub, call(probe+2))
		a.function("g", i32ToI32, []byte{i64, f64}, call(probe), get(0), i32Eqz, ifThen(i32c(0), opReturn), get(0), i32c(1), i32Sub, call(probe+1))
	},
	"through a table": func(a *assembler, probe int) {
		a.tables = append(a.tables, b(typeFuncRef, 0, u(1)))
		a.elements = append(a.elements, b(0, i32c(0), opEnd, u(1), u(probe+1)))
		a.function("f", i32ToI32, nil, call(probe), get(0), i32Eqz, ifThen(i32c(0), opReturn), get(0), i32c(1), i32Sub, i32c(0), callIndirect(a.typeIndex(i32ToI32), 0))
	},
	"many live values": func(a *assembler, probe int) {
		// All values are live across the call.
		a.memory(1)
		loads, sums := []byte(nil), []byte(nil)
		for i := range 300 {
			loads = append(loads, b(i32c(i), 0x28, 2, u(i*4))...)
			sums = append(sums, i32Add)
		}
		a.function("f", i32ToI32, nil, call(probe), get(0), i32Eqz, ifThen(i32c(0), opReturn), loads, get(0), i32c(1), i32Sub, call(probe+1), sums)
	},
	"many live vectors": func(a *assembler, probe int) {
		a.memory(1)
		loads, sums := []byte(nil), []byte(nil)
		for i := range 300 {
			loads = append(loads, b(i32c(i), simd(0, 4, u(i*16)))...)
			sums = append(sums, simd(174)...)
		}
		a.function("f", i32ToI32, nil, call(probe), get(0), i32Eqz, ifThen(i32c(0), opReturn),
			loads, get(0), i32c(1), i32Sub, call(probe+1), simd(17), sums, simd(27, 0))
	},
	"many results": func(a *assembler, probe int) {
		// One function returns 500 values, and another takes them as parameters.
		types := make([]byte, 500)
		for i := range types {
			types[i] = i64
		}
		zeros := []byte(nil)
		for range types {
			zeros = append(zeros, i64c(0)...)
		}
		a.function("f", i32ToI32, nil, call(probe), get(0), i32Eqz, ifThen(i32c(0), opReturn),
			call(probe+2), call(probe+2), get(0), i32c(1), i32Sub, call(probe+1), opDrop, call(probe+3), call(probe+3), i32c(1))
		a.function("", sig(nil, types), nil, zeros)
		a.function("", sig(types, nil), nil)
	},
	"vectors without vector instructions": func(a *assembler, probe int) {
		// f holds results of type v128 but has no vector instruction.
		types := make([]byte, 100)
		for i := range types {
			types[i] = v128
		}
		a.function("f", i32ToI32, nil, call(probe), get(0), i32Eqz, ifThen(i32c(0), opReturn),
			call(probe+2), call(probe+2), get(0), i32c(1), i32Sub, call(probe+1), opDrop, call(probe+3), call(probe+3), i32c(1))
		zeros := []byte(nil)
		for range types {
			zeros = append(zeros, b(simd(vectorConst, make([]byte, 16)))...)
		}
		a.function("", sig(nil, types), nil, zeros)
		a.function("", sig(types, nil), nil)
	},
	"nested loops": func(a *assembler, probe int) {
		// Each local is a new value in each loop.
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
		a.function("f", i32ToI32, locals, call(probe), get(0), i32Eqz, ifThen(i32c(0), opReturn), code, sums)
	},
	"merging paths": func(a *assembler, probe int) {
		const n = 30
		locals, code, sums := make([]byte, n), []byte(nil), get(0)
		for i := range locals {
			locals[i] = i64
			code = append(code, b(get(0), ifThen(get(0), opI64ExtendU, set(1+i), get(0), i32c(1), i32Sub, call(probe+1), opDrop, i32c(0), set(0)))...)
			sums = b(sums, get(1+i), 0xa7, i32Add)
		}
		a.function("f", i32ToI32, locals, call(probe), get(0), i32Eqz, ifThen(i32c(0), opReturn), code, sums)
	},
}

func recursiveModule(name string) []byte {
	a := &assembler{}
	probe := a.importFunction("test", "probe", sig(nil, nil))
	recursive[name](a, probe)
	return a.bytes()
}

// TestFrameSizes measures how much of the engine's stack a call takes, and checks that it is not
// more than metering charges for the call.
func TestFrameSizes(t *testing.T) {
	h := newHost(t, "compiler")
	for name := range recursive {
		t.Run(name, func(t *testing.T) {
			m, err := Parse(recursiveModule(name))
			requireNoError(t, err)
			for _, grain := range []Grain{Exact, Coarse} {
				binary, err := m.Meter(Metering{Grain: grain, Stack: true})
				requireNoError(t, err)
				c, err := h.CompileModule(h.ctx, binary)
				requireNoError(t, err)
				instance, err := h.instantiate(c)
				requireNoError(t, err)
				charged := int64(0)
				for i := range m.bodies {
					if !m.bodies[i].leaf() {
						charged = max(charged, m.bodies[i].frame()*8)
					}
				}
				largest, last := int64(0), uintptr(0)
				f := instance.ExportedFunction("f")
				for range 2 {
					// The stack moves when it grows; in the second run it is large enough.
					largest, last = 0, 0
					h.onProbe = func(stack []uint64) {
						address := reflect.ValueOf(stack).Pointer()
						if last != 0 {
							largest = max(largest, int64(last)-int64(address))
						}
						last = address
					}
					h.setStack(instance, 1<<24)
					_, err = f.Call(h.ctx, 20)
					requireNoError(t, err)
				}
				h.onProbe = nil
				t.Logf("a call takes %d bytes of the stack and is charged %d", largest, charged)
				if largest == 0 || largest > charged {
					t.Errorf("a call takes %d bytes of the stack and is charged %d", largest, charged)
				}
			}
		})
	}
}

// TestStackOverflow checks that calls end when the stack is used up, at the same depth on every
// engine, and that the instance still works afterwards.
func TestStackOverflow(t *testing.T) {
	depths := map[string]string{} // by function and stack
	onEveryEngine(t, func(t *testing.T, h *host) {
		for name := range recursive {
			m, err := Parse(recursiveModule(name))
			requireNoError(t, err)
			binary, err := m.Meter(Metering{Stack: true})
			requireNoError(t, err)
			c, err := h.CompileModule(h.ctx, binary)
			requireNoError(t, err)
			instance, err := h.instantiate(c)
			requireNoError(t, err)
			levels := 0
			h.onProbe = func([]uint64) { levels++ }
			for _, words := range []int64{0, 100, 5_000, 50_000} {
				h.stackWords, levels = uint64(words), 0
				got := h.call(instance, "f", 1<<30)
				if got.failure != errOverflow.Error() {
					t.Errorf("%s, %d words: got %+v, want failure %q", name, words, got, errOverflow)
				}
				least := int64(maxFrame)
				for i := range m.bodies {
					if !m.bodies[i].leaf() {
						least = min(least, m.bodies[i].frame())
					}
				}
				if int64(levels) > words/least {
					t.Errorf("%s: %d nested calls of at least %d words in a stack of %d", name, levels, least, words)
				}
				key := fmt.Sprintf("%s, %d words", name, words)
				depth := fmt.Sprintf("%d levels, %d fuel", levels, got.fuel)
				if other, ok := depths[key]; ok && other != depth {
					t.Errorf("%s: got %s, want %s as on the other engine", key, depth, other)
				}
				depths[key] = depth
			}
			h.onProbe = nil
			// The instance still works after a call was ended.
			h.stackWords = 1 << 20
			if got := h.call(instance, "f", 3); got.failure != "" {
				t.Errorf("%s, call after an overflow: %s", name, got.failure)
			}
		}
	})
}

// TestStartFunctionHasStack checks that a start function has stack, although it runs before the
// host can set it.
func TestStartFunctionHasStack(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, h *host) {
		a := &assembler{}
		a.globals = append(a.globals, b(i32, 1, i32c(0), opEnd))
		a.export("ran", int(Global), 0)
		a.function("", sig(nil, nil), nil, i32c(1), gset(0))
		a.start = a.function("", sig(nil, nil), nil, call(0))
		m, err := Parse(a.bytes())
		requireNoError(t, err)
		if !m.HasStart() {
			t.Error("no start function")
		}
		binary, err := m.Meter(Metering{Stack: true})
		requireNoError(t, err)
		c, err := h.CompileModule(h.ctx, binary)
		requireNoError(t, err)
		instance, err := h.instantiate(c)
		requireNoError(t, err)
		if ran := instance.ExportedGlobal("ran").Get(); ran != 1 {
			t.Errorf("the start function set ran to %d, want 1", ran)
		}
	})
}
