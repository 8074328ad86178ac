package zygote

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/wire"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// converseWith returns a Worker without a process, and the guest's end of its channel.
func converseWith(t *testing.T) (w *Worker, guest int) {
	t.Helper()
	w = &Worker{zygote: &Zygote{}}
	theirs, err := w.openStreams()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		w.closeStreams()
		for _, fd := range theirs {
			unix.Close(fd)
		}
	})
	return w, theirs[0]
}

// A guest that writes without pause does not outlive its time: the clock is checked between
// any two reads, not only when there is nothing to read.
func TestTimeLimitEndsTalkativeGuest(t *testing.T) {
	w, guest := converseWith(t)
	if _, err := unix.Write(guest, bytes.Repeat([]byte("D"), 4096)); err != nil {
		t.Fatal(err)
	}
	c := w.converse(Guest{Limits: policy.DefaultLimits()})
	c.deadline = time.Now().Add(-time.Second)
	if n, err := c.Read(make([]byte, 16)); n == 0 || err != nil {
		t.Fatalf("read %d, %v", n, err)
	}
	if why := w.kill.reason(); why != KilledWall {
		t.Errorf("killed because of %q", why)
	}
}

// A worker that dies before it gets its guest consumes nothing of the caller's input: another
// worker will need it.
func TestDeadWorkerConsumesNoInput(t *testing.T) {
	for name, script := range map[string]string{"a small start": "pass", "a large start": "#" + strings.Repeat("x", 4<<20)} {
		t.Run(name, func(t *testing.T) {
			w, guest := converseWith(t)
			w.zygote = &Zygote{}
			if err := unix.Shutdown(guest, unix.SHUT_RDWR); err != nil {
				t.Fatal(err)
			}
			_, err := w.Run(t.Context(), Guest{
				Script: script, Limits: policy.DefaultLimits(), Streams: run.Streams{In: strings.NewReader("precious")},
			})
			if !errors.Is(err, ErrNotStarted) {
				t.Fatalf("got %v", err)
			}
			if w.stdin.number() < 0 {
				t.Error("the pipe was given to a feeder, which reads ahead")
			}
		})
	}
}

// Later runs of the same script get the code that a worker sends when it is asked for it, and
// nothing else from the channel.
func TestCodeIsRequestedOnce(t *testing.T) {
	codes := &Codes{}
	frame := func(kind byte, payload string) []byte { return wire.AppendFrame(nil, kind, []byte(payload)) }
	done := frame(wire.KindDone, "{0")
	for i, test := range []struct {
		answer [][]byte
		code   string
		ask    bool
		ok     bool
	}{
		{answer: [][]byte{done}, ok: true},
		{answer: [][]byte{frame(wire.KindCode, "theirs"), done}, ask: true, ok: true},
		{answer: [][]byte{done}, code: "theirs", ok: true},
		{answer: [][]byte{frame(wire.KindCode, "forged"), done}, code: "theirs"}, // not asked for
		{answer: [][]byte{done}, code: "theirs", ok: true},
	} {
		w, guest := converseWith(t)
		w.zygote = &Zygote{}
		if _, err := unix.Write(guest, bytes.Join(test.answer, nil)); err != nil {
			t.Fatal(err)
		}
		ending, err := w.Run(t.Context(), Guest{Script: "pass", Name: "x", Codes: codes, Limits: policy.DefaultLimits()})
		if err != nil || (ending.Malformed == nil) != test.ok {
			t.Errorf("run %d: %v, %v", i, err, ending.Malformed)
		}
		sent := make([]byte, 4096)
		n, err := unix.Read(guest, sent)
		if err != nil {
			t.Fatal(err)
		}
		want, err := wire.AppendListFrame([]byte{0}, wire.KindStart, startFields(
			Guest{Script: "pass", Name: "x", Limits: policy.DefaultLimits()}, []byte(test.code), test.ask)...)
		if err != nil || !bytes.Equal(sent[:n], want) {
			t.Errorf("run %d is sent %q, want %q", i, sent[:n], want)
		}
	}
}
