package wire

import (
	"bytes"
	"encoding/json"
	"math"
	"math/big"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// values draws what encoding/json would decode, with numbers kept as text.
func values(depth int) *rapid.Generator[any] {
	scalars := []*rapid.Generator[any]{
		rapid.Just[any](nil),
		rapid.Bool().AsAny(),
		rapid.Int64().AsAny(),
		rapid.Int32().AsAny(),
		rapid.Float64().Filter(func(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }).AsAny(),
		rapid.String().AsAny(),
		rapid.Custom(func(t *rapid.T) any {
			x := new(big.Int).SetBytes(rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "big"))
			if rapid.Bool().Draw(t, "negative") {
				x.Neg(x)
			}
			return x
		}),
	}
	if depth > 0 {
		scalars = append(scalars,
			rapid.SliceOfN(values(depth-1), 0, 5).AsAny(),
			rapid.MapOfN(rapid.String(), values(depth-1), 0, 5).AsAny())
	}
	return rapid.OneOf(scalars...)
}

func decodeNumbers(t *rapid.T, text []byte) any {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// A round trip returns the same value, whether it went as Go values or as JSON, and
// encoding/json reads the JSON as that value.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := values(4).Draw(t, "value")
		data, err := AppendValue(nil, v)
		if err != nil {
			t.Fatal(err)
		}
		text, err := Raw(data).AppendJSON(nil, "value", 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		again, err := AppendValue(nil, json.RawMessage(text))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(data, again) {
			t.Fatalf("%s: %q by value, %q by JSON", text, data, again)
		}
		byNumber, err := AppendValue(nil, decodeNumbers(t, text))
		if err != nil || !bytes.Equal(data, byNumber) {
			t.Fatalf("%s: %q by value, %q by json.Number, %v", text, data, byNumber, err)
		}
		standard, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var got, want any
		if json.Unmarshal(text, &got) != nil || json.Unmarshal(standard, &want) != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("got %s, want %s", text, standard)
		}
		d, err := DecodeDict(append(append([]byte("{u\x01\x00\x00\x00v"), data...), '0'))
		if err != nil || !bytes.Equal(d.Get("v"), data) {
			t.Fatalf("split: %q, %v", d, err)
		}
	})
}

// CPython reads the same value from our marshal and from our JSON, and would write the same
// bytes.
func TestRoundTripPython(t *testing.T) {
	eachPython(t, func(t *testing.T, p *python) {
		rapid.Check(t, func(t *rapid.T) {
			data, err := AppendValue(nil, values(3).Draw(t, "value"))
			if err != nil {
				t.Fatal(err)
			}
			text, err := Raw(data).AppendJSON(nil, "value", 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			if answer, err := p.load(data, text); err != nil || answer != "same" {
				t.Fatalf("%s: %s %v", text, answer, err)
			}
		})
	})
}

// The JSON reader and encoding/json accept the same texts, except that encoding/json allows
// broken UTF-8.
func TestJSONGrammar(t *testing.T) {
	pieces := rapid.SampledFrom([]string{"[", "]", "{", "}", ",", ":", `"`, `"a"`, `"\n"`, `\`, `\u00e9`, "0", "1", "-", ".", "e", "5", "+",
		"true", "null", "false", " ", "\n", "é", "1.5", "-2e3"})
	rapid.Check(t, func(t *rapid.T) {
		text := []byte{} // nil would be None
		for _, piece := range rapid.SliceOfN(pieces, 0, 12).Draw(t, "pieces") {
			text = append(text, piece...)
		}
		_, err := AppendValue(nil, json.RawMessage(text))
		if json.Valid(text) != (err == nil) {
			t.Fatalf("%s: valid is %v, our error %v", text, json.Valid(text), err)
		}
	})
}
