// Package lines reads lines from strangers: as long as they like, and kept no longer than
// we do.
package lines

import (
	"bufio"
	"bytes"
	"errors"
)

// beginning is how much is kept of a line that is too long: enough to say whose it is.
const beginning = 256

// Read reads to the end of a line, which is part of the text. Of one that is longer than
// most, without its end, only the beginning is kept. An error may come with a line, the
// last one.
func Read(r *bufio.Reader, most int) (text []byte, tooLong bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if !tooLong {
			text = append(text, part...)
			if tooLong = len(text) > most+1; tooLong {
				text = bytes.Clone(text[:min(beginning, len(text))])
			}
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return text, tooLong, err
		}
	}
}
