package wire

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/cordon-sandbox/cordon/run"
)

// AppendJSON appends the value as JSON text of at most max bytes. The text is that of
// json.dumps(value, ensure_ascii=False, allow_nan=False) without spaces: tuples become
// arrays; keys that are int, float, bool or None become strings (if two keys become equal,
// both are written); lone surrogates, which UTF-8 cannot encode, become \ud800 escapes.
//
// Errors begin with the name where. The error is a *TypeError for a value of another type,
// and an *Error for NaN and for a value that is too deep or too large. On error dst is
// returned unchanged.
func (r Raw) AppendJSON(dst []byte, where string, max int) ([]byte, error) {
	start := len(dst)
	max = min(max, math.MaxInt-start)
	w := jsonWriter{cursor: cursor{in: r}, out: dst, limit: start + max, max: max}
	if len(r) > 256 && max > 0 {
		// The JSON text is about as long as the marshal.
		w.out = slices.Grow(w.out, min(len(r), max))
	}
	err := w.value(0)
	if err == nil && w.pos != len(w.in) {
		err = trailing()
	}
	if err == nil && len(w.out) > w.limit {
		err = w.tooLarge()
	}
	if err != nil {
		return dst[:start], w.path.locate(where, err)
	}
	return w.out, nil
}

// jsonWriter converts the marshal at its cursor to JSON in one pass. out may exceed limit by
// one number or a few brackets before the next check.
type jsonWriter struct {
	cursor
	out   []byte
	limit int // of len(out)
	max   int
	work  longWork
}

func (w *jsonWriter) tooLarge() error {
	return &Error{Problem: fmt.Sprintf("exceeds the maximum of %d bytes of JSON", w.max), Class: ErrAboveMax}
}

func (w *jsonWriter) value(depth int) (err error) {
	if len(w.out) > w.limit {
		return w.tooLarge()
	}
	t, ok := w.tag()
	if !ok {
		return truncated()
	}
	switch t {
	case typeTuple, typeList, typeDict:
		if depth >= run.MaxDepth {
			return &Error{Problem: fmt.Sprintf("is nested more than %d deep", run.MaxDepth), Class: ErrTooDeep}
		}
		if t == typeDict {
			return w.dict(depth)
		}
		return w.list(depth)
	case typeStr:
		return w.str()
	}
	return w.scalar(t)
}

// scalar appends a value whose text is the same as a value and, in quotes, as a key.
func (w *jsonWriter) scalar(t byte) error {
	switch t {
	case typeNone:
		w.out = append(w.out, "null"...)
	case typeTrue:
		w.out = append(w.out, "true"...)
	case typeFalse:
		w.out = append(w.out, "false"...)
	case typeInt:
		b, err := w.take(4)
		if err != nil {
			return err
		}
		w.out = strconv.AppendInt(w.out, int64(int32(binary.LittleEndian.Uint32(b))), 10)
	case typeLong:
		body, err := w.long()
		if err != nil {
			return err
		}
		w.out, err = appendLongJSON(w.out, body, &w.work)
		return err
	case typeFloat:
		b, err := w.take(8)
		if err != nil {
			return err
		}
		f := math.Float64frombits(binary.LittleEndian.Uint64(b))
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return notFinite(f)
		}
		w.out = appendFloat(w.out, f)
	default:
		return unexpected(t)
	}
	return nil
}

func notFinite(f float64) error {
	name := "nan"
	if math.IsInf(f, 1) {
		name = "inf"
	} else if math.IsInf(f, -1) {
		name = "-inf"
	}
	return &Error{Problem: fmt.Sprintf("is the float %s, which is not a JSON value", name), Class: ErrValue}
}

// appendFloat appends the text of Python's repr: the shortest text that reads back as the
// same float, always with a point or an exponent.
func appendFloat(dst []byte, f float64) []byte {
	if abs := math.Abs(f); abs != 0 && (abs < 1e-4 || abs >= 1e16) {
		return strconv.AppendFloat(dst, f, 'e', -1, 64)
	}
	start := len(dst)
	dst = strconv.AppendFloat(dst, f, 'f', -1, 64)
	if bytes.IndexByte(dst[start:], '.') < 0 {
		dst = append(dst, ".0"...)
	}
	return dst
}

