// Package lines reads lines from strangers: as long as they like, and kept no longer than
// we do.
package lines

import (
	"bufio"
	"errors"
)

// Read reads to the end of a line, which is part of the text. Of one that is longer than
// most, without its end, nothing is kept. An error may come with a line, the last one.
func Read(r *bufio.Reader, most int) (text []byte, tooLong bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if tooLong = tooLong || len(text)+len(part) > most+1; tooLong {
			text = nil
		} else {
			text = append(text, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return text, tooLong, err
		}
	}
}
