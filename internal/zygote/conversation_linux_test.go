package zygote

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// converseWith gives a Worker without a process, and the guest's end of its
// channel.
func converseWith(t *testing.T) (w *Worker, guest int) {
	t.Helper()
	w = &Worker{}
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

// A guest that never stops talking does not outlive its time: the clock is
// looked at between any two reads, and not only when there is nothing to read.
func TestClockOfATalkativeGuest(t *testing.T) {
	w, guest := converseWith(t)
	if _, err := unix.Write(guest, bytes.Repeat([]byte("D"), 4096)); err != nil {
		t.Fatal(err)
	}
	c := w.converse(Guest{Limits: policy.DefaultLimits})
	c.deadline = time.Now().Add(-time.Second)
	if n, err := c.Read(make([]byte, 16)); n == 0 || err != nil {
		t.Fatalf("read %d, %v", n, err)
	}
	if why := w.kill.reason(); why != KilledWall {
		t.Errorf("killed because of %q", why)
	}
}

// A worker that is dead before its guest is handed over takes nothing of the
// caller's input: another worker will need it.
func TestInputSurvivesADeadWorker(t *testing.T) {
	for name, script := range map[string]string{"a small start": "pass", "a large start": "#" + strings.Repeat("x", 4<<20)} {
		t.Run(name, func(t *testing.T) {
			w, guest := converseWith(t)
			w.zygote = &Zygote{}
			if err := unix.Shutdown(guest, unix.SHUT_RDWR); err != nil {
				t.Fatal(err)
			}
			_, err := w.Run(t.Context(), Guest{
				Script: script, Limits: policy.DefaultLimits, Streams: run.Streams{In: strings.NewReader("precious")},
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
