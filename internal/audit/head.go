package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/cordon-sandbox/cordon/run"
)

// Head is the end of a log: whoever knows it can tell whether lines were cut off.
type Head struct {
	Seq  uint64 `json:"seq"`
	Hash string `json:"hash"`
}

// The head file has one line of always the same length, so that it is written in
// place and needs no room on a full disk. It is written after the lines that it
// is about are on disk, and so never runs ahead of them.
func (h Head) line() []byte { return fmt.Appendf(nil, "%020d %s\n", h.Seq, h.Hash) }

func parseHead(text string) (Head, bool) {
	digits, hash, ok := strings.Cut(strings.TrimSuffix(text, "\n"), " ")
	seq, err := strconv.ParseUint(digits, 10, 64)
	return Head{seq, hash}, ok && err == nil && isHash(hash)
}

// readHead gives the head that the writer of a log left beside it.
func readHead(path string) (Head, bool, error) {
	text, err := os.ReadFile(path + headSuffix)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && len(text) == 0:
		return Head{}, false, nil
	case err != nil:
		return Head{}, false, err
	}
	h, ok := parseHead(string(text))
	if !ok {
		return Head{}, false, run.Errorf(run.Invalid, "%s%s: not a head: it has a number of 20 digits and a hash", path, headSuffix)
	}
	return h, true, nil
}
