package wire

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math/big"
	"runtime"
	"strings"
	"testing"
	"time"
)

func le32(n uint32) string { return string(binary.LittleEndian.AppendUint32(nil, n)) }

func inField(value string) []byte { return []byte("{u\x01\x00\x00\x00r" + value + "0") }

// hostile are messages that no honest worker writes.
var hostile = map[string]string{
	"empty":                "",
	"list of 2^31-1":       "[" + le32(1<<31-1),
	"tuple of 2^31-1":      "(" + le32(1<<31-1) + "NNN",
	"set of -1":            "<" + le32(1<<32-1),
	"list of -2^31":        "[" + le32(1<<31) + "NNNN",
	"str of 2^31-1":        "u" + le32(1<<31-1) + "abc",
	"str of -1":            "u" + le32(1<<32-1) + "abc",
	"bytes of 2^30":        "s" + le32(1<<30) + "abc",
	"long of 2^31-1":       "l" + le32(1<<31-1) + "ab",
	"long of -2^31":        "l" + le32(1<<31) + "ab",
	"long of 0":            "l" + le32(0),
	"long, leading 0":      "l" + le32(2) + "\x01\x00\x00\x00",
	"long, wide digit":     "l" + le32(1) + "\x00\x80",
	"dict without end":     "{NN",
	"dict, key alone":      "{N0",
	"end alone":            "0",
	"ref":                  "r" + le32(0),
	"flagged None":         "\xce",
	"flagged list":         "\xdb" + le32(1) + "r" + le32(0),
	"interned":             "t" + le32(1) + "a",
	"ascii":                "a" + le32(1) + "a",
	"short ascii":          "z\x01a",
	"short interned":       "Z\x01a",
	"small tuple":          ")\x01N",
	"text float":           "f\x031.5",
	"text complex":         "x\x011\x011",
	"int64":                "I\x00\x00\x00\x00\x00\x00\x00\x00",
	"slice":                ":NNN",
	"unknown":              "?",
	"bad UTF-8":            "u" + le32(1) + "\xff",
	"overlong UTF-8":       "u" + le32(2) + "\xc0\x80",
	"cut surrogate":        "u" + le32(2) + "\xed\xa0",
	"above U+10FFFF":       "u" + le32(4) + "\xf4\x90\x80\x80",
	"surrogate, then bad":  "u" + le32(4) + "\xed\xa0\x80\xff",
	"trailing":             "NN",
	"lists 100k deep":      strings.Repeat("["+le32(1), 100_000) + "N",
	"open lists 100k deep": strings.Repeat("["+le32(1), 100_000),
	"dicts 100k deep":      strings.Repeat("{N", 100_000),
	"keys 100k deep":       strings.Repeat("{", 100_000),
	"tuples 2001 deep":     strings.Repeat("("+le32(1), 2001) + "N",
}

func TestHostile(t *testing.T) {
	for name, value := range hostile {
		// A type that JSON lacks is refused by name, without reading its body.
		if _, err := Raw(value).AppendJSON(nil, "result", testMax); !errors.Is(err, ErrMalformed) && !errors.Is(err, ErrTooDeep) && !errors.Is(err, ErrValue) {
			t.Errorf("%s: got %v", name, err)
		}
		// Inside a message, splitting or reading finds it.
		d, err := DecodeDict(inField(value))
		if err == nil {
			_, err = d.Get("r").AppendJSON(nil, "result", testMax)
		}
		if !errors.Is(err, ErrMalformed) && !errors.Is(err, ErrTooDeep) {
			t.Errorf("%s in a field: got %v", name, err)
		}
		readAll(Raw(value))
	}
	for _, payload := range []string{"", "N", "[" + le32(0), "{", "{}", "{N", "{i\x00\x00\x00\x00N0", "{0N", string(inField("N")) + "0",
		"{u\x01\x00\x00\x00aNu\x01\x00\x00\x00aN0"} {
		if _, err := DecodeDict([]byte(payload)); !errors.Is(err, ErrMalformed) {
			t.Errorf("%q: got %v", payload, err)
		}
	}
}

// readAll calls every reader: none may panic on bytes that were never split.
func readAll(r Raw) {
	_, _ = r.Text()
	_, _ = r.Int()
	_, _ = r.Float()
	_, _ = r.Bool()
	_, _ = r.Bytes()
	_, _ = r.Dict()
	_, _ = r.List()
	_, _ = r.TextList()
	_, _ = r.TextMap()
	_ = r.IsNone()
	_ = r.Type()
}

