package wasmbin

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestRefused is about modules that are not let in: the error says where, and why.
func TestRefused(t *testing.T) {
	section := func(id byte, data ...any) []byte {
		return appendSection([]byte("\x00asm\x01\x00\x00\x00"), id, b(data...))
	}
	function := func(locals []byte, code ...any) []byte {
		a := &assembly{}
		a.globals = append(a.globals, b(i32, 1, i32c(0), opEnd))
		a.function("f", toI, locals, code...)
		return a.bytes()
	}
	for _, c := range []struct {
		name   string
		binary []byte
		want   string
	}{
		{"nothing", nil, "byte 0x0: it does not begin with \\0asm"},
		{"text", []byte("(module)"), "byte 0x0: it does not begin with \\0asm"},
		{"no version", []byte("\x00asm"), "byte 0x4: an unknown version"},
		{"a component", []byte("\x00asm\x0d\x00\x01\x00"), "byte 0x4: a component: use the core module"},
		{"an unknown section", section(14), "byte 0x8: section 14 is unknown"},
		{"sections in disorder", append(section(functionSection, 0), typeSection, 1, 0), "byte 0xb: section 1 is unknown or out of order"},
		{"a section twice", append(section(typeSection, 0), typeSection, 1, 0), "byte 0xb: section 1 is unknown or out of order"},
		{"a section that ends early", section(typeSection, 0)[:9], "ends too early"},
		{"a section that is too long", section(typeSection, 0, 0), "section 1 is longer than what is in it"},
		{"a section beyond the end", b(section(typeSection, 0)[:9], 0x7f), "a part of 127 bytes in 0"},
		{"a count without elements", section(typeSection, 0xff, 0xff, 3), "65535 types in 0 bytes"},
		{"a count of too many", section(typeSection, 0xff, 0xff, 0xff, 0xff, 15), "4294967295 types: the maximum is 100000"},
		{"a number without an end", section(typeSection, 0x80, 0x80, 0x80, 0x80, 0x80, 0), "a number of more than 32 bits"},
		{"a number of 35 bits", section(typeSection, 0x80, 0x80, 0x80, 0x80, 0x10), "a number of more than 32 bits"},
		{"a type of a structure", section(typeSection, 1, 0x5f, 0), "a type that is not of a function: 0x5f"},
		{"a type of value", section(typeSection, 1, 0x60, 1, 0x40, 0), "an unknown type of value: 0x40"},
		{"a shared memory", section(memorySection, 1, 3, 1, 1), "a size of an unknown kind (shared, or of 64 bits): 0x3"},
		{"a memory of 64 bits", section(memorySection, 1, 4, 1), "a size of an unknown kind"},
		{"two memories", section(memorySection, 2, 0, 1, 0, 1), "2 memories: the maximum is 1"},
		{"a memory that is too large", section(memorySection, 1, 0, u(65537)), "a memory of more than 4 GiB"},
		{"a memory that is larger than itself", section(memorySection, 1, 1, 2, 1), "a size of 2, but at most 1"},
		{"a table that is too large", section(tableSection, 1, typeFuncRef, 0, u(2_000_000)), "tables of 2000000 elements: the maximum of a module is 1000000"},
		{"functions without bodies", append(section(typeSection, 1, 0x60, 0, 0), functionSection, 2, 1, 0), "1 functions and 0 bodies"},
		{"bodies without functions", section(codeSection, 1, 2, 0, opEnd), "more bodies than functions: there are 0"},
		{"an export of nothing", section(exportSection, 1, 1, "x", 0, 0), "function 0 of 0"},
		{"a global of ours, exported", section(exportSection, 1, 1, "x", 3, 0), "global 0 of 0"},
		{"a name that is not UTF-8", section(exportSection, 1, 1, 0xff, 0, 0), "a name that is not UTF-8"},
		{"a start that is none", section(startSection, 3), "function 3 of 0"},
		{"a local of ours", function(nil, get(1)), "local 1 of 1"},
		{"a global of ours", function(nil, gget(1)), "global 1 of 1"},
		{"a global of ours, set", function(nil, i64c(1<<40), gset(1), get(0)), "global 1 of 1"},
		{"a function of ours", function(nil, get(0), call(1)), "function 1 of 1"},
		{"a type of ours", function(nil, opBlock, u(1), opEnd, get(0)), "type 1 of 1"},
		{"a label", function(nil, br(1)), "label 1 of 1"},
		{"a table", function(nil, get(0), callIndirect(0, 0)), "table 0 of 0"},
		{"a tail call", function(nil, get(0), 0x12, 0), "instruction 0x12, which is not in WebAssembly 2.0"},
		{"an atomic instruction", function(nil, 0xfe, 3, 0), "instruction 0xfe"},
		{"an exception", function(nil, 0x08, 0), "instruction 0x8,"},
		{"an unknown one of more", function(nil, more(18)), "instruction 0xfc 18"},
		{"an unknown vector", function(nil, simd(256)), "instruction 0xfd 256"},
		{"an else without an if", function(nil, block(opElse), get(0)), "an else without an if"},
		{"two elses", function(nil, get(0), when(opElse, opElse), get(0)), "an else without an if"},
		{"code after the end", function(nil, get(0), opEnd), "code after the end of a function"},
		{"a block of an unknown type", function(nil, opBlock, 0x41, opEnd, get(0)), "an unknown type of value: 0x41"},
		{"a block of a far type", function(nil, opBlock, 0x80, 0x40, opEnd, get(0)), "an unknown type of a block: -8192"},
		{"a selection of two", function(nil, get(0), get(0), get(0), opSelectTyped, 2, i32, i32), "a selection of 2 types"},
		{"a second memory", function(nil, get(0), opMemoryGrow, 1), "memory 1, of which there is one"},
		{"too many blocks", function(nil, strings.Repeat("\x02\x40", 1001), strings.Repeat("\x0b", 1001), get(0)), "more than 1000 nested blocks"},
		{"not a constant", section(globalSection, 1, i32, 0, opNop, opEnd), "not a constant: 0x1"},
		{"a constant of two", section(globalSection, 1, i32, 0, i32c(1), i32c(1), opEnd), "a constant of more than one instruction: 0x41"},
		{"a constant of ours", section(globalSection, 1, i32, 0, gget(1), opEnd), "global 1 of 1"},
		{"a segment for no table", section(elementSection, 1, 2, 7, i32c(0), opEnd, 0, 0), "table 7 of 0"},
		{"a segment of an unknown kind", section(elementSection, 1, 9), "a segment of elements of an unknown kind: 0x9"},
		{"data of an unknown kind", section(dataSection, 1, 9), "a segment of data of an unknown kind: 0x9"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := Parse(c.binary)
			e := &Error{}
			if !errors.As(err, &e) || m != nil {
				t.Fatalf("%v, %v", m, err)
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if e.Offset > len(c.binary) {
				t.Errorf("byte %d of %d", e.Offset, len(c.binary))
			}
		})
	}
}

