package wasmbin

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestInvalidModules checks that Parse refuses invalid modules with an error that gives the
// offset and the reason.
func TestInvalidModules(t *testing.T) {
	section := func(id byte, data ...any) []byte {
		return appendSection([]byte("\x00asm\x01\x00\x00\x00"), id, b(data...))
	}
	function := func(locals []byte, code ...any) []byte {
		a := &assembler{}
		a.globals = append(a.globals, b(i32, 1, i32c(0), opEnd))
		a.function("f", i32ToI32, locals, code...)
		return a.bytes()
	}
	for _, tt := range []struct {
		name   string
		binary []byte
		want   string
	}{
		{"empty input", nil, "byte 0x0: it does not begin with \\0asm"},
		{"text format", []byte("(module)"), "byte 0x0: it does not begin with \\0asm"},
		{"no version", []byte("\x00asm"), "byte 0x4: an unknown version"},
		{"component", []byte("\x00asm\x0d\x00\x01\x00"), "byte 0x4: a component: use the core module"},
		{"unknown section", section(14), "byte 0x8: section 14 is unknown"},
		{"sections out of order", append(section(functionSection, 0), typeSection, 1, 0), "byte 0xb: section 1 is unknown or out of order"},
		{"duplicate section", append(section(typeSection, 0), typeSection, 1, 0), "byte 0xb: section 1 is unknown or out of order"},
		{"truncated section", section(typeSection, 0)[:9], "ends too early"},
		{"section with extra bytes", section(typeSection, 0, 0), "section 1 is longer than what is in it"},
		{"section beyond the end of the module", b(section(typeSection, 0)[:9], 0x7f), "a part of 127 bytes in 0"},
		{"count without elements", section(typeSection, 0xff, 0xff, 3), "65535 types in 0 bytes"},
		{"count above the maximum", section(typeSection, 0xff, 0xff, 0xff, 0xff, 15), "4294967295 types: the maximum is 100000"},
		{"unterminated number", section(typeSection, 0x80, 0x80, 0x80, 0x80, 0x80, 0), "a number of more than 32 bits"},
		{"number of 35 bits", section(typeSection, 0x80, 0x80, 0x80, 0x80, 0x10), "a number of more than 32 bits"},
		{"struct type", section(typeSection, 1, 0x5f, 0), "a type that is not of a function: 0x5f"},
		{"unknown value type", section(typeSection, 1, 0x60, 1, 0x40, 0), "an unknown type of value: 0x40"},
		{"shared memory", section(memorySection, 1, 3, 1, 1), "a size of an unknown kind (shared, or of 64 bits): 0x3"},
		{"64-bit memory", section(memorySection, 1, 4, 1), "a size of an unknown kind"},
		{"two memories", section(memorySection, 2, 0, 1, 0, 1), "2 memories: the maximum is 1"},
		{"memory above 4 GiB", section(memorySection, 1, 0, u(65537)), "a memory of more than 4 GiB"},
		{"memory minimum above its maximum", section(memorySection, 1, 1, 2, 1), "a size of 2, but at most 1"},
		{"table above the maximum", section(tableSection, 1, typeFuncRef, 0, u(2_000_000)), "tables of 2000000 elements: the maximum of a module is 1000000"},
		{"functions without bodies", append(section(typeSection, 1, 0x60, 0, 0), functionSection, 2, 1, 0), "1 functions and 0 bodies"},
		{"bodies without functions", section(codeSection, 1, 2, 0, opEnd), "more bodies than functions: there are 0"},
		{"export of a missing function", section(exportSection, 1, 1, "x", 0, 0), "function 0 of 0"},
		{"export of the counter", section(exportSection, 1, 1, "x", 3, 0), "global 0 of 0"},
		{"name that is not UTF-8", section(exportSection, 1, 1, 0xff, 0, 0), "a name that is not UTF-8"},
		{"missing start function", section(startSection, 3), "function 3 of 0"},
		{"local added by metering", function(nil, get(1)), "local 1 of 1"},
		{"read of the counter", function(nil, gget(1)), "global 1 of 1"},
		{"write of the counter", function(nil, i64c(1<<40), gset(1), get(0)), "global 1 of 1"},
		{"function added by metering", function(nil, get(0), call(1)), "function 1 of 1"},
		{"type added by metering", function(nil, opBlock, u(1), opEnd, get(0)), "type 1 of 1"},
		{"missing label", function(nil, br(1)), "label 1 of 1"},
		{"missing table", function(nil, get(0), callIndirect(0, 0)), "table 0 of 0"},
		{"tail call", function(nil, get(0), 0x12, 0), "instruction 0x12, which is not in WebAssembly 2.0"},
		{"atomic instruction", function(nil, 0xfe, 3, 0), "instruction 0xfe"},
		{"exception instruction", function(nil, 0x08, 0), "instruction 0x8,"},
		{"unknown 0xfc instruction", function(nil, more(18)), "instruction 0xfc 18"},
		{"unknown vector instruction", function(nil, simd(256)), "instruction 0xfd 256"},
		{"else without if", function(nil, block(opElse), get(0)), "an else without an if"},
		{"two elses", function(nil, get(0), ifThen(opElse, opElse), get(0)), "an else without an if"},
		{"code after the end", function(nil, get(0), opEnd), "code after the end of a function"},
		{"block with an unknown value type", function(nil, opBlock, 0x41, opEnd, get(0)), "an unknown type of value: 0x41"},
		{"block type out of range", function(nil, opBlock, 0x80, 0x40, opEnd, get(0)), "an unknown type of a block: -8192"},
		{"select with two types", function(nil, get(0), get(0), get(0), opSelectTyped, 2, i32, i32), "a selection of 2 types"},
		{"second memory", function(nil, get(0), opMemoryGrow, 1), "memory 1, of which there is one"},
		{"blocks nested too deeply", function(nil, strings.Repeat("\x02\x40", 1001), strings.Repeat("\x0b", 1001), get(0)), "more than 1000 nested blocks"},
		{"initializer that is not constant", section(globalSection, 1, i32, 0, opNop, opEnd), "not a constant: 0x1"},
		{"initializer with two instructions", section(globalSection, 1, i32, 0, i32c(1), i32c(1), opEnd), "a constant of more than one instruction: 0x41"},
		{"initializer that reads the counter", section(globalSection, 1, i32, 0, gget(1), opEnd), "global 1 of 1"},
		{"element segment for a missing table", section(elementSection, 1, 2, 7, i32c(0), opEnd, 0, 0), "table 7 of 0"},
		{"element segment of an unknown kind", section(elementSection, 1, 9), "a segment of elements of an unknown kind: 0x9"},
		{"data segment of an unknown kind", section(dataSection, 1, 9), "a segment of data of an unknown kind: 0x9"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, err := Parse(tt.binary)
			e := &Error{}
			if !errors.As(err, &e) || m != nil {
				t.Fatalf("got module %v and error %v, want an *Error", m, err)
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got error %q, want %q", err, tt.want)
			}
			if e.Offset > len(tt.binary) {
				t.Errorf("offset %d is beyond the %d bytes of the module", e.Offset, len(tt.binary))
			}
		})
	}
}

