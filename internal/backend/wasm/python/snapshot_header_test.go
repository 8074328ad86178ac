package python

import (
	"encoding/binary"
	"errors"
	"runtime"
	"strings"
	"testing"
)

// The length in a header allocates no memory before the bytes were read.
func TestSnapshotHeaders(t *testing.T) {
	header := func(length uint32, text string) string {
		return snapshotMagic + string(binary.LittleEndian.AppendUint32(nil, length)) + text
	}
	for name, file := range map[string]string{
		"4 GiB":                     header(1<<32-1, "{}"),
		"a little more than it may": header(maxHeader+1, strings.Repeat(" ", maxHeader-1)+"{}"),
		"less than it says":         header(3, "{}"),
		"no JSON":                   header(4, "text"),
		"another kind":              header(2, "[]"),
		"a number for a word":       header(11, `{"build":1}`),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := readHeader(strings.NewReader(file))
		runtime.ReadMemStats(&after)
		if !errors.Is(err, errDamaged) {
			t.Errorf("%s: %v", name, err)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 16*maxHeader {
			t.Errorf("%s: it took %d bytes", name, took)
		}
	}
	if _, err := readHeader(strings.NewReader(header(12, `{"format":1}`))); err != nil {
		t.Error(err)
	}
}
