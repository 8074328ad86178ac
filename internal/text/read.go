package text

import (
	"bufio"
	"bytes"
	"errors"
)

// keptStart is how much is kept of a line that is too long: enough to tell whose it is.
const keptStart = 256

// ReadLine reads one line, with its end. It keeps only the start of a line that is longer
// than most: a sender cannot make the reader hold more. An error may come together with
// the last line.
func ReadLine(r *bufio.Reader, most int) (line []byte, tooLong bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if !tooLong {
			line = append(line, part...)
			if tooLong = len(line) > most+1; tooLong {
				line = bytes.Clone(line[:min(keptStart, len(line))])
			}
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, tooLong, err
		}
	}
}
