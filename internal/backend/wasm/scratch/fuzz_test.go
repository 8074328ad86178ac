package scratch

import (
	"testing"

	"github.com/tetratelabs/wazero/experimental/sys"
)

// FuzzGuest performs random operations with a small size; the count must stay correct.
func FuzzGuest(f *testing.F) {
	f.Add([]byte("a guest that does what its bytes say"), uint16(20))
	f.Fuzz(func(t *testing.T, data []byte, pages uint16) {
		w := newWorld(t, int64(pages)*pageSize/2)
		p := play{data: data[:min(len(data), 4000)], fs: []sys.FS{w.FS}}
		for steps := 0; len(p.data) > 0; steps++ {
			p.step(t)
			if steps%64 == 0 {
				w.recount()
			}
		}
		for i := range p.handles {
			p.close(t, &p.handles[i])
		}
		w.closed()
		if _, errno := w.OpenFile("a\xff"+string(data[:min(len(data), 300)]), sys.Oflag(pages), 0o600); errno == 0 {
			w.recount()
		}
	})
}
