package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cordon-sandbox/cordon/run"
)

const testMax = 1 << 20

// Our JSON equals, byte for byte, what json.dumps writes for the same value.
func TestAppendJSONAsPython(t *testing.T) {
	exprs := []string{
		"None", "True", "False", "0", "1", "-1", "2**31-1", "2**31", "-2**31", "-2**31-1",
		"2**45", "2**60-1", "2**60", "-2**60", "2**63-1", "-2**63", "2**64", "10**30", "-10**100", "10**4400", "7**20000",
		"0.0", "-0.0", "1.0", "1.5", "-2.25", "0.1", "1/3", "1e15", "1e16", "9999999999999998.0", "1e17", "1e22", "123456789012345680.0",
		"1e-4", "0.00012345", "1e-5", "9.999999999999999e-05", "5e-324", "1.7976931348623157e308", "2.2250738585072014e-308", "1e100", "1e-100",
		"''", "'abc'", `'"\\/\b\f\n\r\t\x00\x01\x1f\x7f'`, `'h\xe9llo \u2028\u2029 \u20ac \U0001f600'`, "'x' * 100000", `'\n' * 5000`,
		"[]", "()", "{}", "[1, 'a', None, [2.5, (3, 4)]]", "(1,)", "[[], (), {}]",
		"{'a': 1, 'b': [1, 2, {'c': None}]}", "{1: 'a', 2.5: 'b', True: 'c', None: 'd', '': 'e', 2**70: 'f', False: 'g', 1e16: 'h', -3: 'i'}",
		"{1: 'a', '1': 'b'}", "list(range(-1000, 1000))", "[i * 1.1 for i in range(1000)]", "{str(i): i for i in range(500)}",
		"nest(500)", "[b''.decode()] * 300",
	}
	eachPython(t, func(t *testing.T, p *python) {
		for _, expr := range exprs {
			data, want := p.dump(t, expr)
			got, err := Raw(data).AppendJSON(nil, "result", testMax)
			if err != nil {
				t.Errorf("%s: %v", expr, err)
			} else if !bytes.Equal(got, want) {
				t.Errorf("%s: got %.200s, want %.200s", expr, got, want)
			}
		}
	})
}

// Values that Python has and JSON does not are named as in Python.
func TestAppendJSONRefuses(t *testing.T) {
	const advice = ", which is not a JSON value (convert it: str, int, float, bool, None, list, tuple, dict)"
	const keyAdvice = ", which is not a JSON value (use keys of these types: str, int, float, bool, None)"
	tests := []struct {
		expr  string
		class error
		want  string
	}{
		{"{'a': [0, 1, 2, b'x']}", ErrValue, "result['a'][3] is a bytes object" + advice},
		{"bytearray(b'x')", ErrValue, "result is a bytes object" + advice},
		{"{1, 2}", ErrValue, "result is a set object" + advice},
		{"[frozenset()]", ErrValue, "result[0] is a frozenset object" + advice},
		{"{'it\\'s': {7: 1j}}", ErrValue, `result['it\'s'][7] is a complex object` + advice},
		{"{None: ...}", ErrValue, "result[None] is an ellipsis object" + advice},
		{"{1.5: StopIteration}", ErrValue, "result[1.5] is a StopIteration object" + advice},
		{"[{(1, 2): 3}]", ErrValue, "result[0] has a tuple object as a key" + keyAdvice},
		{"{b'k': 3}", ErrValue, "result has a bytes object as a key" + keyAdvice},
		{"(0, compile('1', 'f', 'eval'))", ErrValue, "result[1] is a code object" + advice},
		{"[float('nan')]", ErrValue, "result[0] is the float nan, which is not a JSON value"},
		{"[float('inf')]", ErrValue, "result[0] is the float inf, which is not a JSON value"},
		{"-float('inf')", ErrValue, "result is the float -inf, which is not a JSON value"},
		{"{float('nan'): 1}", ErrValue, "result has a key that is the float nan, which is not a JSON value"},
		{"[10**70000]", ErrTooLarge, "result[0] is an int of more than 65536 digits"},
		{"nest(501)", ErrTooDeep, "result" + strings.Repeat("[0]", 8) + "…" + strings.Repeat("[0]", 8) + " is nested more than 500 deep"},
		{"['x' * 2000000]", ErrTooLarge, "result[0] exceeds the maximum of 1048576 bytes of JSON"},
		{"{'\\x1b[31m\\u202e': {1}}", ErrValue, `result['\x1b[31m\u202e'] is a set object` + advice},
		{"{'k' * 100: {1}}", ErrValue, "result['" + strings.Repeat("k", 48) + "…'] is a set object" + advice},
	}
	eachPython(t, func(t *testing.T, p *python) {
		for _, tt := range tests {
			data, _ := p.dump(t, tt.expr)
			dst := []byte("before")
			got, err := Raw(data).AppendJSON(dst, "result", testMax)
			if err == nil || err.Error() != tt.want || !errors.Is(err, tt.class) {
				t.Errorf("%s: got error %v\nwant %s", tt.expr, err, tt.want)
			}
			if string(got) != "before" {
				t.Errorf("%s: dst is %q after an error", tt.expr, got)
			}
		}
	})
}

