package wasmbin

import (
	"fmt"
	"unicode/utf8"
)

// Error says what is wrong with a module, and where.
type Error struct {
	Offset int
	Reason string
}

func (e *Error) Error() string {
	return fmt.Sprintf("not a module that can be run: byte %#x: %s", e.Offset, e.Reason)
}

// reader reads the binary format. The first mistake is kept, and everything after
// it reads as nothing, so that callers may look at err where it suits them.
type reader struct {
	data []byte
	pos  int
	base int // where data begins in the module
	err  *Error
}

func (r *reader) failf(format string, args ...any) {
	if r.err == nil {
		r.err = &Error{Offset: r.base + r.pos, Reason: fmt.Sprintf(format, args...)}
	}
	r.pos = len(r.data)
}

// failed is r.err as an error.
func (r *reader) failed() error {
	if r.err == nil {
		return nil
	}
	return r.err
}

func (r *reader) done() bool { return r.pos >= len(r.data) }

func (r *reader) byte() byte {
	if r.done() {
		r.failf("ends too early")
		return 0
	}
	r.pos++
	return r.data[r.pos-1]
}

func (r *reader) bytes(n int) []byte {
	if n < 0 || n > len(r.data)-r.pos {
		r.failf("ends too early")
		return nil
	}
	r.pos += n
	return r.data[r.pos-n : r.pos]
}

// u32 is an unsigned number of at most 32 bits.
func (r *reader) u32() uint32 {
	const bits = 32
	var v uint64
	for shift := 0; shift < bits; shift += 7 {
		b := r.byte()
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

// signed is a signed number of at most that many bits.
func (r *reader) signed(bits int) int64 {
	var v int64
	for shift := 0; shift < bits; shift += 7 {
		b := r.byte()
		v |= int64(b&0x7f) << shift
		if b >= 0x80 {
			continue
		}
		if used := shift + 7; used < 64 {
			v = v << (64 - used) >> (64 - used)
		}
		if bits < 64 && v != v<<(64-bits)>>(64-bits) {
			break
		}
		return v
	}
	r.failf("a number of more than %d bits", bits)
	return 0
}

// count is the length of a list, each element of which takes at least a byte.
func (r *reader) count(most int, what string) int {
	at := r.pos
	n := r.u32()
	if r.err == nil && int64(n) > int64(most) {
		r.pos = at
		r.failf("%d %s, of which a module may have %d", n, what, most)
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

// part gives a reader of the next n bytes.
func (r *reader) part(n uint32) *reader {
	at := r.base + r.pos
	if int64(n) > int64(len(r.data)-r.pos) {
		r.failf("a part of %d bytes in %d", n, len(r.data)-r.pos)
		return &reader{base: at, err: r.err}
	}
	return &reader{data: r.bytes(int(n)), base: at}
}

// since gives what was read from a position on.
func (r *reader) since(pos int) []byte {
	if r.err != nil {
		return nil
	}
	return r.data[pos:r.pos]
}
