package wire

import (
	"encoding/binary"
	"fmt"
	"strconv"
)

// maxItems bounds what Dict and List split: otherwise a few bytes of a message would
// become many bytes of headers on our heap. The guest's own values are not split; they
// become JSON.
const maxItems = 4096

// maxSkip is the maximum nesting of CPython's marshal. Splitting a message goes that
// deep, so that a value too deep for JSON does not hide the fields next to it. An honest
// worker writes nothing deeper.
const maxSkip = 2000

// Raw is one marshalled value. It is a part of the payload that it was split from, and is
// valid as long as the payload. Its structure has been checked; its strings and ints are
// checked when read. The zero Raw is a missing field.
type Raw []byte

// Entry is one field of a Dict.
type Entry struct {
	Name  string
	Value Raw
}

// Dict is a dict with str keys, split into its fields, in order.
type Dict []Entry

// Get finds a field. A missing one is the zero Raw, whose readers all return an error.
func (d Dict) Get(name string) Raw {
	for i := range d {
		if d[i].Name == name {
			return d[i].Value
		}
	}
	return nil
}

// DecodeDict splits a payload into its fields without decoding their values.
//
// A value that contains a code object cannot be skipped, because its end is unknown. It is
// a *TypeError, and the fields before it are returned with the error. A worker that sends
// the guest's value last therefore keeps its own fields readable.
func DecodeDict(payload []byte) (Dict, error) {
	c := cursor{in: payload}
	if t, ok := c.tag(); !ok || t != typeDict {
		return nil, &Error{Where: "message", Problem: "is not a dict", Class: ErrMalformed}
	}
	d, err := c.dict()
	if err != nil {
		return d, err
	}
	if c.pos != len(c.in) {
		return nil, &Error{Where: "message", Problem: "has more data after its end", Class: ErrMalformed}
	}
	return d, nil
}

// cursor reads marshal. It never reads beyond in, and never allocates memory for a size
// that it reads there.
type cursor struct {
	in   []byte
	pos  int
	path path
}

func (c *cursor) at(step string, err error) error {
	c.path = append(c.path, step)
	return err
}

func (c *cursor) tag() (byte, bool) {
	if c.pos >= len(c.in) {
		return 0, false
	}
	c.pos++
	return c.in[c.pos-1], true
}

func truncated() error { return malformed("is cut short") }
func trailing() error  { return malformed("has more data after its end") }

func (c *cursor) take(n int) ([]byte, error) {
	if n > len(c.in)-c.pos {
		return nil, truncated()
	}
	c.pos += n
	return c.in[c.pos-n : c.pos], nil
}

// size reads a size or a count. Each counted item takes at least one byte, so a count above
// the number of remaining bytes is false.
func (c *cursor) size() (int, error) {
	b, err := c.take(4)
	if err != nil {
		return 0, err
	}
	n := int32(binary.LittleEndian.Uint32(b))
	if n < 0 || int(n) > len(c.in)-c.pos {
		return 0, malformed("has a size of %d with %d bytes left", n, len(c.in)-c.pos)
	}
	return int(n), nil
}

func (c *cursor) sized() ([]byte, error) {
	n, err := c.size()
	if err != nil {
		return nil, err
	}
	return c.take(n)
}

// long reads the body of a long: its count and its digits.
func (c *cursor) long() ([]byte, error) {
	start := c.pos
	b, err := c.take(4)
	if err != nil {
		return nil, err
	}
	n := int64(int32(binary.LittleEndian.Uint32(b)))
	if n < 0 {
		n = -n
	}
	if 2*n > int64(len(c.in)-c.pos) {
		return nil, truncated()
	}
	c.pos += int(2 * n)
	return c.in[start:c.pos], nil
}

