package wire

import (
	"encoding/json"
	"fmt"
	"testing"
)

// Measures the start frame of an ordinary run, which every call pays for.
func BenchmarkTinyStart(b *testing.B) {
	context := map[string]any{"a": json.Number("41"), "name": "x"}
	raw := json.RawMessage(`{"a": 41, "name": "x"}`)
	for name, v := range map[string]any{"map": context, "raw": raw} {
		b.Run(name, func(b *testing.B) {
			var buf []byte
			var err error
			b.ReportAllocs()
			for b.Loop() {
				buf, err = AppendListFrame(buf[:0], KindStart,
					Field{"script", "result = context['a'] + 1"}, Field{"context", v}, Field{"variables", []string(nil)}, Field{"stdin", false})
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkTinyResult(b *testing.B) {
	payload, err := AppendDict(nil, Field{"status", "ok"}, Field{"cpu", 0.0012}, Field{"result", map[string]any{"a": 42, "b": []any{1.5, "x"}}})
	if err != nil {
		b.Fatal(err)
	}
	var out []byte
	b.ReportAllocs()
	for b.Loop() {
		d, err := DecodeDict(payload)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := d.Get("status").Text(); err != nil {
			b.Fatal(err)
		}
		if _, err := d.Get("cpu").Float(); err != nil {
			b.Fatal(err)
		}
		if out, err = d.Get("result").AppendJSON(out[:0], "result", testMax); err != nil {
			b.Fatal(err)
		}
	}
}

func largeJSON(item func(i int) string) json.RawMessage {
	text := []byte{'['}
	for i := 0; len(text) < 10<<20; i++ {
		text = append(append(text, item(i)...), ',')
	}
	text[len(text)-1] = ']'
	return text
}

// Measures 10 MB of JSON, each way; MB/s are of the JSON text.
func BenchmarkLarge(b *testing.B) {
	items := map[string]func(i int) string{
		"ints":    func(i int) string { return fmt.Sprint(i * 7919 % 1_000_000_007) },
		"strings": func(i int) string { return fmt.Sprintf(`"item number %d, é"`, i) },
		"floats":  func(i int) string { return fmt.Sprint(float64(i)*1.1 + 0.5) },
	}
	for _, name := range []string{"ints", "strings", "floats"} {
		text := largeJSON(items[name])
		data, err := AppendValue(nil, text)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name+"/encode", func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			var buf []byte
			for b.Loop() {
				if buf, err = AppendValue(buf[:0], text); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/split", func(b *testing.B) {
			payload := inField(string(data))
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if _, err := DecodeDict(payload); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/decode", func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			var buf []byte
			for b.Loop() {
				if buf, err = Raw(data).AppendJSON(buf[:0], "result", 64<<20); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
