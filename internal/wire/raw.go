package wire

import (
	"encoding/binary"
	"fmt"
	"math"
	"unicode/utf8"
)

// Type returns the Python name of the value's type, or "" if the value is missing.
func (r Raw) Type() string {
	if len(r) == 0 {
		return ""
	}
	return pythonType(r[0])
}

// IsNone reports whether the value is None. A missing value is not.
func (r Raw) IsNone() bool { return len(r) == 1 && r[0] == typeNone }

// wrongType returns the error of a reader that expects another type.
func (r Raw) wrongType(want string) error {
	if len(r) == 0 {
		return malformed("is missing (%s is expected)", want)
	}
	return malformed("is of type %s (%s is expected)", r.Type(), want)
}

// sized returns the body of a str or bytes. It repeats the checks of splitting, because
// any caller can make a Raw.
func (r Raw) sized(t byte, want string) ([]byte, error) {
	if len(r) == 0 || r[0] != t {
		return nil, r.wrongType(want)
	}
	c := cursor{in: r, pos: 1}
	b, err := c.sized()
	if err == nil && c.pos != len(r) {
		err = trailing()
	}
	return b, err
}

// Bool reads a bool.
func (r Raw) Bool() (bool, error) {
	if len(r) == 1 && (r[0] == typeTrue || r[0] == typeFalse) {
		return r[0] == typeTrue, nil
	}
	return false, r.wrongType("bool")
}

// Int reads an int of at most 64 bits.
func (r Raw) Int() (int64, error) {
	if len(r) == 5 && r[0] == typeInt {
		return int64(int32(binary.LittleEndian.Uint32(r[1:]))), nil
	}
	if len(r) == 0 || r[0] != typeLong {
		return 0, r.wrongType("int")
	}
	c := cursor{in: r, pos: 1}
	body, err := c.long()
	if err == nil && c.pos != len(r) {
		err = trailing()
	}
	if err != nil {
		return 0, err
	}
	digits, negative, err := splitLong(body)
	if err != nil {
		return 0, err
	}
	if x := bigLong(digits, negative); x.IsInt64() {
		return x.Int64(), nil
	}
	return 0, malformed("is an int of more than 64 bits")
}

// Float reads a finite float, or converts an int to one.
func (r Raw) Float() (float64, error) {
	if len(r) == 9 && r[0] == typeFloat {
		f := math.Float64frombits(binary.LittleEndian.Uint64(r[1:]))
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return 0, malformed("is %v (a finite float is expected)", f)
		}
		return f, nil
	}
	if r.Type() != "int" {
		return 0, r.wrongType("float")
	}
	i, err := r.Int()
	return float64(i), err
}

// Bytes reads bytes. The result is a part of the payload, not a copy.
func (r Raw) Bytes() ([]byte, error) {
	return r.sized(typeBytes, "bytes")
}

// Text reads a str as valid UTF-8. Lone surrogates are escaped as \udc80, as on Python's
// stderr. Python uses them for undecodable file names, and a hostile guest may send them.
func (r Raw) Text() (string, error) {
	s, err := r.sized(typeStr, "str")
	if err != nil {
		return "", err
	}
	if utf8.Valid(s) {
		return string(s), nil
	}
	out := make([]byte, 0, len(s)+16)
	for len(s) > 0 {
		r, size := decodeRune(s)
		switch {
		case size == 0:
			return "", malformed("is a str that is not valid UTF-8")
		case isHigh(r) || isLow(r):
			out = appendUnicodeEscape(out, r)
		default:
			out = append(out, s[:size]...)
		}
		s = s[size:]
	}
	return string(out), nil
}

// decodeRune reads UTF-8 that may contain lone surrogates, as Python's 'surrogatepass'
// does. A size of 0 means an error.
func decodeRune(s []byte) (r rune, size int) {
	r, size = utf8.DecodeRune(s)
	if r != utf8.RuneError || size > 1 {
		return r, size
	}
	if len(s) >= 3 && s[0] == 0xed && s[1]&0xe0 == 0xa0 && s[2]&0xc0 == 0x80 {
		return 0xd000 | rune(s[1]&0x3f)<<6 | rune(s[2]&0x3f), 3
	}
	return 0, 0
}

// Dict splits a dict with str keys into its fields.
func (r Raw) Dict() (Dict, error) {
	if len(r) == 0 || r[0] != typeDict {
		return nil, r.wrongType("dict")
	}
	return DecodeDict(r)
}

// List splits a list or a tuple into its items.
func (r Raw) List() ([]Raw, error) {
	if len(r) == 0 || r[0] != typeList && r[0] != typeTuple {
		return nil, r.wrongType("list")
	}
	c := cursor{in: r, pos: 1}
	n, err := c.size()
	if err != nil {
		return nil, err
	}
	if n > maxItems {
		return nil, &Error{Problem: fmt.Sprintf("has more than %d items", maxItems), Class: ErrTooLarge}
	}
	list := make([]Raw, n)
	for i := range list {
		start := c.pos
		if err := c.skip(0); err != nil {
			return nil, c.path.locate(indexStep(i), err)
		}
		list[i] = r[start:c.pos:c.pos]
	}
	if c.pos != len(r) {
		return nil, trailing()
	}
	return list, nil
}

// TextList reads a list of str.
func (r Raw) TextList() ([]string, error) {
	list, err := r.List()
	if err != nil {
		return nil, err
	}
	texts := make([]string, len(list))
	for i, item := range list {
		if texts[i], err = item.Text(); err != nil {
			return nil, path{indexStep(i)}.locate("", err)
		}
	}
	return texts, nil
}

// TextMap reads a dict of str to str.
func (r Raw) TextMap() (map[string]string, error) {
	d, err := r.Dict()
	if err != nil {
		return nil, err
	}
	m := make(map[string]string, len(d))
	for _, entry := range d {
		if m[entry.Name], err = entry.Value.Text(); err != nil {
			return nil, path{guestStep(entry.Name)}.locate("", err)
		}
	}
	return m, nil
}