// TestReservedNames: no module may pass for the host, or hide its counter.
func TestReservedNames(t *testing.T) {
	for name, put := range map[string]func(a *assembly){
		"import":  func(a *assembly) { a.importFunction(HostModule, "anything", toI) },
		"counter": func(a *assembly) { a.function(CounterExport, toI, nil, get(0)) },
		"stack":   func(a *assembly) { a.function(StackExport, toI, nil, get(0)) },
	} {
		a := &assembly{}
		put(a)
		m, err := Parse(a.bytes())
		must(t, err)
		if _, err := m.Meter(Metering{}); err == nil || !strings.Contains(err.Error(), "which is reserved") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSmuggled has instructions whose numbers are longer than they have to be. Engines
// read some of them in another way than the format says: what is behind such a number
// would be code for them, and has not been seen here.
func TestSmuggled(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		a := &assembly{}
		a.memory(1)
		// To a reader of single bytes, the first is followed by `nop nop unreachable`.
		a.function("vector", toI, nil, get(0), prefixVector, 0x80, 0x80, 0, 4, 0, simd(27, 0))
		a.function("more", sig([]byte{f64}, []byte{i32}), nil, get(0), prefixMore, 0x82, 0x80, 0)
		m, err := Parse(a.bytes())
		must(t, err)
		for _, grain := range []Grain{Exact, Coarse} {
			binary, err := m.Meter(Metering{Grain: grain})
			must(t, err)
			c, err := w.CompileModule(w.ctx, binary)
			must(t, err)
			instance, err := w.instance(c)
			must(t, err)
			if got := w.call(instance, "vector", 0); got.results != "[0]" || got.failure != "" {
				t.Errorf("%+v", got)
			}
			if got := w.call(instance, "more", 0x4014000000000000); got.results != "[5]" || got.failure != "" {
				t.Errorf("%+v", got)
			}
		}
	})
}

