package wire

import (
	"bytes"
	"errors"
	"io"
	"net"
	"runtime"
	"testing"
	"testing/iotest"
)

func TestFrameTranscript(t *testing.T) {
	frame, err := AppendListFrame([]byte("x"), KindStart, Field{"a", 1})
	if err != nil {
		t.Fatal(err)
	}
	want := "xS\x0a\x00\x00\x00[\x01\x00\x00\x00i\x01\x00\x00\x00"
	if string(frame) != want {
		t.Errorf("got %q, want %q", frame, want)
	}
	if same := AppendFrame([]byte("x"), KindStart, frame[6:]); string(same) != want {
		t.Errorf("got %q, want %q", same, want)
	}
}

func TestReadFrame(t *testing.T) {
	large := bytes.Repeat([]byte("0123456789"), 50_000)
	var stream []byte
	stream = AppendFrame(stream, KindReady, nil)
	stream = AppendFrame(stream, KindDone, large)
	stream = AppendFrame(stream, KindStart, []byte("end"))
	readers := map[string]io.Reader{
		"whole":    bytes.NewReader(stream),
		"one byte": iotest.OneByteReader(bytes.NewReader(stream)),
		"data+EOF": iotest.DataErrReader(bytes.NewReader(stream)),
	}
	for name, r := range readers {
		for i, want := range []struct {
			kind    byte
			payload []byte
		}{{KindReady, nil}, {KindDone, large}, {KindStart, []byte("end")}} {
			kind, payload, err := ReadFrame(r, nil, len(large))
			if err != nil || kind != want.kind || !bytes.Equal(payload, want.payload) {
				t.Fatalf("%s: frame %d: got %c, %d bytes, %v", name, i, kind, len(payload), err)
			}
		}
		if _, _, err := ReadFrame(r, nil, 10); err != io.EOF { //nolint:errorlint // unwrapped by contract
			t.Errorf("%s: got %v at the end", name, err)
		}
	}
}

func TestReadFrameReusesBuffer(t *testing.T) {
	buf := make([]byte, 0, 64)
	frame := AppendFrame(nil, KindDone, []byte("0123456789"))
	_, payload, err := ReadFrame(bytes.NewReader(frame), buf, 64)
	if err != nil || &payload[0] != &buf[:1][0] {
		t.Errorf("got %p, %v; want %p", payload, err, buf)
	}
	r := bytes.NewReader(frame)
	if n := testing.AllocsPerRun(100, func() {
		r.Reset(frame)
		_, _, _ = ReadFrame(r, buf, 64)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestReadFrameErrors(t *testing.T) {
	whole := AppendFrame(nil, KindDone, []byte("payload"))
	for n := 1; n < len(whole); n++ {
		if _, _, err := ReadFrame(bytes.NewReader(whole[:n]), nil, 100); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%d bytes: got %v", n, err)
		}
	}
	tests := []struct {
		in   string
		max  int
		want error
	}{
		{"D\x08\x00\x00\x00", 7, ErrTooLarge},
		{"D\xff\xff\xff\xff", 1 << 20, ErrTooLarge},
		{"D\x00\x00\x00\x80", 1 << 20, ErrTooLarge},
		{"D\x00\x00\x00\x00", -1, ErrTooLarge},
		{"X\x00\x00\x00\x00", 10, ErrMalformed},
		{"\x00\x00\x00\x00\x00", 10, ErrMalformed},
		{"{\"json\": 1}", 10, ErrMalformed},
	}
	for _, tt := range tests {
		if _, _, err := ReadFrame(bytes.NewReader([]byte(tt.in)), nil, tt.max); !errors.Is(err, tt.want) {
			t.Errorf("%q: got %v, want %v", tt.in, err, tt.want)
		}
	}
	broken := errors.New("broken")
	if _, _, err := ReadFrame(iotest.ErrReader(broken), nil, 10); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

// A header that promises 60 MB, followed by 3 bytes, allocates one step of memory.
func TestReadFrameLyingHeader(t *testing.T) {
	in := []byte("D\x00\x00\x94\x03abc")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, _, err := ReadFrame(bytes.NewReader(in), nil, 64<<20)
	runtime.ReadMemStats(&after)
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %v", err)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 4*readStep {
		t.Errorf("%d bytes allocated", got)
	}
}

func TestReadFrameOnSocket(t *testing.T) {
	a, b := net.Pipe()
	defer b.Close()
	go func() {
		defer a.Close()
		for _, part := range [][]byte{[]byte("D\x05"), []byte("\x00\x00"), []byte("\x00he"), []byte("llo")} {
			_, _ = a.Write(part)
		}
	}()
	kind, payload, err := ReadFrame(b, nil, 10)
	if err != nil || kind != KindDone || string(payload) != "hello" {
		t.Errorf("got %c %q %v", kind, payload, err)
	}
	if _, _, err := ReadFrame(b, nil, 10); !errors.Is(err, io.EOF) {
		t.Errorf("got %v", err)
	}
}
