package audit

import (
	"bufio"
	"errors"
	"io"
)

// lineReader reads lines of at most maxLine bytes, and keeps one at a time.
type lineReader struct {
	r      *bufio.Reader
	number int   // of the last line
	end    int64 // its end
	long   bool  // it was longer than maxLine
}

func newLineReader(r io.Reader) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, maxLine)}
}

// next returns a line without its newline, valid until the next call. whole is false for
// text at the end without a newline. A line that is too long is returned empty.
func (l *lineReader) next() (line []byte, whole bool, err error) {
	line, err = l.r.ReadSlice('\n')
	size := len(line)
	l.long = errors.Is(err, bufio.ErrBufferFull)
	for errors.Is(err, bufio.ErrBufferFull) {
		var more []byte
		more, err = l.r.ReadSlice('\n')
		size += len(more)
	}
	if errors.Is(err, io.EOF) && size == 0 {
		return nil, false, io.EOF
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, false, err
	}
	l.number++
	l.end += int64(size)
	whole = err == nil
	switch {
	case l.long:
		return nil, whole, nil
	case whole:
		return line[:len(line)-1], true, nil
	}
	return line, false, nil
}