func (w *jsonWriter) list(depth int) error {
	n, err := w.size()
	if err != nil {
		return err
	}
	w.out = append(w.out, '[')
	for i := range n {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		if err := w.value(depth + 1); err != nil {
			return w.at(indexStep(i), err)
		}
	}
	w.out = append(w.out, ']')
	return nil
}

func (w *jsonWriter) dict(depth int) error {
	w.out = append(w.out, '{')
	for first := true; !w.end(); first = false {
		if !first {
			w.out = append(w.out, ',')
		}
		start := w.pos
		if err := w.key(); err != nil {
			return asKey(err)
		}
		key := Raw(w.in[start:w.pos])
		w.out = append(w.out, ':')
		if err := w.value(depth + 1); err != nil {
			return w.at(keyStep(key), err)
		}
	}
	w.out = append(w.out, '}')
	return nil
}

func (w *jsonWriter) key() error {
	if len(w.out) > w.limit {
		return w.tooLarge()
	}
	t, ok := w.tag()
	switch {
	case !ok:
		return truncated()
	case t == typeStr:
		return w.str()
	case t == typeTuple || t == typeList || t == typeDict:
		return &TypeError{Type: pythonType(t)}
	}
	w.out = append(w.out, '"')
	if err := w.scalar(t); err != nil {
		if e, ok := err.(*Error); ok {
			e.Problem = "has a key that " + e.Problem
		}
		return err
	}
	w.out = append(w.out, '"')
	return nil
}

func (w *jsonWriter) str() error {
	s, err := w.sized()
	if err != nil {
		return err
	}
	if len(s) > w.limit-len(w.out) {
		return w.tooLarge()
	}
	w.out = append(w.out, '"')
	if !utf8.Valid(s) {
		err = w.surrogates(s)
	} else {
		err = w.escaped(s)
	}
	w.out = append(w.out, '"')
	return err
}

// plain marks the bytes that need no escape in a JSON string.
var plain = func() (t [256]bool) {
	for c := range t {
		t[c] = c >= ' ' && c != '"' && c != '\\'
	}
	return t
}()

// escaped appends valid UTF-8 with escapes. An escape turns one byte into up to six, so the
// limit is checked after each.
func (w *jsonWriter) escaped(s []byte) error {
	start := 0
	for i, c := range s {
		if plain[c] {
			continue
		}
		w.out = append(w.out, s[start:i]...)
		start = i + 1
		switch c {
		case '"', '\\':
			w.out = append(w.out, '\\', c)
		case '\n':
			w.out = append(w.out, `\n`...)
		case '\r':
			w.out = append(w.out, `\r`...)
		case '\t':
			w.out = append(w.out, `\t`...)
		case '\b':
			w.out = append(w.out, `\b`...)
		case '\f':
			w.out = append(w.out, `\f`...)
		default:
			w.out = appendUnicodeEscape(w.out, rune(c))
		}
		if len(w.out) > w.limit {
			return w.tooLarge()
		}
	}
	w.out = append(w.out, s[start:]...)
	return nil
}

// surrogates appends a str that is UTF-8 except for lone surrogates.
func (w *jsonWriter) surrogates(s []byte) error {
	start := 0
	for i := 0; i < len(s); {
		r, size := decodeRune(s[i:])
		if size == 0 {
			return malformed("is a str that is not valid UTF-8")
		}
		if isHigh(r) || isLow(r) {
			if err := w.escaped(s[start:i]); err != nil {
				return err
			}
			w.out = appendUnicodeEscape(w.out, r)
			start = i + size
			if len(w.out) > w.limit {
				return w.tooLarge()
			}
		}
		i += size
	}
	return w.escaped(s[start:])
}

func appendUnicodeEscape(dst []byte, r rune) []byte {
	const hex = "0123456789abcdef"
	return append(dst, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
}