// TestReservedNames checks that Meter refuses modules that import the host module or export the
// names of the counters.
func TestReservedNames(t *testing.T) {
	for name, build := range map[string]func(a *assembler){
		"import":  func(a *assembler) { a.importFunction(HostModule, "anything", i32ToI32) },
		"counter": func(a *assembler) { a.function(CounterExport, i32ToI32, nil, get(0)) },
		"stack":   func(a *assembler) { a.function(StackExport, i32ToI32, nil, get(0)) },
	} {
		a := &assembler{}
		build(a)
		m, err := Parse(a.bytes())
		requireNoError(t, err)
		if _, err := m.Meter(Metering{}); err == nil || !strings.Contains(err.Error(), "which is reserved") {
			t.Errorf("%s: got error %v, want one about a reserved name", name, err)
		}
	}
}

// TestOverlongOpcodes runs metered instructions whose opcodes were encoded in more bytes than
// needed. Engines misread some of these forms and would run the bytes that follow as code, which
// Parse did not see as code; so Meter has to write the shortest form.
func TestOverlongOpcodes(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, h *host) {
		a := &assembler{}
		a.memory(1)
		// An engine that reads only one byte of the first opcode would run the rest as code.
		a.function("vector", i32ToI32, nil, get(0), prefixVector, 0x80, 0x80, 0, 4, 0, simd(27, 0))
		a.function("more", sig([]byte{f64}, []byte{i32}), nil, get(0), prefixMore, 0x82, 0x80, 0)
		m, err := Parse(a.bytes())
		requireNoError(t, err)
		for _, grain := range []Grain{Exact, Coarse} {
			binary, err := m.Meter(Metering{Grain: grain})
			requireNoError(t, err)
			c, err := h.CompileModule(h.ctx, binary)
			requireNoError(t, err)
			instance, err := h.instantiate(c)
			requireNoError(t, err)
			if got := h.call(instance, "vector", 0); got.results != "[0]" || got.failure != "" {
				t.Errorf("vector: got %+v, want [0]", got)
			}
			if got := h.call(instance, "more", 0x4014000000000000); got.results != "[5]" || got.failure != "" {
				t.Errorf("more: got %+v, want [5]", got)
			}
		}
	})
}

