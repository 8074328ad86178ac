package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"
	"time"
)

// The bytes for JSON text are those of CPython, with the marked exceptions.
func TestAppendValueRawMessageAsPython(t *testing.T) {
	texts := []string{
		`null`, ` true `, "\tfalse\r\n", `0`, `-0`, `1`, `-1`, `2147483647`, `2147483648`, `-2147483648`, `-2147483649`,
		`32767`, `999999999999999999`, `1000000000000000000`, `9223372036854775807`, `9223372036854775808`, `-9223372036854775809`,
		`1073741824`, `18446744073709551616`, `-` + strings.Repeat("9", 5000), strings.Repeat("7", 65000),
		`0.0`, `-0.0`, `1.0`, `1e5`, `1E+5`, `1.5e-7`, `5e-324`, `1e-400`, `1.7976931348623157e308`, `0.1`, `123456789.123456789`,
		`""`, `"abc"`, `"\"\\\/\b\f\n\r\t\u0000\u001f\u00e9\u20ac\ud83d\ude00"`, `"é€😀 "`,
		`"\ud800"`, `"\udc00x"`, `"\ud800\ud800\udc00"`, `"\ud800A"`, `"\uD83D\uDE00"`,
		`[]`, `[ ]`, `{}`, `{ }`, `[1,[2,[3]],{"a":[{}]}]`, ` [ 1 , 2 ] `, `{ "a" : 1 , "b" : { "c" : null } }`,
		strings.Repeat("[", 500) + strings.Repeat("]", 500),
		`[` + strings.Repeat(`{"k":[1,2.5,"x"]},`, 2000) + `null]`,
	}
	eachPython(t, func(t *testing.T, p *python) {
		for _, text := range texts {
			data, err := AppendValue(nil, json.RawMessage(text))
			if err != nil {
				t.Errorf("%.100s: %v", text, err)
				continue
			}
			if answer, err := p.load(data, []byte(text)); err != nil || answer != "same" {
				t.Errorf("%.100s: %s %v", text, answer, err)
			}
		}
		text := `{"a":1,"b":2,"a":3}`
		data, err := AppendValue(nil, json.RawMessage(text))
		if err != nil {
			t.Fatal(err)
		}
		if answer, err := p.load(data, []byte(text)); err != nil || answer != "equal" {
			t.Errorf("equal keys: %s %v", answer, err)
		}
	})
}

type point struct {
	X int               `json:"x"`
	Y *float64          `json:"y"`
	T map[string]string `json:"t,omitempty"`
}

