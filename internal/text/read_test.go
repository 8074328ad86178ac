package text

import (
	"bufio"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
)

func TestReadLine(t *testing.T) {
	const most = 100
	short, longest, longer := "a\n", strings.Repeat("b", most)+"\n", strings.Repeat("c", most+1)+"\n"
	r := bufio.NewReaderSize(strings.NewReader(short+longest+longer+strings.Repeat("d", 50*most)+"\n"+short+"rest"), 16)
	for _, want := range []struct {
		text string
		long bool
		err  error
	}{{short, false, nil}, {longest, false, nil}, {longer, true, nil}, {strings.Repeat("d", 112), true, nil}, {short, false, nil}, {"rest", false, io.EOF}, {"", false, io.EOF}} {
		line, long, err := ReadLine(r, most)
		if string(line) != want.text || long != want.long || !errors.Is(err, want.err) {
			t.Errorf("%q, %v, %v; want %+v", line, long, err, want)
		}
	}
}

// endless is a line that ends only after left bytes.
type endless struct{ left int }

func (e *endless) Read(p []byte) (int, error) {
	if e.left -= len(p); e.left < 0 {
		p[0] = '\n'
		return 1, nil
	}
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// ReadLine does not allocate for a line that is too long.
func TestReadLineKeepsNoLongLine(t *testing.T) {
	r := bufio.NewReader(&endless{left: 256 << 20})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	line, long, err := ReadLine(r, 1<<20)
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; !long || len(line) > 256 || err != nil || took > 16<<20 {
		t.Errorf("%d kept, %v, %v, %d bytes", len(line), long, err, took)
	}
}
