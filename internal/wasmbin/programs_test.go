package wasmbin

// program is a module and the calls that a test makes, in order, in one instance.
type program struct {
	name  string
	build func(a *assembler)
	calls []invocation
}

type invocation struct {
	function  string
	arguments []uint64
	cost      int64 // in fuel, counted by hand; negative if not counted
}

var i32ToI32 = sig([]byte{i32}, []byte{i32})

// programs are small modules with every kind of code: branches, loops, calls, memory, tables,
// vectors.
var programs = []program{
	{"sum", func(a *assembler) {
		// Each iteration has 11 instructions.
		a.function("sum", i32ToI32, []byte{i32}, loop(
			get(1), get(0), i32Add, set(1), get(0), i32c(1), i32Sub, tee(0), i32c(0), opI32Ne, brIf(0),
		), get(1))
	}, []invocation{{"sum", []uint64{1}, 12}, {"sum", []uint64{10}, 111}, {"sum", []uint64{100_000}, 1_100_001}}},

	{"empty functions", func(a *assembler) {
		a.function("empty", sig(nil, nil), nil)
		a.function("nops", sig(nil, nil), nil, opNop, opNop, block(block()))
	}, []invocation{{"empty", nil, 0}, {"nops", nil, 0}}},

	{"branches", func(a *assembler) {
		a.function("if", i32ToI32, nil, get(0), b(opIf, i32), i32c(10), opElse, get(0), i32c(3), i32Add, opEnd)
		a.function("no else", i32ToI32, nil, get(0), ifThen(i32c(5), set(0)), get(0))
		a.function("branch out of a block", i32ToI32, nil, block(get(0), brIf(0), i32c(7), set(0)), get(0))
		a.function("table", i32ToI32, nil,
			block(block(block(get(0), brTable(0, 1, 2, 0)), i32c(100), set(0), br(1)), i32c(200), set(0)), get(0))
		a.function("return", i32ToI32, nil, get(0), ifThen(i32c(1), opReturn), i32c(2))
		a.function("branch out of the function", i32ToI32, nil, i32c(9), get(0), brIf(0), opDrop, i32c(8))
		a.function("branch table out of the function", i32ToI32, nil, i32c(9), get(0), brTable(0, 0, 0), opDrop, i32c(8))
		a.function("dead code", i32ToI32, nil, block(br(0), i32c(1), opDrop, block(i32c(1), brIf(0)), ifThen(br(0)), loop(br(0))), get(0))
		a.function("both arms return", i32ToI32, nil, get(0), b(opIf, i32), i32c(1), opReturn, opElse, i32c(2), opReturn, opEnd, i32c(3), opDrop)
		a.function("else returns", i32ToI32, nil, get(0), b(opIf, i32), i32c(1), opElse, i32c(2), opReturn, opEnd, i32c(3), i32Add)
		a.function("then returns", i32ToI32, nil, get(0), b(opIf, i32), i32c(1), opReturn, opElse, i32c(2), opEnd, i32c(3), i32Add)
		a.function("trap", i32ToI32, nil, get(0), ifThen(opUnreachable), get(0))
		a.function("select", i32ToI32, nil, i32c(4), i32c(5), get(0), opSelect, i32c(6), i32c(7), get(0), opSelectTyped, 1, i32, i32Mul)
	}, invocations(
		[]string{"if", "no else", "branch out of a block", "table", "return", "branch out of the function", "branch table out of the function", "dead code", "both arms return", "else returns", "then returns", "trap", "select"},
		[]uint64{0}, []uint64{1}, []uint64{2}, []uint64{3}, []uint64{1000},
	)},

	{"loops", func(a *assembler) {
		params := u(a.typeIndex(sig([]byte{i32}, []byte{i32})))
		// A loop that takes a parameter from the stack and returns a result.
		a.function("with parameters", i32ToI32, nil, get(0), opLoop, params, i32c(1), i32Sub, tee(0), get(0), brIf(0), opEnd)
		a.function("not repeated", i32ToI32, nil, loop(get(0), i32c(1), i32Add, set(0)), get(0))
		a.function("nested", i32ToI32, []byte{i32, i32}, loop(
			i32c(3), set(1), loop(
				get(2), i32c(1), i32Add, set(2), get(1), i32c(1), i32Sub, tee(1), brIf(0),
				get(0), i32c(1), i32Sub, tee(0), brIf(1),
			)), get(2))
		a.function("branch table to loops", i32ToI32, []byte{i32}, block(loop(loop(
			get(1), i32c(1), i32Add, tee(1), i32c(20), i32LtU, i32Eqz, brIf(2),
			get(1), i32c(3), 0x71 /* and */, brTable(0, 1, 0, 1),
		))), get(1))
		a.function("several back edges", i32ToI32, []byte{i32}, loop(
			get(1), i32c(1), i32Add, tee(1), get(0), i32LtU, brIf(0),
			get(1), i32c(50), i32LtU, ifThen(br(1)),
		), get(1))
		a.function("call in a loop", i32ToI32, []byte{i32}, loop(
			get(1), call(1), set(1), get(0), i32c(1), i32Sub, tee(0), brIf(0)), get(1))
	}, invocations([]string{"with parameters", "not repeated", "nested", "branch table to loops", "several back edges", "call in a loop"},
		[]uint64{1}, []uint64{2}, []uint64{30})},

	{"loops with carried locals", func(a *assembler) {
		// Locals of all number types in mixed order, each changed in a different way: 29
		// instructions per iteration, and 12 after the loop.
		a.function("mixed", sig([]byte{i32, f64}, []byte{i64}), []byte{i64, f32, i32, i64, f64}, loop(
			get(5), get(2), i64c(3), i64Add, tee(2), opI64Mul, i64c(7), i64Add, set(5),
			get(1), get(6), 0xa0 /* f64.add */, set(6), get(6), 0x99 /* f64.abs */, set(1),
			get(3), 0x43, 0, 0, 0x80, 0x3f /* f32.const 1 */, 0x92 /* f32.add */, set(3),
			get(4), get(0), i32Add, set(4), get(0), i32c(1), i32Sub, tee(0), brIf(0),
		), get(2), get(5), i64Add, get(4), opI64ExtendU, i64Add,
			get(3), 0xbb /* f64.promote_f32 */, get(1), 0xa0, 0xbd /* i64.reinterpret_f64 */, i64Add)
	}, []invocation{{"mixed", []uint64{1, 0x3ff0000000000000}, 41}, {"mixed", []uint64{50, 0x3ff8000000000000}, 1462}, {"mixed", []uint64{5000, 0x3ff8000000000000}, 145_012}}},

	{"calls", func(a *assembler) {
		next := a.importFunction("test", "next", i32ToI32)
		a.tables = append(a.tables, b(typeFuncRef, 0, u(10)))
		t := a.typeIndex(i32ToI32)
		fib := a.imported
		a.function("fib", i32ToI32, nil, get(0), i32c(2), i32LtU, b(opIf, i32), get(0), opElse,
			get(0), i32c(1), i32Sub, call(fib), get(0), i32c(2), i32Sub, call(fib), i32Add, opEnd)
		a.function("call the host", i32ToI32, nil, get(0), call(next), call(next))
		a.function("call indirectly", i32ToI32, nil, get(0), i32c(1), i32Sub, get(0), callIndirect(t, 0))
		a.function("light", i32ToI32, nil, get(0), i32c(1), i32Add)
		a.function("call a light function", i32ToI32, nil, get(0), call(fib+3), call(fib+3), call(fib+3))
		a.elements = append(a.elements, b(0, i32c(0), opEnd, u(4), u(fib), u(fib+1), u(fib+2), u(next)))
	}, invocations([]string{"fib", "call the host", "call indirectly", "light", "call a light function"}, []uint64{1}, []uint64{2}, []uint64{3}, []uint64{4}, []uint64{12})},

	{"start", func(a *assembler) {
		a.globals = append(a.globals, b(i32, 1, i32c(5), opEnd), b(i64, 0, i64c(-7), opEnd))
		a.function("", sig(nil, nil), nil, opNop)
		a.start = a.function("", sig(nil, nil), nil, gget(0), i32c(2), i32Mul, gset(0))
		a.function("get", sig(nil, []byte{i32, i64}), nil, gget(0), gget(1))
		a.export("variable", int(Global), 0)
		a.export("constant", int(Global), 1)
	}, []invocation{{"get", nil, 2}}},

	{"memory", func(a *assembler) {
		a.memory(1)
		a.dataCount = true
		a.datas = append(a.datas, b(0, i32c(8), opEnd, u(5), "hello"), b(1, u(5), "later"))
		a.export("memory", int(Memory), 0)
		a.function("store", sig([]byte{i32, i32}, nil), nil, get(0), get(1), 0x36, 2, 4, get(0), 0x2d, 0, 0, opDrop)
		a.function("grow", i32ToI32, nil, get(0), opMemoryGrow, 0, opMemorySize, 0, i32Add)
		a.function("fill", sig([]byte{i32, i32, i32}, nil), nil, get(0), get(1), get(2), more(moreMemoryFill, 0))
		a.function("copy", sig([]byte{i32, i32, i32}, nil), nil, get(0), get(1), get(2), more(moreMemoryCopy, 0, 0))
		a.function("init", sig([]byte{i32, i32, i32}, nil), nil, get(0), get(1), get(2), more(moreMemoryInit, 1, 0))
		a.function("drop", sig(nil, nil), nil, more(moreDataDrop, 1))
	}, []invocation{
		{"store", []uint64{100, 77}, 6}, {"store", []uint64{70000, 77}, -1}, {"grow", []uint64{2}, 4 + 2*1024}, {"grow", []uint64{1 << 30}, 4},
		{"fill", []uint64{10, 3, 6400}, 4 + 100}, {"copy", []uint64{0, 10, 63}, 4}, {"copy", []uint64{0, 10, 64}, 5}, {"init", []uint64{40, 1, 4}, 4},
		{"fill", []uint64{10, 3, 1 << 20}, -1}, {"drop", nil, 1}, {"init", []uint64{40, 1, 4}, -1}, {"init", []uint64{40, 0, 0}, 4},
	}},

	{"tables", func(a *assembler) {
		a.tables = append(a.tables, b(typeFuncRef, 1, u(4), u(20)), b(typeExternRef, 0, u(2)), b(typeFuncRef, 0, u(3)))
		t := a.typeIndex(i32ToI32)
		a.function("one", i32ToI32, nil, get(0), i32c(1), i32Add)
		a.function("two", i32ToI32, nil, get(0), i32c(2), i32Add)
		a.function("through", sig([]byte{i32, i32}, []byte{i32}), nil, get(0), get(1), callIndirect(t, 0))
		a.function("through third", sig([]byte{i32, i32}, []byte{i32}), nil, get(0), get(1), callIndirect(t, 2))
		a.function("grow", i32ToI32, nil, opRefNull, typeFuncRef, get(0), more(moreTableGrow, 0), more(moreTableSize, 0), i32Add)
		a.function("grow third", i32ToI32, nil, opRefFunc, u(1), get(0), more(moreTableGrow, 2))
		a.function("fill", sig([]byte{i32, i32}, nil), nil, get(0), opRefFunc, u(0), get(1), more(moreTableFill, 0))
		a.function("copy", sig([]byte{i32, i32, i32}, nil), nil, get(0), get(1), get(2), more(moreTableCopy, 2, 0))
		a.function("init", sig([]byte{i32, i32, i32}, nil), nil, get(0), get(1), get(2), more(moreTableInit, 1, 0))
		a.function("drop", sig(nil, nil), nil, more(moreElemDrop, 1))
		a.function("is null", i32ToI32, nil, get(0), opTableGet, 0, opRefIsNull)
		a.function("set", i32ToI32, nil, get(0), get(0), opTableGet, 0, opTableSet, 2, i32c(0))
		a.elements = append(a.elements,
			b(0, i32c(1), opEnd, u(2), u(0), u(1)),                                         // active
			b(5, typeFuncRef, u(2), opRefFunc, u(1), opEnd, opRefNull, typeFuncRef, opEnd), // passive, expressions
			b(3, 0, u(1), u(0)),                       // declarative
			b(2, u(2), i32c(0), opEnd, 0, u(1), u(1)), // active, into the third table
		)
	}, []invocation{
		{"through", []uint64{5, 1}, 6}, {"through", []uint64{5, 2}, 6}, {"through", []uint64{5, 0}, -1}, {"through third", []uint64{5, 0}, 6},
		{"grow", []uint64{3}, 5}, {"grow", []uint64{100}, 5}, {"grow third", []uint64{128}, 5}, {"fill", []uint64{0, 4}, 4},
		{"through", []uint64{5, 0}, 6}, {"copy", []uint64{0, 1, 2}, 4}, {"init", []uint64{0, 0, 2}, 4}, {"is null", []uint64{1}, 3},
		{"is null", []uint64{0}, 3}, {"set", []uint64{0}, 5}, {"drop", nil, 1}, {"init", []uint64{0, 0, 2}, -1}, {"through", []uint64{1, 200}, -1},
	}},

	{"multiple values", func(a *assembler) {
		pair := sig(nil, []byte{i32, i64})
		swap := sig([]byte{i32, i64}, []byte{i64, i32})
		a.function("pair", pair, nil, i32c(1), i64c(2))
		a.function("swap", swap, nil, get(1), get(0))
		a.function("both", sig(nil, []byte{i64, i32}), nil, call(0), call(1))
		a.function("block", sig([]byte{i32}, []byte{i64, i32}), nil,
			i32c(3), i64c(4), opBlock, u(a.typeIndex(swap)), opDrop, opDrop, i64c(7), i32c(8), get(0), brIf(0), opDrop, opDrop, i64c(9), i32c(10), opEnd)
		a.function("if", sig([]byte{i32}, []byte{i64, i32}), nil,
			i32c(3), i64c(4), get(0), opIf, u(a.typeIndex(swap)), call(1), opElse, opDrop, opDrop, i64c(7), i32c(8), opEnd)
	}, []invocation{{"pair", nil, 2}, {"both", nil, 6}, {"block", []uint64{0}, 12}, {"block", []uint64{1}, 8}, {"if", []uint64{0}, 8}, {"if", []uint64{1}, 7}}},

	{"vectors and conversions", func(a *assembler) {
		a.memory(1)
		sixteen := "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10"
		a.function("add", sig([]byte{i32}, []byte{i32}), []byte{v128},
			get(0), simd(17), simd(vectorConst, sixteen), simd(174) /* i32x4.add */, tee(1), get(1), simd(vectorShuffle, sixteen[:15], 3), // splat
			get(1), simd(78), simd(27, 2)) // and, extract
		a.function("memory", sig([]byte{i32}, []byte{i32}), nil,
			get(0), simd(vectorConst, sixteen), simd(11, 4, 16), get(0), simd(0, 4, 16), simd(27, 1),
			get(0), simd(vectorConst, sixteen), simd(84, 0, 1, 5), simd(22, 5), i32Add, get(0), simd(92, 2, 0), simd(27, 0), i32Add)
		a.function("saturating", sig([]byte{f64}, []byte{i32}), nil, get(0), more(2))
		a.function("sign", sig([]byte{i64}, []byte{i64}), nil, get(0), 0xc2, get(0), 0xc4, i64Add)
	}, []invocation{{"add", []uint64{5}, 10}, {"memory", []uint64{64}, 15}, {"saturating", []uint64{0x7ff0000000000000}, 2}, {"sign", []uint64{0xfff0f0f0ff}, 5}}},

	{"many locals", func(a *assembler) {
		locals := make([]byte, 300)
		for i := range locals {
			locals[i] = []byte{i32, i64, f32, f64}[i%4]
		}
		a.function("many", i32ToI32, locals, loop(get(289), get(0), i32Add, set(289), get(0), i32c(1), i32Sub, tee(0), brIf(0)), get(289))
	}, []invocation{{"many", []uint64{200}, 200*9 + 1}}},

	{"overlong numbers", func(a *assembler) {
		a.tables = append(a.tables, b(typeFuncRef, 0, 0x84, 0x80, 0))
		long := func(n int) []byte { return b(n|0x80, 0x80, 0) }
		a.function("long", i32ToI32, []byte{i32}, opBlock, 0xff, 0x7f, opLocalGet, long(0), opI32Const, 0x81, 0x80, 0x80, 0, i32Add, opBr, long(0), opEnd, opLocalTee, long(1))
		a.function("call", i32ToI32, nil, opLocalGet, long(0), opI32Const, 0x80, 0, opCallIndirect, long(0), long(0))
		a.elements = append(a.elements, b(long(0), i32c(0), opEnd, long(1), long(0)))
	}, []invocation{{"long", []uint64{3}, 5}, {"call", []uint64{3}, 8}}},
}

// invocations returns calls of each function with each list of arguments, without costs.
func invocations(functions []string, arguments ...[]uint64) (all []invocation) {
	for _, f := range functions {
		for _, a := range arguments {
			all = append(all, invocation{f, a, -1})
		}
	}
	return all
}