// skip skips one value.
func (c *cursor) skip(depth int) (err error) {
	t, ok := c.tag()
	if !ok {
		return truncated()
	}
	switch t {
	case typeNone, typeFalse, typeTrue, typeEllipsis, typeStop:
	case typeInt:
		_, err = c.take(4)
	case typeFloat:
		_, err = c.take(8)
	case typeComplex:
		_, err = c.take(16)
	case typeLong:
		_, err = c.long()
	case typeStr, typeBytes:
		_, err = c.sized()
	case typeTuple, typeList, typeSet, typeFrozenset, typeDict:
		if depth >= maxSkip {
			return &Error{Problem: fmt.Sprintf("is nested more than %d deep", maxSkip), Class: ErrTooDeep}
		}
		if t == typeDict {
			return c.skipDict(depth)
		}
		return c.skipItems(depth)
	default:
		err = unexpected(t)
	}
	return err
}

// unexpected is the error for a type that cannot be skipped or shown.
func unexpected(t byte) error {
	if t == typeEnd {
		return malformed("is an end of a dict where a value is expected")
	}
	if name := pythonType(t); name != "" {
		return &TypeError{Type: name}
	}
	return malformed("has the unknown type 0x%02x", t)
}

func (c *cursor) skipItems(depth int) error {
	n, err := c.size()
	if err != nil {
		return err
	}
	for i := range n {
		if err := c.skip(depth + 1); err != nil {
			return c.at(indexStep(i), err)
		}
	}
	return nil
}

func (c *cursor) skipDict(depth int) error {
	for {
		if c.end() {
			return nil
		}
		start := c.pos
		if err := c.skip(depth + 1); err != nil {
			return asKey(err)
		}
		key := Raw(c.in[start:c.pos])
		if err := c.skip(depth + 1); err != nil {
			return c.at(keyStep(key), err)
		}
	}
}

// end skips the end of a dict, if it is next.
func (c *cursor) end() bool {
	if c.pos < len(c.in) && c.in[c.pos] == typeEnd {
		c.pos++
		return true
	}
	return false
}

// asKey marks a type error as one about a key.
func asKey(err error) error {
	if e, ok := err.(*TypeError); ok {
		e.Key = true
	}
	return err
}

// dict splits a dict, after its tag.
func (c *cursor) dict() (Dict, error) {
	fail := func(d Dict, where string, err error) (Dict, error) {
		return d, c.path.locate(where, err)
	}
	d := make(Dict, 0, 8)
	var seen map[string]bool
	for !c.end() {
		if len(d) == maxItems {
			return fail(nil, "message", &Error{Problem: fmt.Sprintf("has more than %d fields", maxItems), Class: ErrTooLarge})
		}
		start := c.pos
		if err := c.skip(0); err != nil {
			return fail(nil, "a field name", err)
		}
		name, err := Raw(c.in[start:c.pos]).Text()
		if err != nil {
			return fail(nil, "a field name", err)
		}
		start = c.pos
		if err := c.skip(0); err != nil {
			return fail(d, fieldName(name), err)
		}
		// Two fields of one name: a reader that takes the first and one that
		// takes the last would see different reports.
		known := false
		if len(d) < 16 {
			known = d.Get(name) != nil
		} else {
			if seen == nil {
				seen = make(map[string]bool, 2*len(d))
				for i := range d {
					seen[d[i].Name] = true
				}
			}
			known = seen[name]
			seen[name] = true
		}
		if known {
			return fail(nil, fieldName(name), malformed("appears twice"))
		}
		d = append(d, Entry{name, Raw(c.in[start:c.pos:c.pos])})
	}
	return d, nil
}

// fieldName formats a name from an untrusted worker for the start of a path.
func fieldName(name string) string {
	if isName(name) {
		return name
	}
	return strconv.Quote(shorten(name))
}

// keyStep formats a key for a path.
func keyStep(key Raw) string {
	if s, err := key.Text(); err == nil {
		return guestStep(s)
	}
	switch key[0] {
	case typeNone:
		return "[None]"
	case typeTrue:
		return "[True]"
	case typeFalse:
		return "[False]"
	}
	text, err := key.AppendJSON(nil, "", maxKey)
	if err != nil {
		return "[…]"
	}
	return "[" + string(text) + "]"
}
