package command

import (
	"errors"
	"io"
	"sync"
)

// scanner searches for many texts at once. It looks at the two bytes at the
// end of a window as long as the shortest text; most pairs are in no text, and
// the window moves by nearly its whole length (Wu and Manber, 1994). A megabyte
// takes less than a millisecond, however many texts there are.
type scanner struct {
	texts   [][]byte
	window  int // the length of the shortest
	longest int
	shift   [1 << 16]uint8
	ending  map[uint16][]int // texts by the pair that ends their first window
}

func newScanner(texts []string) *scanner {
	s := &scanner{ending: map[uint16][]int{}, window: 255}
	for _, t := range texts {
		s.texts = append(s.texts, []byte(t))
		s.window, s.longest = min(s.window, len(t)), max(s.longest, len(t))
	}
	for i := range s.shift {
		s.shift[i] = uint8(s.window - 1)
	}
	for n, t := range s.texts {
		for i := 1; i < s.window; i++ {
			pair := uint16(t[i-1])<<8 | uint16(t[i])
			s.shift[pair] = min(s.shift[pair], uint8(s.window-1-i))
			if i == s.window-1 {
				s.ending[pair] = append(s.ending[pair], n)
			}
		}
	}
	return s
}

// in marks the texts that are in data.
func (s *scanner) in(data []byte, found []bool) {
	for i := s.window - 1; i < len(data); {
		pair := uint16(data[i-1])<<8 | uint16(data[i])
		if shift := s.shift[pair]; shift > 0 {
			i += int(shift)
			continue
		}
		start := data[i-s.window+1:]
		for _, n := range s.ending[pair] {
			if t := s.texts[n]; !found[n] && len(start) >= len(t) && string(start[:len(t)]) == string(t) {
				found[n] = true
			}
		}
		i++
	}
}

// scanPart is how much is read at once: what fits into a processor's cache.
const scanPart = 128 << 10

// parts are used again; a new one has to be cleared first.
var parts sync.Pool

// read marks the texts that are in the first most bytes.
func (s *scanner) read(r io.ReaderAt, most int64) ([]bool, error) {
	found := make([]bool, len(s.texts))
	buffer, ok := parts.Get().(*[scanPart]byte)
	if !ok {
		buffer = new([scanPart]byte)
	}
	defer parts.Put(buffer)
	kept := 0
	for at := int64(0); at < most; {
		n, err := r.ReadAt(buffer[kept:min(int64(kept)+most-at, scanPart)], at)
		at += int64(n)
		s.in(buffer[:kept+n], found)
		if errors.Is(err, io.EOF) || n == 0 {
			return found, nil
		}
		if err != nil {
			return nil, err
		}
		// A text may lie across two parts.
		kept = copy(buffer[:], buffer[max(0, kept+n-s.longest+1):kept+n])
	}
	return found, nil
}
