package wasmbin

import (
	"fmt"
	"unicode/utf8"
)

// Error is an error in a module and its position.
type Error struct {
	Offset int
	Reason string
}

func (e *Error) Error() string {
	return fmt.Sprintf("not a valid module: byte %#x: %s", e.Offset, e.Reason)
}

// reader reads the binary format. It keeps the first error, and later reads return zeros, so
// that callers may check err at any time.
//
// It can write what it reads in the shortest encoding. So the engine gets no byte that was not
// parsed, and no number in a longer encoding than necessary: if two parsers disagreed on where
// an instruction ends, a module could evade the metering.
type reader struct {
	data []byte
	pos  int
	base int // the offset of data in the module
	err  *Error

	copying bool
	out     []byte
	moved   func(function uint32) uint32
}

func (r *reader) failf(format string, args ...any) {
	if r.err == nil {
		r.err = &Error{Offset: r.base + r.pos, Reason: fmt.Sprintf(format, args...)}
	}
	r.pos = len(r.data)
}

func (r *reader) done() bool { return r.pos >= len(r.data) }

// write adds to the copy.
func (r *reader) write(b ...byte) {
	if r.copying {
		r.out = append(r.out, b...)
	}
}

func (r *reader) rawByte() byte {
	if r.done() {
		r.failf("ends too early")
		return 0
	}
	r.pos++
	return r.data[r.pos-1]
}

func (r *reader) byte() byte {
	b := r.rawByte()
	if r.copying {
		r.out = append(r.out, b)
	}
	return b
}

func (r *reader) bytes(n int) []byte {
	if n < 0 || n > len(r.data)-r.pos {
		r.failf("ends too early")
		return nil
	}
	r.pos += n
	r.write(r.data[r.pos-n : r.pos]...)
	return r.data[r.pos-n : r.pos]
}

// u32 reads an unsigned number of at most 32 bits.
func (r *reader) u32() uint32 {
	v := r.rawU32()
	if r.copying {
		r.out = appendU32(r.out, v)
	}
	return v
}

func (r *reader) rawU32() uint32 {
	const bits = 32
	var v uint64
	for shift := 0; shift < bits; shift += 7 {
		b := r.rawByte()
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			if v >= 1<<bits {
				break
			}
			return uint32(v)
		}
	}
	r.failf("a number of more than 32 bits")
	return 0
}

// signed reads a signed number of at most that many bits.
func (r *reader) signed(bits int) int64 {
	var v int64
	for shift := 0; shift < bits; shift += 7 {
		b := r.rawByte()
		v |= int64(b&0x7f) << shift
		if b >= 0x80 {
			continue
		}
		if used := shift + 7; used < 64 {
			v = v << (64 - used) >> (64 - used)
		} else if b != 0 && b != 0x7f {
			break // only one bit of the tenth byte is used
		}
		if bits < 64 && v != v<<(64-bits)>>(64-bits) {
			break
		}
		if r.copying {
			r.out = appendSigned(r.out, v)
		}
		return v
	}
	r.failf("a number of more than %d bits", bits)
	return 0
}

// zero reads a number that is reserved and must be 0.
func (r *reader) zero(what string) {
	if v := r.u32(); r.err == nil && v != 0 {
		r.failf("%s %d, of which there is one", what, v)
	}
}

// below reads an index less than n.
func (r *reader) below(n int, what string) uint32 {
	at := r.pos
	i := r.u32()
	if r.err == nil && int64(i) >= int64(n) {
		r.pos = at
		r.failf("%s %d of %d", what, i, n)
	}
	return i
}

// count reads the length of a list whose elements take at least a byte each.
func (r *reader) count(most int, what string) int {
	at := r.pos
	n := r.u32()
	if r.err == nil && int64(n) > int64(most) {
		r.pos = at
		r.failf("%d %s: the maximum is %d", n, what, most)
		return 0
	}
	if int64(n) > int64(len(r.data)-r.pos) {
		r.failf("%d %s in %d bytes", n, what, len(r.data)-r.pos)
		return 0
	}
	return int(n)
}

func (r *reader) name() string {
	n := r.count(maxName, "bytes of a name")
	name := r.bytes(n)
	if !utf8.Valid(name) {
		r.failf("a name that is not UTF-8")
	}
	return string(name)
}

// part returns a reader of the next n bytes.
func (r *reader) part(n uint32) *reader {
	at := r.base + r.pos
	if int64(n) > int64(len(r.data)-r.pos) {
		r.failf("a part of %d bytes in %d", n, len(r.data)-r.pos)
		return &reader{base: at, err: r.err}
	}
	r.pos += int(n)
	return &reader{data: r.data[r.pos-int(n) : r.pos : r.pos], base: at}
}

func describe(format string, args ...any) string { return fmt.Sprintf(format, args...) }