// TestBombs checks that Meter refuses small modules that would take the compiler minutes or
// gigabytes, does so quickly, and accepts them as known code (Coarse).
func TestBombs(t *testing.T) {
	repeat := func(n int, piece func(i int) []byte) (code []byte) {
		for i := range n {
			code = append(code, piece(i)...)
		}
		return code
	}
	locals := make([]byte, 3000)
	for i := range locals {
		locals[i] = i32
	}
	conditionalBlock := func(int) []byte { return block(get(0), brIf(0)) }
	for name, build := range map[string]func(a *assembler){
		"blocks": func(a *assembler) { a.function("", i32ToI32, nil, repeat(30_000, conditionalBlock), get(0)) },
		"locals": func(a *assembler) { a.function("", i32ToI32, locals, repeat(3_000, conditionalBlock), get(0)) },
		"branch table": func(a *assembler) {
			a.function("", i32ToI32, locals[:300], block(get(0), brTable(make([]int, 30_000)...)), get(0))
		},
		"several branch tables": func(a *assembler) {
			a.function("", i32ToI32, nil, block(repeat(3, func(int) []byte { return b(block(get(0), brTable(make([]int, 65_000)...)), get(0), brIf(0)) })), get(0))
			a.function("", i32ToI32, nil, block(repeat(3, func(int) []byte { return b(get(0), brIf(0), get(0), brTable(make([]int, 65_000)...)) })), get(0))
		},
		"globals": func(a *assembler) {
			for range 3_000 {
				a.globals = append(a.globals, b(i32, 1, i32c(0), opEnd))
			}
			a.function("", sig(nil, nil), nil, repeat(3_000, func(int) []byte { return call(0) }))
		},
		"functions": func(a *assembler) {
			for range 200 {
				a.function("", i32ToI32, nil, repeat(3_000, conditionalBlock), get(0))
			}
		},
	} {
		a := &assembler{}
		build(a)
		start := time.Now()
		m, err := Parse(a.bytes())
		requireNoError(t, err)
		if _, err := m.Meter(Metering{Grain: Coarse}); err != nil {
			t.Errorf("%s, Coarse: %v", name, err)
		}
		_, err = m.Meter(Metering{})
		if err == nil || !strings.Contains(err.Error(), "to compile") {
			t.Errorf("%s: got error %v, want one about the cost to compile it", name, err)
		}
		t.Log(name, len(a.bytes()), "bytes:", err)
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%s: took %v, want at most 5s", name, took)
		}
	}
}

