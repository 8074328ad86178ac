package wasmbin

import (
	"reflect"
	"testing"
)

// TestCarriedLocals checks which locals a loop without calls passes through the call to the
// host: those that it changes, but not those that it only reads or writes before it reads
// them, nor those that only other loops change.
func TestCarriedLocals(t *testing.T) {
	noResults := sig([]byte{i32, i64}, nil)
	for _, tt := range []struct {
		name   string
		locals []byte
		body   []byte
		want   []byte // the types of the carried locals
	}{
		{"changed", []byte{f64, i32}, loop(
			get(3), i32c(1), i32Add, set(3), get(1), set(1), get(2), set(2), get(0), brIf(0)), []byte{i32, i64, f64}},
		{"written first", []byte{i32}, loop(i32c(1), set(2), get(2), brIf(0)), nil},
		{"call", nil, loop(get(0), set(0), call(0), get(0), brIf(0)), nil},
		{"call in a nested block", nil, loop(get(0), set(0), loop(get(1), set(1), get(0), brIf(0)), block(call(0)), get(0), brIf(0)), []byte{i64}},
		{"call after the loop", []byte{i32}, b(loop(get(0), set(0), get(0), brIf(0)), get(2), set(2), call(0)), []byte{i32}},
		{"vectors", []byte{v128}, loop(get(2), set(2), get(0), brIf(0)), nil},
	} {
		a := &assembler{}
		a.function("f", noResults, tt.locals, tt.body)
		m, err := Parse(a.bytes())
		requireNoError(t, err)
		rewriter := &meter{Module: m, Metering: Metering{Grain: Coarse}}
		rewriter.codeSection()
		var carried []byte
		for _, types := range rewriter.asks {
			carried = append(carried, types...)
		}
		if !reflect.DeepEqual(carried, tt.want) {
			t.Errorf("%s: carried types % x, want % x", tt.name, carried, tt.want)
		}
	}
}
