package wire

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// json converts JSON text to marshal in one pass. encoding/json would build maps to walk
// afterwards, or return tokens at an allocation each, and would replace lone surrogates,
// which Python's strings can contain.
func (e *encoder) json(text []byte, depth int) error {
	t := transcoder{e: e, in: text}
	if err := t.value(depth); err != nil {
		return err
	}
	t.space()
	if t.pos < len(t.in) {
		return t.bad("more data after the value")
	}
	return nil
}

type transcoder struct {
	e   *encoder
	in  []byte
	pos int
}

func (t *transcoder) bad(what string) error {
	return &Error{Problem: fmt.Sprintf("is not valid JSON at byte %d: %s", t.pos, what), Class: ErrMalformed}
}

func (t *transcoder) space() {
	for t.pos < len(t.in) {
		switch t.in[t.pos] {
		case ' ', '\t', '\n', '\r':
			t.pos++
		default:
			return
		}
	}
}

// next skips space and returns the next byte without consuming it. It returns 0 at the end,
// and for a NUL byte, which is as invalid everywhere as the end.
func (t *transcoder) next() byte {
	t.space()
	if t.pos < len(t.in) {
		return t.in[t.pos]
	}
	return 0
}

func (t *transcoder) value(depth int) error {
	if len(t.e.buf) > t.e.limit {
		return t.e.tooLarge()
	}
	switch c := t.next(); {
	case c == '{':
		return t.object(depth)
	case c == '[':
		return t.array(depth)
	case c == '"':
		return t.string()
	case c == '-' || '0' <= c && c <= '9':
		return t.number()
	case c == 'n':
		return t.word("null", typeNone)
	case c == 't':
		return t.word("true", typeTrue)
	case c == 'f':
		return t.word("false", typeFalse)
	}
	if t.pos >= len(t.in) {
		return t.bad("it ends where a value is expected")
	}
	return t.bad("a value is expected")
}

func (t *transcoder) word(word string, as byte) error {
	end := t.pos + len(word)
	if end > len(t.in) || string(t.in[t.pos:end]) != word {
		return t.bad("a value is expected")
	}
	t.pos = end
	t.e.buf = append(t.e.buf, as)
	return nil
}

func (t *transcoder) array(depth int) error {
	if err := t.e.open(typeList, depth); err != nil {
		return err
	}
	count := len(t.e.buf) // set below: marshal begins with the count, JSON has none
	t.e.buf = append(t.e.buf, 0, 0, 0, 0)
	t.pos++
	n := 0
	if t.next() == ']' {
		t.pos++
		return nil
	}
	for {
		if err := t.value(depth + 1); err != nil {
			return t.e.at(indexStep(n), err)
		}
		n++
		switch t.next() {
		case ',':
			t.pos++
		case ']':
			t.pos++
			binary.LittleEndian.PutUint32(t.e.buf[count:], uint32(n))
			return nil
		default:
			return t.bad("',' or ']' is expected")
		}
	}
}

func (t *transcoder) object(depth int) error {
	if err := t.e.open(typeDict, depth); err != nil {
		return err
	}
	t.pos++
	if t.next() == '}' {
		t.pos++
		t.e.buf = append(t.e.buf, typeEnd)
		return nil
	}
	for {
		if t.next() != '"' {
			return t.bad("a key in quotes is expected")
		}
		key := len(t.e.buf) + 5
		if err := t.string(); err != nil {
			return err
		}
		end := len(t.e.buf)
		if t.next() != ':' {
			return t.bad("':' is expected")
		}
		t.pos++
		if err := t.value(depth + 1); err != nil {
			return t.e.at(hostStep(string(t.e.buf[key:end])), err)
		}
		switch t.next() {
		case ',':
			t.pos++
		case '}':
			t.pos++
			t.e.buf = append(t.e.buf, typeEnd)
			return nil
		default:
			return t.bad("',' or '}' is expected")
		}
	}
}