func TestAppendValueAsPython(t *testing.T) {
	huge, _ := new(big.Int).SetString("-123456789012345678901234567890", 10)
	tests := []struct {
		v    any
		want string // repr
	}{
		{nil, "None"}, {true, "True"}, {false, "False"},
		{int8(-8), "-8"}, {int16(-16), "-16"}, {int32(-32), "-32"}, {int64(math.MinInt64), "-9223372036854775808"}, {-1, "-1"},
		{uint8(8), "8"}, {uint16(16), "16"}, {uint32(math.MaxUint32), "4294967295"}, {uint64(math.MaxUint64), "18446744073709551615"}, {uint(7), "7"}, {uintptr(9), "9"},
		{float32(0.1), "0.1"}, {0.1, "0.1"}, {1.0, "1.0"}, {math.Copysign(0, -1), "-0.0"},
		{json.Number("12345678901234567890123"), "12345678901234567890123"}, {json.Number("1.0"), "1.0"}, {json.Number("1e2"), "100.0"}, {json.Number("-7"), "-7"},
		{huge, huge.String()}, {(*big.Int)(nil), "None"}, {big.NewInt(5), "5"},
		{"h\u00e9\x00", `'hé\x00'`}, {[]byte("a\xff"), `b'a\xff'`}, {[]byte(nil), "b''"},
		{json.RawMessage(nil), "None"}, {json.RawMessage(`[1]`), "[1]"},
		{map[string]any{"b": 1, "a": []any{nil, "x", 1.5}}, "{'a': [None, 'x', 1.5], 'b': 1}"}, {map[string]any(nil), "{}"},
		{map[string]string{"z": "1", "y": ""}, "{'y': '', 'z': '1'}"}, {[]string{"a", ""}, "['a', '']"}, {[]string(nil), "[]"}, {[]any(nil), "[]"}, {[]any{[]string(nil)}, "[[]]"},
		{point{X: 3, T: map[string]string{"<": "&"}}, "{'x': 3, 'y': None, 't': {'<': '&'}}"}, {&point{}, "{'x': 0, 'y': None}"}, {(*point)(nil), "None"},
		{[]int{1, 2}, "[1, 2]"}, {map[int]bool{1: true}, "{'1': True}"}, {2 * time.Second, "2000000000"}, {[]map[string]any{{"a": 1}}, "[{'a': 1}]"},
	}
	eachPython(t, func(t *testing.T, p *python) {
		for _, tt := range tests {
			data, err := AppendValue(nil, tt.v)
			if err != nil {
				t.Errorf("%#v: %v", tt.v, err)
			} else if got := p.repr(t, data); got != tt.want {
				t.Errorf("%#v: got %s, want %s", tt.v, got, tt.want)
			}
		}
		data, err := AppendDict(nil, Field{"script", "x"}, Field{"b", nil}, Field{"a", []string{"v"}})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := p.repr(t, data), "{'script': 'x', 'b': None, 'a': ['v']}"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

func nested(n int) any {
	var v any
	for range n {
		v = []any{v}
	}
	return v
}

func TestAppendDictErrors(t *testing.T) {
	cycle := map[string]any{}
	cycle["me"] = cycle
	deep := "context" + strings.Repeat("[0]", 8) + "…" + strings.Repeat("[0]", 8)
	tests := []struct {
		name  string
		v     any
		class error
		want  string
	}{
		{"nan", map[string]any{"a": []any{0, 1, 2, map[string]any{"b": math.NaN()}}}, ErrValue, "context.a[3].b is NaN, which is not a JSON value"},
		{"inf", math.Inf(-1), ErrValue, "context is -Inf, which is not a JSON value"},
		{"float32", []any{float32(math.Inf(1))}, ErrValue, "context[0] is +Inf, which is not a JSON value"},
		{"odd key", map[string]any{"a b": map[string]any{"": math.NaN()}}, ErrValue, `context["a b"][""] is NaN, which is not a JSON value`},
		{"range", json.Number("1e999"), ErrValue, "context is 1e999, which is out of the range of a float"},
		{"number", json.Number("0x1"), ErrValue, `context is "0x1", which is not a number`},
		{"no number", json.Number(""), ErrValue, `context is "", which is not a number`},
		{"digits", json.Number(strings.Repeat("9", 65541)), ErrTooLarge, "context is an int of more than 65536 digits"},
		{"big", new(big.Int).Lsh(big.NewInt(1), 1<<18), ErrTooLarge, "context is an int of more than 65536 digits"},
		{"utf8", []string{"", "\xff"}, ErrValue, "context[1] is a string that is not valid UTF-8"},
		{"utf8 key", map[string]string{"\xff": ""}, ErrValue, `context["\xff"] is a string that is not valid UTF-8`},
		{"type", []any{make(chan int)}, ErrValue, "context[0] (Go type chan int) cannot be turned into JSON: json: unsupported type: chan int"},
		{"deep", nested(501), ErrTooDeep, deep + " is nested more than 500 deep"},
		{"deep JSON", json.RawMessage(strings.Repeat("[", 100000)), ErrTooDeep, deep + " is nested more than 500 deep"},
		{"cycle", cycle, ErrTooDeep, "context" + strings.Repeat(".me", 8) + "…" + strings.Repeat(".me", 8) + " is nested more than 500 deep"},
		{"string", []any{strings.Repeat("x", MaxValue+1)}, ErrTooLarge, fmt.Sprintf("context[0] exceeds the maximum of %d bytes", MaxValue)},
		{"bytes", []any{make([]byte, MaxValue+1)}, ErrTooLarge, fmt.Sprintf("context[0] exceeds the maximum of %d bytes", MaxValue)},
		{"list", make([]any, MaxValue+1), ErrTooLarge, fmt.Sprintf("context exceeds the maximum of %d bytes", MaxValue)},
		{"JSON", json.RawMessage(`{"a":[1,{"b":1e999}]}`), ErrValue, "context.a[1].b is 1e999, which is out of the range of a float"},
		{"JSON syntax", json.RawMessage(`{"a":[1,{"b":]}`), ErrMalformed, "context.a[1].b is not valid JSON at byte 13: a value is expected"},
	}
	for _, tt := range tests {
		dst := []byte("before")
		got, err := AppendDict(dst, Field{"script", ""}, Field{"context", tt.v})
		if err == nil || err.Error() != tt.want || !errors.Is(err, tt.class) {
			t.Errorf("%s: got %v\nwant %s", tt.name, err, tt.want)
		}
		if string(got) != "before" {
			t.Errorf("%s: dst is %.20q after an error", tt.name, got)
		}
	}
	if _, err := AppendValue(nil, nested(500)); err != nil {
		t.Error(err)
	}
	if _, err := AppendValue(nil, []any{math.NaN()}); err == nil || !strings.HasPrefix(err.Error(), "value[0] is") {
		t.Error(err)
	}
}

// The hand-written JSON reader refuses what encoding/json refuses.
func TestBadJSON(t *testing.T) {
	texts := []string{
		``, ` `, `nul`, `nulll`, `True`, `tru`, `01`, `-`, `-a`, `+1`, `.5`, `1.`, `1.e1`, `1e`, `1e+`, `0x1`, `NaN`, `Infinity`, `-Infinity`, `1 2`,
		`"`, `"a`, `"\`, `"\x"`, `"\u12"`, `"\u12g4"`, "\"\x01\"", "\"\n\"", "\"\xff\"", "\"\xed\xa0\x80\"", "\"\\n\xc3\"", `'a'`,
		`[`, `[1`, `[1,`, `[1,]`, `[,1]`, `[1 2]`, `]`, `[}`, `{`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":1,}`, `{a:1}`, `{1:1}`, `{"a" 1}`, `{"a":1 "b":2}`, `{]`,
		`[]]`, `{}x`, "1\x00", "\x00", "\ufeff1", `// c`,
	}
	for _, text := range texts {
		data, err := AppendValue([]byte("x"), json.RawMessage(text))
		if !errors.Is(err, ErrMalformed) || string(data) != "x" {
			t.Errorf("%q: got %q, %v", text, data, err)
		}
	}
}
