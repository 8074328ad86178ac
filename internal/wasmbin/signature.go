package wasmbin

import "strings"

// The types of values.
const (
	typeI32       = 0x7f
	typeI64       = 0x7e
	typeF32       = 0x7d
	typeF64       = 0x7c
	typeV128      = 0x7b
	typeFuncRef   = 0x70
	typeExternRef = 0x6f

	typeFunction = 0x60
)

var valueTypeNames = map[byte]string{
	typeI32: "i32", typeI64: "i64", typeF32: "f32", typeF64: "f64", typeV128: "v128", typeFuncRef: "funcref", typeExternRef: "externref",
}

// signature is the type of a function, or of a block.
type signature struct{ parameters, results []byte }

func (s signature) String() string {
	list := func(types []byte) string {
		names := make([]string, len(types))
		for i, t := range types {
			names[i] = valueTypeNames[t]
		}
		return strings.Join(names, ", ")
	}
	switch len(s.results) {
	case 0:
		return "(" + list(s.parameters) + ")"
	case 1:
		return "(" + list(s.parameters) + ") -> " + list(s.results)
	}
	return "(" + list(s.parameters) + ") -> (" + list(s.results) + ")"
}

func (s signature) append(out []byte) []byte {
	out = append(out, typeFunction)
	out = append(appendU32(out, uint32(len(s.parameters))), s.parameters...)
	return append(appendU32(out, uint32(len(s.results))), s.results...)
}

func readSignature(r *reader) signature {
	if form := r.byte(); r.err == nil && form != typeFunction {
		r.failf("a type that is not of a function: %#x", form)
	}
	return signature{parameters: valueTypes(r, "parameters"), results: valueTypes(r, "results")}
}

func valueTypes(r *reader, what string) []byte {
	list := r.bytes(r.count(maxParameters, what))
	for _, t := range list {
		checkValueType(r, t)
	}
	return list
}

func valueType(r *reader) byte {
	t := r.byte()
	checkValueType(r, t)
	return t
}

func checkValueType(r *reader, t byte) {
	if _, known := valueTypeNames[t]; !known && r.err == nil {
		r.failf("an unknown type of value: %#x", t)
	}
}

func referenceType(r *reader) byte {
	t := r.byte()
	if r.err == nil && t != typeFuncRef && t != typeExternRef {
		r.failf("an unknown type of references: %#x", t)
	}
	return t
}
