package wasmbin

import (
	"reflect"
	"testing"
)

// What a loop without calls changes goes through the call of the host: what it only
// reads, what it writes before it reads it, and what other loops change does not.
func TestCarried(t *testing.T) {
	toNothing := sig([]byte{i32, i64}, none)
	for _, tt := range []struct {
		name   string
		locals []byte
		body   []byte
		want   []byte // the types of what is carried
	}{
		{"changed", []byte{f64, i32}, loop(
			get(3), i32c(1), i32Add, set(3), get(1), set(1), get(2), set(2), get(0), brIf(0)), []byte{i32, i64, f64}},
		{"written first", []byte{i32}, loop(i32c(1), set(2), get(2), brIf(0)), none},
		{"with a call", nil, loop(get(0), set(0), call(0), get(0), brIf(0)), none},
		{"with a call further in", nil, loop(get(0), set(0), loop(get(1), set(1), get(0), brIf(0)), block(call(0)), get(0), brIf(0)), []byte{i64}},
		{"behind it", []byte{i32}, b(loop(get(0), set(0), get(0), brIf(0)), get(2), set(2), call(0)), []byte{i32}},
		{"vectors", []byte{v128}, loop(get(2), set(2), get(0), brIf(0)), none},
	} {
		a := &assembly{}
		a.function("f", toNothing, tt.locals, tt.body)
		m, err := Parse(a.bytes())
		must(t, err)
		w := &meter{Module: m, Metering: Metering{Grain: Coarse}}
		w.codeSection()
		var carried []byte
		for _, types := range w.asks {
			carried = append(carried, types...)
		}
		if !reflect.DeepEqual(carried, tt.want) {
			t.Errorf("%s: % x, want % x", tt.name, carried, tt.want)
		}
	}
}
