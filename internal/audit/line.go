package audit

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash"
	"strconv"
	"strings"

	"github.com/cordon-sandbox/cordon/run"
)

const (
	// maxLine is more than any record takes. A longer line is not ours, and is not kept
	// in memory.
	maxLine = 64 << 10

	hashSize  = 2 * sha256.Size
	seqMark   = `{"seq":`
	prevMark  = `,"prev":"`
	keyedMark = `,"keyed":true`
	hashMark  = `,"hash":"`
	noteMark  = `,"note":`
)

// noPrev is the prev of the first line.
var noPrev = strings.Repeat("0", hashSize)

// sealer makes hashes, with or without a key.
type sealer struct {
	sum   hash.Hash
	keyed bool
}

func newSealer(key []byte) *sealer {
	if len(key) == 0 {
		return &sealer{sum: sha256.New()}
	}
	return &sealer{sum: hmac.New(sha256.New, key), keyed: true}
}

func (s *sealer) hash(b []byte) string {
	s.sum.Reset()
	s.sum.Write(b)
	var sum [sha256.Size]byte
	return hex.EncodeToString(s.sum.Sum(sum[:0]))
}

// appendLine adds a body to the chain.
func (s *sealer) appendLine(dst []byte, seq uint64, prev string, body []byte) (line []byte, hash string) {
	start := len(dst)
	dst = append(dst, seqMark...)
	dst = strconv.AppendUint(dst, seq, 10)
	dst = append(dst, prevMark...)
	dst = append(dst, prev...)
	dst = append(dst, '"')
	if s.keyed {
		dst = append(dst, keyedMark...)
	}
	dst = append(dst, ',')
	dst = append(dst, body[1:len(body)-1]...)
	hash = s.hash(dst[start:])
	dst = append(dst, hashMark...)
	dst = append(dst, hash...)
	return append(dst, "\"}\n"...), hash
}

// overhead is the most that appendLine adds to a body.
const overhead = len(seqMark) + 20 + len(prevMark) + hashSize + 1 + len(keyedMark) + len(hashMark) + hashSize + 3

// link is a line's position in the chain, according to the line.
type link struct {
	seq    uint64
	prev   string
	keyed  bool
	hash   string
	signed []byte // the hashed bytes
	note   bool
}

// parseLink reads the link of a line without its newline. It accepts only the form that
// appendLine writes.
func parseLink(line []byte) (link, bool) {
	var l link
	end := len(line) - len(`"}`) - hashSize
	if end < len(hashMark) || !bytes.HasSuffix(line, []byte(`"}`)) {
		return l, false
	}
	l.signed = line[:end-len(hashMark)]
	l.hash = string(line[end : end+hashSize])
	rest, ok := bytes.CutPrefix(l.signed, []byte(seqMark))
	if !ok || string(line[len(l.signed):end]) != hashMark || !isHash(l.hash) {
		return l, false
	}
	digits, rest, ok := bytes.Cut(rest, []byte(prevMark))
	if !ok || len(rest) < hashSize+1 || rest[hashSize] != '"' || len(digits) == 0 || digits[0] == '0' {
		return l, false
	}
	var err error
	if l.seq, err = strconv.ParseUint(string(digits), 10, 64); err != nil || digits[0] == '+' {
		return l, false
	}
	l.prev = string(rest[:hashSize])
	rest, l.keyed = bytes.CutPrefix(rest[hashSize+1:], []byte(keyedMark))
	l.note = bytes.HasPrefix(rest, []byte(noteMark))
	return l, isHash(l.prev)
}

// holds reports whether a line's own hash is correct.
func (s *sealer) holds(l link) bool {
	return l.keyed == s.keyed && hmac.Equal([]byte(s.hash(l.signed)), []byte(l.hash))
}

func isHash(s string) bool {
	return len(s) == hashSize && strings.Trim(s, "0123456789abcdef") == ""
}

// ErrLine means that one line is invalid; the others can be read.
var ErrLine = errors.New("not a line of an audit log")

// parseRecord reads all of a line.
func parseRecord(line []byte) (Record, error) {
	var r Record
	if err := json.Unmarshal(line, &r); err != nil {
		return r, run.Errorf(run.Invalid, "%w: %w", ErrLine, err)
	}
	return r, nil
}