// Every prefix of a valid message is an error, never a shorter message.
func TestEveryPrefix(t *testing.T) {
	huge := new(big.Int).Exp(big.NewInt(7), big.NewInt(300), nil)
	data, err := AppendDict(nil, Field{"n", nil}, Field{"b", true}, Field{"i", 1}, Field{"l", int64(1) << 40}, Field{"h", huge},
		Field{"f", 1.5}, Field{"s", "h\u00e9llo"}, Field{"y", []byte("bytes")},
		Field{"v", map[string]any{"a": []any{1, "x", map[string]any{"b": nil}}, "": []any{}}})
	if err != nil {
		t.Fatal(err)
	}
	data = append(data[:len(data)-1], "u\x01\x00\x00\x00z<\x02\x00\x00\x00.S"+"u\x01\x00\x00\x00cy0123456789abcdef"+"0"...)
	if _, err := DecodeDict(data); err != nil {
		t.Fatal(err)
	}
	for n := range len(data) {
		if d, err := DecodeDict(data[:n:n]); !errors.Is(err, ErrMalformed) {
			t.Errorf("%d bytes: got %v, %v", n, d, err)
		}
		if _, err := Raw(data[:n:n]).AppendJSON(nil, "result", testMax); err == nil {
			t.Errorf("%d bytes: no error from AppendJSON", n)
		}
		readAll(data[:n:n])
	}
	// With any one byte wrong, there is no panic.
	for i := range data {
		for _, x := range []byte{0, 1, 0x7f, 0x80, 0xff, '{', '[', 'l', 'u', 'c'} {
			bad := bytes.Clone(data)
			bad[i] = x
			d, _ := DecodeDict(bad)
			for _, entry := range d {
				_, _ = entry.Value.AppendJSON(nil, entry.Name, testMax)
				readAll(entry.Value)
			}
		}
	}
}

// Memory depends on what was sent, not on what it claims. The claims are of gigabytes; the
// bound has room for the path to the deepest allowed value, which is twice as large under
// the race detector.
func TestHostileMemory(t *testing.T) {
	var before, after runtime.MemStats
	for name, value := range hostile {
		field, raw := inField(value), Raw(value)
		runtime.ReadMemStats(&before)
		_, _ = DecodeDict(field)
		_, _ = raw.AppendJSON(nil, "result", 64<<20)
		_, _ = raw.List()
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > uint64(4*len(value)+1<<20) {
			t.Errorf("%s: %d bytes allocated", name, got)
		}
	}
}

func TestTooManyItems(t *testing.T) {
	var dict []byte
	dict = append(dict, '{')
	for i := range maxItems + 1 {
		dict = append(dict, "u\x04\x00\x00\x00"...)
		dict = append(dict, byte('a'+i%26), byte('a'+i/26%26), byte('a'+i/676%26), 'x', 'N')
	}
	dict = append(dict, '0')
	if _, err := DecodeDict(dict); !errors.Is(err, ErrTooLarge) {
		t.Errorf("got %v", err)
	}
	if text, err := Raw(dict).AppendJSON(nil, "result", testMax); err != nil || !json.Valid(text) {
		t.Errorf("got %v", err)
	}
	list, _ := AppendValue(nil, make([]any, maxItems+1))
	if _, err := Raw(list).List(); !errors.Is(err, ErrTooLarge) {
		t.Errorf("got %v", err)
	}
	// Equal names are found among few and among many fields.
	few, _ := AppendDict(nil, Field{"a", 1}, Field{"b", 2}, Field{"a", 3})
	var fields []Field
	for i := range 40 {
		fields = append(fields, Field{string(rune('A' + i)), i})
	}
	many, _ := AppendDict(nil, append(fields, Field{"C", 1})...)
	for _, data := range [][]byte{few, many} {
		if _, err := DecodeDict(data); !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), "twice") {
			t.Errorf("got %v", err)
		}
	}
}

// The slowest int is slow for its size, so a frame full of them is refused.
func TestLongestInt(t *testing.T) {
	longest := "l" + le32(maxLongDigits) + strings.Repeat("\xff\x7f", maxLongDigits)
	start := time.Now()
	const times = 20
	for range times {
		text, err := Raw(longest).AppendJSON(nil, "result", testMax)
		if err != nil || len(text) < 65536 {
			t.Fatalf("%d digits, %v", len(text), err)
		}
	}
	t.Logf("%v for an int of %d bytes", time.Since(start)/times, len(longest))
	const many = 100
	list := Raw("[" + le32(many) + strings.Repeat(longest, many))
	_, err := list.AppendJSON(nil, "result", 64<<20)
	if want := "result[64] is one long int too many"; !errors.Is(err, ErrTooLarge) || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	text := json.RawMessage("[" + strings.Repeat(strings.Repeat("9", 65000)+",", many) + "0]")
	if _, err := AppendValue(nil, text); !errors.Is(err, ErrTooLarge) {
		t.Errorf("got %v", err)
	}
	longer := "l" + le32(maxLongDigits+1) + strings.Repeat("\xff\x7f", maxLongDigits+1)
	if _, err := Raw(longer).AppendJSON(nil, "result", testMax); !errors.Is(err, ErrTooLarge) {
		t.Errorf("got %v", err)
	}
}