// TestModuleContents checks the imports, exports, memory, data and start function that Parse
// reports.
func TestModuleContents(t *testing.T) {
	a := &assembler{}
	a.importFunction("env", "log", sig([]byte{i32, i64}, nil))
	a.addImport("env", "table", 1, typeFuncRef, 0, 1)
	a.addImport("env", "memory", 2, 1, 1, 2)
	a.addImport("env", "base", 3, i32, 0)
	a.function("run", sig([]byte{f32, v128}, []byte{f64, typeExternRef}), nil, opUnreachable)
	a.export("base", int(Global), 0)
	a.datas = append(a.datas, b(0, i32c(-1), opEnd, u(2), "ab"), b(1, u(1), "c"), b(0, gget(0), opEnd, u(1), "d"), b(2, 0, i32c(7), opEnd, 0))
	m, err := Parse(a.bytes())
	requireNoError(t, err)
	for got, want := range map[string]string{
		fmt.Sprint(m.Imports):    "[{env log function (i32, i64)} {env table table } {env memory memory } {env base global }]",
		fmt.Sprint(m.Exports):    "[{run function 1 (f32, v128) -> (f64, externref)} {base global 0 }]",
		fmt.Sprint(m.Memory):     "<nil>",
		fmt.Sprint(m.Data()):     "[{false 4294967295 true [97 98]} {true 0 false [99]} {false 0 false [100]} {false 7 true []}]",
		fmt.Sprint(m.HasStart()): "false",
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if e, ok := m.Export("run"); !ok || e.Type != "(f32, v128) -> (f64, externref)" {
		t.Errorf("Export(%q) = %+v, %v", "run", e, ok)
	}
	if e, ok := m.Export("walk"); ok {
		t.Errorf("Export(%q) = %+v, want none", "walk", e)
	}
}

// TestWithoutData checks that WithoutData leaves out active data segments, which would overwrite
// a restored memory, and keeps passive ones, which code can still copy.
func TestWithoutData(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, h *host) {
		a := &assembler{dataCount: true}
		a.memory(1)
		a.export("memory", int(Memory), 0)
		a.function("init", sig(nil, nil), nil, i32c(20), i32c(0), i32c(5), more(moreMemoryInit, 1, 0))
		a.function("init active", sig(nil, nil), nil, i32c(20), i32c(0), i32c(5), more(moreMemoryInit, 0, 0))
		a.datas = append(a.datas, b(0, i32c(8), opEnd, u(5), "hello"), b(1, u(5), "later"))
		m, err := Parse(a.bytes())
		requireNoError(t, err)
		for _, without := range []bool{false, true} {
			binary, err := m.Meter(Metering{WithoutData: without})
			requireNoError(t, err)
			c, err := h.CompileModule(h.ctx, binary)
			requireNoError(t, err)
			instance, err := h.instantiate(c)
			requireNoError(t, err)
			got, _ := instance.Memory().Read(8, 5)
			if (string(got) == "hello") == without {
				t.Errorf("WithoutData %v: active segment in memory: %q", without, got)
			}
			if got := h.call(instance, "init"); got.failure != "" {
				t.Errorf("WithoutData %v: memory.init of the passive segment: %s", without, got.failure)
			}
			if got, _ := instance.Memory().Read(20, 5); string(got) != "later" {
				t.Errorf("WithoutData %v: memory.init copied %q, want %q", without, got, "later")
			}
			if got := h.call(instance, "init active"); without && got.failure == "" {
				t.Errorf("memory.init of a removed segment succeeded: %+v", got)
			}
		}
	})
}