// TestBombs has small modules that would take a compiler minutes, or gigabytes. Here
// they take no time.
func TestBombs(t *testing.T) {
	many := func(n int, of func(i int) []byte) (code []byte) {
		for i := range n {
			code = append(code, of(i)...)
		}
		return code
	}
	locals := make([]byte, 3000)
	for i := range locals {
		locals[i] = i32
	}
	once := func(int) []byte { return block(get(0), brIf(0)) }
	for name, put := range map[string]func(a *assembly){
		"blocks": func(a *assembly) { a.function("", toI, nil, many(30_000, once), get(0)) },
		"locals": func(a *assembly) { a.function("", toI, locals, many(3_000, once), get(0)) },
		"jumps": func(a *assembly) {
			a.function("", toI, locals[:300], block(get(0), brTable(make([]int, 30_000)...)), get(0))
		},
		"tables of jumps": func(a *assembly) {
			a.function("", toI, nil, block(many(3, func(int) []byte { return b(block(get(0), brTable(make([]int, 65_000)...)), get(0), brIf(0)) })), get(0))
			a.function("", toI, nil, block(many(3, func(int) []byte { return b(get(0), brIf(0), get(0), brTable(make([]int, 65_000)...)) })), get(0))
		},
		"globals": func(a *assembly) {
			for range 3_000 {
				a.globals = append(a.globals, b(i32, 1, i32c(0), opEnd))
			}
			a.function("", sig(nil, nil), nil, many(3_000, func(int) []byte { return call(0) }))
		},
		"functions": func(a *assembly) {
			for range 200 {
				a.function("", toI, nil, many(3_000, once), get(0))
			}
		},
	} {
		a := &assembly{}
		put(a)
		begin := time.Now()
		m, err := Parse(a.bytes())
		must(t, err)
		if _, err := m.Meter(Metering{Grain: Coarse}); err != nil {
			t.Errorf("%s, which is known: %v", name, err)
		}
		_, err = m.Meter(Metering{})
		if err == nil || !strings.Contains(err.Error(), "to compile") {
			t.Errorf("%s: %v", name, err)
		}
		t.Log(name, len(a.bytes()), "bytes:", err)
		if took := time.Since(begin); took > 5*time.Second {
			t.Errorf("%s: %v", name, took)
		}
	}
}

// TestParts is about what a host asks of a module.
func TestParts(t *testing.T) {
	a := &assembly{}
	a.importFunction("env", "log", sig([]byte{i32, i64}, nil))
	a.importing("env", "table", 1, typeFuncRef, 0, 1)
	a.importing("env", "memory", 2, 1, 1, 2)
	a.importing("env", "base", 3, i32, 0)
	a.function("run", sig([]byte{f32, v128}, []byte{f64, typeExternRef}), nil, opUnreachable)
	a.export("it", int(Global), 0)
	a.datas = append(a.datas, b(0, i32c(-1), opEnd, u(2), "ab"), b(1, u(1), "c"), b(0, gget(0), opEnd, u(1), "d"), b(2, 0, i32c(7), opEnd, 0))
	m, err := Parse(a.bytes())
	must(t, err)
	for got, want := range map[string]string{
		fmt.Sprint(m.Imports):    "[{env log function (i32, i64)} {env table table } {env memory memory } {env base global }]",
		fmt.Sprint(m.Exports):    "[{run function 1 (f32, v128) -> (f64, externref)} {it global 0 }]",
		fmt.Sprint(m.Memory):     "<nil>",
		fmt.Sprint(m.Data()):     "[{false 4294967295 true [97 98]} {true 0 false [99]} {false 0 false [100]} {false 7 true []}]",
		fmt.Sprint(m.HasStart()): "false",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if e, ok := m.Export("run"); !ok || e.Type != "(f32, v128) -> (f64, externref)" {
		t.Errorf("%+v, %v", e, ok)
	}
	if e, ok := m.Export("walk"); ok {
		t.Errorf("%+v", e)
	}
}

// TestWithoutData: a host that restores memory wants no segments written over it, but
// code may still ask for those that are not written at once.
func TestWithoutData(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		a := &assembly{dataCount: true}
		a.memory(1)
		a.export("memory", int(Memory), 0)
		a.function("init", sig(nil, nil), nil, i32c(20), i32c(0), i32c(5), more(moreMemoryInit, 1, 0))
		a.function("init active", sig(nil, nil), nil, i32c(20), i32c(0), i32c(5), more(moreMemoryInit, 0, 0))
		a.datas = append(a.datas, b(0, i32c(8), opEnd, u(5), "hello"), b(1, u(5), "later"))
		m, err := Parse(a.bytes())
		must(t, err)
		for _, without := range []bool{false, true} {
			binary, err := m.Meter(Metering{WithoutData: without})
			must(t, err)
			c, err := w.CompileModule(w.ctx, binary)
			must(t, err)
			instance, err := w.instance(c)
			must(t, err)
			got, _ := instance.Memory().Read(8, 5)
			if (string(got) == "hello") == without {
				t.Errorf("%v: %q", without, got)
			}
			if end := w.call(instance, "init"); end.failure != "" {
				t.Errorf("%+v", end)
			}
			if got, _ := instance.Memory().Read(20, 5); string(got) != "later" {
				t.Errorf("%q", got)
			}
			if end := w.call(instance, "init active"); without && end.failure == "" {
				t.Errorf("%+v", end)
			}
		}
	})
}