// string appends a str. It copies the text between escapes in one piece.
func (t *transcoder) string() error {
	t.pos++
	e := t.e
	size := len(e.buf) + 1
	e.buf = append(e.buf, typeStr, 0, 0, 0, 0)
	start := len(e.buf)
	for {
		rest := t.in[t.pos:]
		n := 0
		for n < len(rest) && plain[rest[n]] {
			n++
		}
		if n > e.limit-len(e.buf) {
			return e.tooLarge()
		}
		if !utf8.Valid(rest[:n]) {
			return t.bad("a string is not valid UTF-8")
		}
		e.buf = append(e.buf, rest[:n]...)
		t.pos += n
		if t.pos >= len(t.in) {
			return t.bad("a string has no end")
		}
		switch c := t.in[t.pos]; {
		case c == '"':
			t.pos++
			binary.LittleEndian.PutUint32(e.buf[size:], uint32(len(e.buf)-start))
			return nil
		case c < ' ':
			return t.bad("a string holds a control character")
		}
		if err := t.escape(); err != nil {
			return err
		}
	}
}

func (t *transcoder) escape() error {
	if t.pos+1 >= len(t.in) {
		return t.bad("a string has no end")
	}
	var c byte
	switch t.in[t.pos+1] {
	case '"', '\\', '/':
		c = t.in[t.pos+1]
	case 'b':
		c = '\b'
	case 'f':
		c = '\f'
	case 'n':
		c = '\n'
	case 'r':
		c = '\r'
	case 't':
		c = '\t'
	case 'u':
		return t.unicodeEscape()
	default:
		return t.bad("unknown escape in a string")
	}
	t.pos += 2
	t.e.buf = append(t.e.buf, c)
	return nil
}

// unicodeEscape joins a surrogate pair, and writes a lone surrogate in the encoding of
// marshal, as json.loads does.
func (t *transcoder) unicodeEscape() error {
	r, ok := hex4(t.in[t.pos:])
	if !ok {
		return t.bad("\\u needs four hexadecimal digits")
	}
	t.pos += 6
	if isHigh(r) {
		if low, ok := hex4(t.in[t.pos:]); ok && isLow(low) {
			t.pos += 6
			r = 0x10000 + (r-0xd800)<<10 + (low - 0xdc00)
		}
	}
	if isHigh(r) || isLow(r) {
		t.e.buf = append(t.e.buf, 0xed, 0x80|byte(r>>6&0x3f), 0x80|byte(r&0x3f))
	} else {
		t.e.buf = utf8.AppendRune(t.e.buf, r)
	}
	return nil
}

func isHigh(r rune) bool { return r >= 0xd800 && r < 0xdc00 }
func isLow(r rune) bool  { return r >= 0xdc00 && r < 0xe000 }

// hex4 reads the escape \uXXXX at the start of b.
func hex4(b []byte) (r rune, ok bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	for _, c := range b[2:6] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

func (t *transcoder) number() error {
	n, integer := scanNumber(t.in[t.pos:])
	if n == 0 {
		return t.bad("not a number")
	}
	text := t.in[t.pos : t.pos+n]
	t.pos += n
	return appendScanned(t.e, text, integer)
}

func appendNumber[T ~string | ~[]byte](e *encoder, text T) error {
	n, integer := scanNumber(text)
	if n == 0 || n != len(text) {
		return &Error{Problem: fmt.Sprintf("is %q, which is not a number", shorten(string(text))), Class: ErrValue}
	}
	return appendScanned(e, text, integer)
}

func appendScanned[T ~string | ~[]byte](e *encoder, text T, integer bool) (err error) {
	if integer {
		e.buf, err = appendIntText(e.buf, text, &e.work)
		return err
	}
	f, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return &Error{Problem: fmt.Sprintf("is %s, which is out of the range of a float", shorten(string(text))), Class: ErrValue}
	}
	return e.float(f)
}

// scanNumber returns the length of the JSON number at the start of s, 0 if there is none,
// and whether the number is an int.
func scanNumber[T ~string | ~[]byte](s T) (n int, integer bool) {
	digits := func(i int) int {
		for i < len(s) && '0' <= s[i] && s[i] <= '9' {
			i++
		}
		return i
	}
	i := 0
	if i < len(s) && s[i] == '-' {
		i++
	}
	switch end := digits(i); {
	case end == i:
		return 0, false
	case s[i] == '0':
		i++ // no leading zeros: 01 is not one number
	default:
		i = end
	}
	integer = true
	if i < len(s) && s[i] == '.' {
		end := digits(i + 1)
		if end == i+1 {
			return 0, false
		}
		i, integer = end, false
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		i++
		if i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		end := digits(i)
		if end == i {
			return 0, false
		}
		i, integer = end, false
	}
	return i, integer
}
