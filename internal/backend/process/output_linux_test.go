package process

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// watcher collects output, and closes seen when the output ends with a text.
type watcher struct {
	bytes.Buffer
	text string
	seen chan struct{}
}

func (w *watcher) Write(data []byte) (int, error) {
	n, err := w.Buffer.Write(data)
	if w.seen != nil && bytes.HasSuffix(w.Bytes(), []byte(w.text)) {
		close(w.seen)
		w.seen = nil
	}
	return n, err
}

// after reads its text when a channel is closed.
type after struct {
	closed <-chan struct{}
	io.Reader
}

func (a after) Read(data []byte) (int, error) {
	<-a.closed
	return a.Reader.Read(data)
}

// A line arrives while the guest still runs, however much it printed before. The guest ends
// when it gets input, and gets input when the line is there.
func TestPrintedLinesArriveAtOnce(t *testing.T) {
	for _, lines := range []int{0, 1, 100, 100_000} {
		b := open(t, Options{Policy: systemPython})
		// input() would write out what is buffered; readline() does not.
		job := jobOf(b, `
import sys
for i in range(context):
    print("line", i)
print("the last line")
result = sys.stdin.readline()
`, lines)
		job.Limits.Output = 16 * policy.MiB
		out := &watcher{text: "the last line\n", seen: make(chan struct{})}
		job.Streams = run.Streams{Out: out, In: after{out.seen, strings.NewReader("read it\n")}}
		r := runJob(t, b, job)
		if r.Outcome != run.Succeeded || string(r.Value) != `"read it\n"` {
			t.Errorf("%d lines: %s %s, %s", lines, r.Outcome, r.Value, r.Error)
		}
		if got := strings.Count(out.String(), "\n"); got != lines+1 || r.Stdout != out.String() {
			t.Errorf("%d lines: %d lines arrived, and %d bytes are in the Result", lines, got, len(r.Stdout))
		}
	}
}

// CaptureLimit bounds what the Result keeps of a live stream, not what the stream gets.
func TestCaptureLimit(t *testing.T) {
	b := open(t, Options{Policy: systemPython})
	for _, test := range []struct {
		name      string
		capture   policy.Bytes
		limit     policy.Bytes
		live      bool
		got, kept int
	}{
		{"all", 0, 64 * policy.KiB, true, 30000, 30000},
		{"some", 10000, 64 * policy.KiB, true, 30000, 10000},
		{"too little to explain failures with", 10, 64 * policy.KiB, true, 30000, 4096},
		{"less than the output limit", 10000, 20 * policy.KiB, true, 20480, 10000},
		{"more than the output limit", 64 * policy.KiB, 2 * policy.KiB, true, 2048, 2048},
		{"no live stream", 10000, 64 * policy.KiB, false, 0, 30000},
	} {
		job := jobOf(b, "print('x' * 29999)", nil)
		job.Limits.Output = test.limit
		var out bytes.Buffer
		if job.Streams.CaptureLimit = test.capture; test.live {
			job.Streams.Out = &out
		}
		r := runJob(t, b, job)
		if out.Len() != test.got || len(r.Stdout) != test.kept || r.StdoutSize != 30000 || r.StdoutTruncated != (test.limit < 30000) {
			t.Errorf("%s: %d bytes arrived, %d are kept of %v, truncated %v: %s", test.name, out.Len(), len(r.Stdout), r.StdoutSize, r.StdoutTruncated, r.Error)
		}
	}
}
