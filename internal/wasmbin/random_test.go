package wasmbin

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// author writes random functions that end: loops have a local that counts them down,
// and functions call those that were written before them, or themselves with less.
type author struct {
	*rand.Rand
	*assembly
	written int // functions
	labels  int // that are open; all have no results
	loops   int
	size    int // that is left for the function
}

// The locals of a function: one parameter, numbers to play with, and one for each loop.
const (
	authorNumbers = 12
	authorLoops   = 3
)

// randomModule has n functions, f0 to f(n-1), which take and give a number.
func randomModule(seed uint64, n, size int) []byte {
	w := &author{Rand: rand.New(rand.NewPCG(seed, 1)), assembly: &assembly{}}
	w.importFunction("test", "next", toI)
	w.memory(1)
	w.export("memory", int(Memory), 0)
	w.tables = append(w.tables, b(typeFuncRef, 0, u(n)))
	w.globals = append(w.globals, b(i32, 1, i32c(1), opEnd))
	locals := make([]byte, authorNumbers+authorLoops)
	for i := range locals {
		locals[i] = i32
	}
	for range n {
		w.labels, w.loops, w.size = 0, 0, size
		// A call with nothing to do ends at once: recursion does.
		code := b(get(0), i32Eqz, when(i32c(3), opReturn))
		for w.size > 0 {
			code = append(code, w.statement(3)...)
		}
		w.function(fmt.Sprint("f", w.written), toI, locals, code, w.number(3))
		w.written++
	}
	list := u(n)
	for i := range n {
		list = append(list, u(i+1)...)
	}
	w.elements = append(w.elements, b(0, i32c(0), opEnd, list))
	return w.bytes()
}

func (w *author) some(depth int) (code []byte) {
	for range w.IntN(4) {
		code = append(code, w.statement(depth)...)
	}
	return code
}

// statement leaves the stack as it was.
func (w *author) statement(depth int) []byte {
	w.size--
	if depth == 0 {
		return b(w.number(1), set(1+w.IntN(authorNumbers)))
	}
	inside := func() []byte {
		w.labels++
		defer func() { w.labels-- }()
		return w.some(depth - 1)
	}
	switch w.IntN(12) {
	case 0:
		return b(w.number(depth), when(inside()))
	case 1:
		return b(w.number(depth), opIf, blockVoid, inside(), opElse, inside(), opEnd)
	case 2:
		return block(inside())
	case 3, 4:
		return w.loop(depth)
	case 5:
		if w.labels > 0 {
			return b(w.number(depth), i32c(255), 0x71, i32c(w.IntN(200)), i32LtU, brIf(w.outer()))
		}
	case 6:
		if w.labels > 0 {
			return w.maybe(b(w.number(1), brTable(w.outer(), w.outer(), w.outer())))
		}
	case 7:
		return b(w.number(depth), i32c(0xffff), 0x71, w.number(depth), 0x36, 2, u(w.IntN(100)))
	case 8:
		return b(i32c(w.IntN(1000)), w.number(1), i32c(w.IntN(500)), more(moreMemoryFill, 0))
	case 9:
		return w.maybe(b(w.number(1), opReturn))
	case 10:
		return b(w.number(depth), gset(0))
	}
	return b(w.number(depth), set(1+w.IntN(authorNumbers)))
}

// maybe is a jump that is seldom made, and sometimes has code behind it that nothing
// reaches.
func (w *author) maybe(jump []byte) []byte {
	condition := b(w.number(1), i32c(15), 0x71, i32Eqz)
	if w.IntN(2) == 0 {
		jump = b(jump, w.number(1), opDrop)
	}
	return b(condition, when(jump))
}

// outer is a label. That of a loop goes round once more, of which there is an end.
func (w *author) outer() int { return w.IntN(w.labels) }

func (w *author) loop(depth int) []byte {
	if w.loops == authorLoops {
		return nil
	}
	counter := 1 + authorNumbers + w.loops
	w.loops++
	w.labels += 2
	body := w.some(depth - 1)
	w.labels -= 2
	w.loops--
	// The counter goes down first, so that every way back has less to do.
	return b(i32c(1+w.IntN(5)), set(counter), block(loop(
		get(counter), i32Eqz, brIf(1), get(counter), i32c(1), i32Sub, set(counter), body, br(0))))
}

// number puts one on the stack.
func (w *author) number(depth int) []byte {
	w.size--
	if depth <= 0 || w.size <= 0 {
		if w.IntN(2) == 0 {
			return i32c(w.IntN(1<<20) - 1<<19)
		}
		return get(w.IntN(1 + authorNumbers))
	}
	a := func() []byte { return w.number(depth - 1) }
	switch w.IntN(11) {
	case 0, 1:
		return b(a(), a(), []int{i32Add, i32Sub, i32Mul, 0x71, 0x73}[w.IntN(5)])
	case 2:
		return b(a(), a(), a(), opSelect)
	case 3:
		return b(a(), i32c(0xffff), 0x71, 0x2d, 0, u(w.IntN(100)))
	case 4:
		return b(a(), opIf, i32, a(), opElse, a(), opEnd)
	case 5:
		return b(opBlock, i32, a(), a(), brIf(0), opEnd)
	case 6:
		return b(a(), call(0))
	case 7:
		return w.calls(a())
	case 8:
		return b(a(), simd(17), a(), simd(17), simd(174), simd(27, 1))
	case 9:
		return b(a(), tee(1+w.IntN(authorNumbers)))
	}
	return gget(0)
}

// calls gives work to another function, but little, or all would take forever.
func (w *author) calls(argument []byte) []byte {
	little := b(argument, i32c(1), 0x71)
	switch {
	case w.written > 0 && w.IntN(2) == 0:
		return b(little, call(1+w.IntN(w.written)))
	case w.written > 0:
		return b(little, i32c(w.IntN(w.written)), callIndirect(0, 0))
	}
	return b(get(0), i32c(1), 0x76 /* shr_u */, call(1+w.written))
}

// TestRandom compares modules that nobody thought of.
func TestRandom(t *testing.T) {
	t.Parallel()
	n := uint64(40)
	if testing.Short() {
		n = 15
	}
	onEveryEngine(t, func(t *testing.T, w *world) {
		for seed := range n {
			binary := randomModule(seed, 4, 60)
			if w.compare(t, fmt.Sprint("seed ", seed), binary, nil) == 0 {
				t.Errorf("seed %d: nothing was compared", seed)
			}
		}
	})
}
