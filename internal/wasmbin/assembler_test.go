package wasmbin

import "slices"

// assembler builds the binary of a module. Each section is a list of encoded entries.
type assembler struct {
	types, imports, functions, tables, memories, globals, exports, elements, codes, datas [][]byte

	start     int // the index of the start function; 0 means none
	dataCount bool
	imported  int // the number of imported functions
}

// b concatenates its arguments. A number is one byte.
func b(parts ...any) (out []byte) {
	for _, p := range parts {
		switch p := p.(type) {
		case int:
			out = append(out, byte(p))
		case byte:
			out = append(out, p)
		case string:
			out = append(out, p...)
		case []byte:
			out = append(out, p...)
		default:
			panic(p)
		}
	}
	return out
}

// Encoders of unsigned numbers and of instructions with their immediates.
func u(n int) []byte                     { return appendU32(nil, uint32(n)) }
func i32c(n int) []byte                  { return appendSigned([]byte{opI32Const}, int64(n)) }
func i64c(n int) []byte                  { return appendSigned([]byte{opI64Const}, int64(n)) }
func get(n int) []byte                   { return b(opLocalGet, u(n)) }
func set(n int) []byte                   { return b(opLocalSet, u(n)) }
func tee(n int) []byte                   { return b(opLocalTee, u(n)) }
func gget(n int) []byte                  { return b(opGlobalGet, u(n)) }
func gset(n int) []byte                  { return b(opGlobalSet, u(n)) }
func br(n int) []byte                    { return b(opBr, u(n)) }
func brIf(n int) []byte                  { return b(opBrIf, u(n)) }
func call(n int) []byte                  { return b(opCall, u(n)) }
func callIndirect(typ, table int) []byte { return b(opCallIndirect, u(typ), u(table)) }
func block(parts ...any) []byte          { return b(opBlock, blockVoid, b(parts...), opEnd) }
func loop(parts ...any) []byte           { return b(opLoop, blockVoid, b(parts...), opEnd) }
func ifThen(parts ...any) []byte         { return b(opIf, blockVoid, b(parts...), opEnd) }
func more(op int, imm ...any) []byte     { return b(prefixMore, u(op), b(imm...)) }
func simd(op int, imm ...any) []byte     { return b(prefixVector, u(op), b(imm...)) }
func brTable(labels ...int) []byte {
	out := b(opBrTable, u(len(labels)-1))
	for _, l := range labels {
		out = append(out, u(l)...)
	}
	return out
}

const (
	i32, i64, f32, f64, v128 = typeI32, typeI64, typeF32, typeF64, typeV128

	i32Add, i32Sub, i32Mul, i32Eqz, i32LtU, i64Add, i64Mul = 0x6a, opI32Sub, 0x6c, opI32Eqz, 0x49, 0x7c, opI64Mul
)

// sig returns the type of a function.
func sig(parameters, results []byte) signature { return signature{parameters, results} }

// typeIndex returns the index of a type, and adds the type if it is new.
func (a *assembler) typeIndex(s signature) int {
	encoded := s.append(nil)
	if i := slices.IndexFunc(a.types, func(t []byte) bool { return string(t) == string(encoded) }); i >= 0 {
		return i
	}
	a.types = append(a.types, encoded)
	return len(a.types) - 1
}

func (a *assembler) addImport(module, name string, description ...any) {
	a.imports = append(a.imports, b(u(len(module)), module, u(len(name)), name, b(description...)))
}

// importFunction adds an import, and returns the index of the function.
func (a *assembler) importFunction(module, name string, s signature) int {
	a.addImport(module, name, 0, u(a.typeIndex(s)))
	a.imported++
	return a.imported - 1
}

func (a *assembler) export(name string, kind, index int) {
	a.exports = append(a.exports, b(u(len(name)), name, kind, u(index)))
}

// function adds a function, exports it if it has a name, and returns its index. locals has the
// type of each local.
func (a *assembler) function(name string, s signature, locals []byte, code ...any) int {
	index := a.imported + len(a.functions)
	a.functions = append(a.functions, u(a.typeIndex(s)))
	groups := u(len(locals))
	for _, l := range locals {
		groups = append(groups, 1, l)
	}
	body := b(groups, b(code...), opEnd)
	a.codes = append(a.codes, b(u(len(body)), body))
	if name != "" {
		a.export(name, int(Function), index)
	}
	return index
}

func (a *assembler) memory(pages int) {
	a.memories = append(a.memories, b(0, u(pages)))
}

// bytes returns the binary of the module.
func (a *assembler) bytes() []byte {
	out := []byte("\x00asm\x01\x00\x00\x00")
	list := func(id byte, entries [][]byte) {
		if len(entries) > 0 {
			out = appendSection(out, id, b(u(len(entries)), slices.Concat(entries...)))
		}
	}
	list(typeSection, a.types)
	list(importSection, a.imports)
	list(functionSection, a.functions)
	list(tableSection, a.tables)
	list(memorySection, a.memories)
	list(globalSection, a.globals)
	list(exportSection, a.exports)
	if a.start != 0 {
		out = appendSection(out, startSection, u(a.start))
	}
	list(elementSection, a.elements)
	if a.dataCount {
		out = appendSection(out, dataCountSection, u(len(a.datas)))
	}
	list(codeSection, a.codes)
	list(dataSection, a.datas)
	return out
}
