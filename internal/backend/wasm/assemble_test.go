package wasm

import (
	"encoding/binary"
	"slices"
)

// A small assembler of WebAssembly, for modules that no compiler would write.

func u32(n uint32) []byte { return binary.AppendUvarint(nil, uint64(n)) }

func list(items ...[]byte) []byte {
	return slices.Concat(append([][]byte{u32(uint32(len(items)))}, items...)...)
}

func text(s string) []byte { return append(u32(uint32(len(s))), s...) }

func lengthPrefixed(b []byte) []byte { return append(u32(uint32(len(b))), b...) }

func section(id byte, content []byte) []byte { return append([]byte{id}, lengthPrefixed(content)...) }

func assemble(sections ...[]byte) []byte {
	return slices.Concat(append([][]byte{[]byte("\x00asm\x01\x00\x00\x00")}, sections...)...)
}

const (
	voidType = 0 // of the types below: () -> ()
	growType = 1 // (i32) -> i32
)

var types = section(1, list([]byte{0x60, 0, 0}, []byte{0x60, 1, 0x7f, 1, 0x7f}))

// functions have the type () -> ().
func functions(n int) []byte { return section(3, list(slices.Repeat([][]byte{{voidType}}, n)...)) }

func exportStart(function byte) []byte {
	return section(7, list(slices.Concat(text("_start"), []byte{0, function})))
}

// code returns a code section with bodies without locals, and adds the end to each.
func code(bodies ...[]byte) []byte {
	var all [][]byte
	for _, b := range bodies {
		all = append(all, lengthPrefixed(slices.Concat([]byte{0}, b, []byte{0x0b})))
	}
	return section(10, list(all...))
}

// moduleOf returns a module with one function, and a memory unless it is nil.
func moduleOf(memory []byte, body ...byte) []byte {
	sections := [][]byte{types, functions(1)}
	if memory != nil {
		sections = append(sections, section(5, list(memory)))
	}
	return assemble(append(sections, exportStart(0), code(body))...)
}

func memoryOf(pages uint32) []byte { return append([]byte{0}, u32(pages)...) }
