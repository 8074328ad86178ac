package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"testing"
	"testing/iotest"
)

func FuzzDecode(f *testing.F) {
	for _, value := range hostile {
		if len(value) < 1000 {
			f.Add([]byte(value))
			f.Add(inField(value))
		}
	}
	for _, text := range []string{`null`, `[1,2.5,"x",{"a":[true,false]}]`, `{"k":12345678901234567890,"\ud800":"\u0000"}`, `-1e16`} {
		data, err := AppendValue(nil, json.RawMessage(text))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
		f.Add(inField(string(data)))
	}
	f.Add([]byte("{N(\x01\x00\x00\x00TTi\x01\x00\x00\x00gAAAAAAAAl\x02\x00\x00\x00\x00\x00\x01\x000"))
	f.Add([]byte("u\x06\x00\x00\x00\xed\xa0\xbd\xed\xb8\x80"))
	f.Fuzz(func(t *testing.T, data []byte) {
		checkJSON(t, data)
		readAll(data)
		d, err := DecodeDict(data)
		if err != nil && !isKnownError(err) {
			t.Fatalf("unclassed error %v", err)
		}
		for _, entry := range d {
			checkJSON(t, entry.Value)
			readAll(entry.Value)
		}
	})
}

func isKnownError(err error) bool {
	return errors.Is(err, ErrMalformed) || errors.Is(err, ErrTooLarge) || errors.Is(err, ErrTooDeep) || errors.Is(err, ErrValue)
}

// checkJSON checks what AppendJSON promises: valid JSON within the maximum that survives a
// round trip through marshal.
func checkJSON(t *testing.T, raw Raw) {
	const max = 1 << 16
	text, err := raw.AppendJSON(nil, "result", max)
	if err != nil {
		if !isKnownError(err) {
			t.Fatalf("unclassed error %v", err)
		}
		return
	}
	if len(text) > max || !json.Valid(text) {
		t.Fatalf("bad JSON of %d bytes: %.200s", len(text), text)
	}
	// Keys become strings, and joined surrogates one character: the first trip may change
	// the text, a second must not.
	second := trip(t, text)
	if third := trip(t, second); !bytes.Equal(second, third) {
		t.Fatalf("%s became %s", second, third)
	}
}

func trip(t *testing.T, text []byte) []byte {
	data, err := AppendValue(nil, json.RawMessage(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	out, err := Raw(data).AppendJSON(nil, "result", 1<<20)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return out
}

func FuzzFrame(f *testing.F) {
	f.Add(AppendFrame(AppendFrame(nil, KindReady, []byte("{0")), KindDone, []byte("payload")), 100, 0)
	f.Add([]byte("D\x00\x00\x94\x03abc"), 1<<26, 4)
	f.Add([]byte("D\xff\xff\xff\xff"), 1<<31-1, 64)
	f.Add([]byte("X\x00\x00\x00\x00"), -1, 5)
	f.Fuzz(func(t *testing.T, stream []byte, max, size int) {
		buf := make([]byte, min(uint(size), 1<<10))
		whole, pieces := bytes.NewReader(stream), iotest.HalfReader(bytes.NewReader(stream))
		for {
			kind, payload, err := ReadFrame(whole, buf, max)
			kind2, payload2, err2 := ReadFrame(pieces, nil, max)
			if kind != kind2 || !bytes.Equal(payload, payload2) || (err == nil) != (err2 == nil) {
				t.Fatalf("%c %q %v, in pieces %c %q %v", kind, payload, err, kind2, payload2, err2)
			}
			if err != nil {
				if !isKnownError(err) && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
					t.Fatalf("unclassed error %v", err)
				}
				return
			}
			if len(payload) > max {
				t.Fatalf("%d bytes, maximum %d", len(payload), max)
			}
			if frame := AppendFrame(nil, kind, payload); !bytes.HasPrefix(stream, frame) {
				t.Fatalf("read %q from %q", frame, stream)
			} else {
				stream = stream[len(frame):]
			}
		}
	})
}
