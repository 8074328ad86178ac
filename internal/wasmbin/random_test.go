package wasmbin

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// generator writes random functions that end: each loop has a local that counts down, and
// functions call only functions that were written before them, or themselves with a smaller
// argument.
type generator struct {
	*rand.Rand
	*assembler
	written int // functions written so far
	labels  int // open labels; none has results
	loops   int // open loops
	size    int // remaining size of the function
}

// The locals of a function, after its parameter: values, and counters of loops.
const (
	valueLocals = 12
	loopLocals  = 3
)

// randomModule returns a module with n functions of about the given size, f0 to f(n-1), which
// take and return an i32.
func randomModule(seed uint64, n, size int) []byte {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 1)), assembler: &assembler{}}
	g.importFunction("test", "next", i32ToI32)
	g.memory(1)
	g.export("memory", int(Memory), 0)
	g.tables = append(g.tables, b(typeFuncRef, 0, u(n)))
	g.globals = append(g.globals, b(i32, 1, i32c(1), opEnd))
	locals := make([]byte, valueLocals+loopLocals)
	for i := range locals {
		locals[i] = i32
	}
	for range n {
		g.labels, g.loops, g.size = 0, 0, size
		// A call with 0 returns at once, so recursion ends.
		code := b(get(0), i32Eqz, ifThen(i32c(3), opReturn))
		for g.size > 0 {
			code = append(code, g.statement(3)...)
		}
		g.function(fmt.Sprint("f", g.written), i32ToI32, locals, code, g.expression(3))
		g.written++
	}
	list := u(n)
	for i := range n {
		list = append(list, u(i+1)...)
	}
	g.elements = append(g.elements, b(0, i32c(0), opEnd, list))
	return g.bytes()
}

// statements returns up to three statements.
func (g *generator) statements(depth int) (code []byte) {
	for range g.IntN(4) {
		code = append(code, g.statement(depth)...)
	}
	return code
}

// statement returns code that leaves the stack unchanged.
func (g *generator) statement(depth int) []byte {
	g.size--
	if depth == 0 {
		return b(g.expression(1), set(1+g.IntN(valueLocals)))
	}
	nested := func() []byte {
		g.labels++
		defer func() { g.labels-- }()
		return g.statements(depth - 1)
	}
	switch g.IntN(12) {
	case 0:
		return b(g.expression(depth), ifThen(nested()))
	case 1:
		return b(g.expression(depth), opIf, blockVoid, nested(), opElse, nested(), opEnd)
	case 2:
		return block(nested())
	case 3, 4:
		return g.loop(depth)
	case 5:
		if g.labels > 0 {
			return b(g.expression(depth), i32c(255), 0x71, i32c(g.IntN(200)), i32LtU, brIf(g.label()))
		}
	case 6:
		if g.labels > 0 {
			return g.rarely(b(g.expression(1), brTable(g.label(), g.label(), g.label())))
		}
	case 7:
		return b(g.expression(depth), i32c(0xffff), 0x71, g.expression(depth), 0x36, 2, u(g.IntN(100)))
	case 8:
		return b(i32c(g.IntN(1000)), g.expression(1), i32c(g.IntN(500)), more(moreMemoryFill, 0))
	case 9:
		return g.rarely(b(g.expression(1), opReturn))
	case 10:
		return b(g.expression(depth), gset(0))
	}
	return b(g.expression(depth), set(1+g.IntN(valueLocals)))
}

// rarely returns code that makes a jump in few cases, sometimes followed by unreachable code.
func (g *generator) rarely(jump []byte) []byte {
	condition := b(g.expression(1), i32c(15), 0x71, i32Eqz)
	if g.IntN(2) == 0 {
		jump = b(jump, g.expression(1), opDrop)
	}
	return b(condition, ifThen(jump))
}

// label returns a random open label. If it is that of a loop, a jump to it starts the next
// iteration, of which there are few.
func (g *generator) label() int { return g.IntN(g.labels) }

func (g *generator) loop(depth int) []byte {
	if g.loops == loopLocals {
		return nil
	}
	counter := 1 + valueLocals + g.loops
	g.loops++
	g.labels += 2
	body := g.statements(depth - 1)
	g.labels -= 2
	g.loops--
	// The counter goes down first, so that each jump back leaves fewer iterations.
	return b(i32c(1+g.IntN(5)), set(counter), block(loop(
		get(counter), i32Eqz, brIf(1), get(counter), i32c(1), i32Sub, set(counter), body, br(0))))
}

// expression returns code that pushes an i32.
func (g *generator) expression(depth int) []byte {
	g.size--
	if depth <= 0 || g.size <= 0 {
		if g.IntN(2) == 0 {
			return i32c(g.IntN(1<<20) - 1<<19)
		}
		return get(g.IntN(1 + valueLocals))
	}
	operand := func() []byte { return g.expression(depth - 1) }
	switch g.IntN(11) {
	case 0, 1:
		return b(operand(), operand(), []int{i32Add, i32Sub, i32Mul, 0x71, 0x73}[g.IntN(5)])
	case 2:
		return b(operand(), operand(), operand(), opSelect)
	case 3:
		return b(operand(), i32c(0xffff), 0x71, 0x2d, 0, u(g.IntN(100)))
	case 4:
		return b(operand(), opIf, i32, operand(), opElse, operand(), opEnd)
	case 5:
		return b(opBlock, i32, operand(), operand(), brIf(0), opEnd)
	case 6:
		return b(operand(), call(0))
	case 7:
		return g.callFunction(operand())
	case 8:
		return b(operand(), simd(17), operand(), simd(17), simd(174), simd(27, 1))
	case 9:
		return b(operand(), tee(1+g.IntN(valueLocals)))
	}
	return gget(0)
}

// callFunction returns code that calls a function with a small argument: otherwise the module
// would take too long.
func (g *generator) callFunction(argument []byte) []byte {
	small := b(argument, i32c(1), 0x71)
	switch {
	case g.written > 0 && g.IntN(2) == 0:
		return b(small, call(1+g.IntN(g.written)))
	case g.written > 0:
		return b(small, i32c(g.IntN(g.written)), callIndirect(0, 0))
	}
	return b(get(0), i32c(1), 0x76 /* shr_u */, call(1+g.written))
}

// TestRandomModules compares the variants of random modules.
func TestRandomModules(t *testing.T) {
	t.Parallel()
	n := uint64(40)
	if testing.Short() {
		n = 15
	}
	onEveryEngine(t, func(t *testing.T, h *host) {
		for seed := range n {
			binary := randomModule(seed, 4, 60)
			if h.compare(t, fmt.Sprint("seed ", seed), binary, nil) == 0 {
				t.Errorf("seed %d: no call was compared", seed)
			}
		}
	})
}