func TestTypeErrorFields(t *testing.T) {
	data := []byte("{u\x01\x00\x00\x00a[\x01\x00\x00\x00s\x00\x00\x00\x000")
	_, err := Raw(data).AppendJSON(nil, "result", testMax)
	var got *TypeError
	if !errors.As(err, &got) {
		t.Fatalf("got %v", err)
	}
	if diff := cmp.Diff(&TypeError{Type: "bytes", Where: "result['a'][0]"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestSurrogates(t *testing.T) {
	tests := []struct{ expr, json, text string }{
		{`'\ud800'`, `"\ud800"`, `\ud800`},
		{`'a\udc80\n\u20ac\udfffz'`, `"a\udc80\n€\udfffz"`, "a\\udc80\n€\\udfffz"},
		{`'\ud83d\ude00'`, `"\ud83d\ude00"`, `\ud83d\ude00`},
	}
	eachPython(t, func(t *testing.T, p *python) {
		for _, tt := range tests {
			data, _ := p.dump(t, tt.expr)
			got, err := Raw(data).AppendJSON(nil, "result", testMax)
			if err != nil || string(got) != tt.json {
				t.Errorf("%s: got %s, %v; want %s", tt.expr, got, err, tt.json)
			}
			text, err := Raw(data).Text()
			if err != nil || text != tt.text {
				t.Errorf("%s: text is %q, %v; want %q", tt.expr, text, err, tt.text)
			}
		}
	})
}

func TestDecodeDictAndReaders(t *testing.T) {
	eachPython(t, func(t *testing.T, p *python) {
		data, _ := p.dump(t, `{'s': 'h\xe9', 'i': -5, 'l': 2**40, 'big': 2**63, 'f': 1.5, 't': True, 'n': None, 'b': b'\x00\xff', 'list': ['a', 'b'], 'map': {'k': 'v'}, 'nan': float('nan'), 'mixed': {'k': 1}}`)
		d, err := DecodeDict(data)
		if err != nil {
			t.Fatal(err)
		}
		expect := func(name string, got any, err error, want any) {
			t.Helper()
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("%s: %v %s", name, err, diff)
			}
		}
		s, err := d.Get("s").Text()
		expect("s", s, err, "hé")
		i, err := d.Get("i").Int()
		expect("i", i, err, int64(-5))
		l, err := d.Get("l").Int()
		expect("l", l, err, int64(1)<<40)
		f, err := d.Get("f").Float()
		expect("f", f, err, 1.5)
		f, err = d.Get("i").Float()
		expect("i as float", f, err, -5.0)
		b, err := d.Get("t").Bool()
		expect("t", b, err, true)
		expect("n", d.Get("n").IsNone(), nil, true)
		expect("missing", d.Get("x").IsNone(), nil, false)
		raw, err := d.Get("b").Bytes()
		expect("b", raw, err, []byte{0, 255})
		list, err := d.Get("list").TextList()
		expect("list", list, err, []string{"a", "b"})
		m, err := d.Get("map").TextMap()
		expect("map", m, err, map[string]string{"k": "v"})

		refuse := func(name string, err error, want string) {
			t.Helper()
			if !errors.Is(err, ErrMalformed) || err.Error() != want {
				t.Errorf("%s: got %v, want %s", name, err, want)
			}
		}
		_, err = d.Get("x").Text()
		refuse("missing", err, "is missing (str is expected)")
		_, err = d.Get("i").Text()
		refuse("int as str", err, "is of type int (str is expected)")
		_, err = d.Get("big").Int()
		refuse("big", err, "is an int of more than 64 bits")
		_, err = d.Get("nan").Float()
		refuse("nan", err, "is NaN (a finite float is expected)")
		_, err = d.Get("mixed").TextMap()
		refuse("mixed", err, "['k'] is of type int (str is expected)")
	})
}

// A code object cannot be skipped, but the fields before it are kept; and a value too
// deep for JSON does not hide the fields after it.
func TestDecodeDictKeepsFields(t *testing.T) {
	eachPython(t, func(t *testing.T, p *python) {
		data, _ := p.dump(t, "{'ok': 1, 'result': {'f': [compile('1', 'f', 'eval')]}, 'after': 2}")
		d, err := DecodeDict(data)
		want := "result['f'][0] is a code object"
		if err == nil || !strings.HasPrefix(err.Error(), want) || len(d) != 1 || d.Get("ok") == nil {
			t.Errorf("got %v, %v", d, err)
		}
		data, _ = p.dump(t, "{'result': nest(1500), 'after': 2}")
		d, err = DecodeDict(data)
		if err != nil || len(d) != 2 {
			t.Fatalf("got %v, %v", d, err)
		}
		if _, err = d.Get("result").AppendJSON(nil, "result", testMax); !errors.Is(err, ErrTooDeep) {
			t.Errorf("got %v", err)
		}
	})
}

func TestAppendJSONMax(t *testing.T) {
	data, err := AppendValue(nil, []any{"\x00\x00\x00", 12, 1.5, map[string]any{"k": nil}})
	if err != nil {
		t.Fatal(err)
	}
	want := `["\u0000\u0000\u0000",12,1.5,{"k":null}]`
	for max := -1; max < len(want); max++ {
		got, err := Raw(data).AppendJSON([]byte("x"), "result", max)
		if !errors.Is(err, ErrTooLarge) || string(got) != "x" {
			t.Errorf("max %d: got %s, %v", max, got, err)
		}
	}
	for _, max := range []int{len(want), math.MaxInt} {
		got, err := Raw(data).AppendJSON([]byte("x"), "result", max)
		if err != nil || string(got) != "x"+want {
			t.Errorf("max %d: got %s, %v", max, got, err)
		}
	}
	if !json.Valid([]byte(want)) || run.MaxDepth != 500 {
		t.Error("the test's own numbers are wrong")
	}
}
