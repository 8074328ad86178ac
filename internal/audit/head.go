package audit

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// Head is the end of a log. With it, one can tell whether lines were cut off.
type Head struct {
	Seq  uint64 `json:"seq"`
	Hash string `json:"hash"`
}

// The head file has one line of constant length, so that it is overwritten in place and
// needs no space on a full disk. It is written after the lines that it covers are on
// disk, so it is never ahead of them.
const headSize = 20 + 1 + hashSize + 1

func (h Head) line() []byte { return fmt.Appendf(nil, "%020d %s\n", h.Seq, h.Hash) }

func parseHead(text string) (Head, bool) {
	digits, hash, ok := strings.Cut(strings.TrimSuffix(text, "\n"), " ")
	seq, err := strconv.ParseUint(digits, 10, 64)
	return Head{seq, hash}, ok && err == nil && isHash(hash)
}

// errHead means that a head file has other content.
var errHead = errors.New("not a head: expected a number of 20 digits and a hash")

// openHead opens the head file for writing. It truncates a longer file, whose rest would
// follow every head from now on.
func openHead(path string) (*os.File, error) {
	f, err := openFile(path+headSuffix, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.Size() > headSize {
		err = f.Truncate(headSize)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// readHead returns the head that the writer of a log left beside it.
func readHead(path string) (Head, bool, error) {
	f, err := os.Open(path + headSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return Head{}, false, nil
	}
	if err != nil {
		return Head{}, false, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, headSize+1))
	if err != nil || len(text) == 0 {
		return Head{}, false, err
	}
	h, ok := parseHead(string(text))
	if !ok {
		return Head{}, false, fmt.Errorf("%s%s: %w", path, headSuffix, errHead)
	}
	return h, true, nil
}
