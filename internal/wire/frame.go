package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// A frame:
//
//	0      1                   5                       5+n
//	┌──────┬───────────────────┬───────────────────────┐
//	│ kind │ n, little-endian  │ payload: n bytes,     │
//	│      │ uint32            │ one marshal value     │
//	└──────┴───────────────────┴───────────────────────┘
//
// A stream socket keeps no message boundaries, so the length comes first. It may be a
// lie.
const (
	KindStart byte = 'S' // host → guest: what to run
	KindCheck byte = 'V' // host → guest: what to check against the language rules
	KindHook  byte = 'H' // host → guest: what to compile, and to run with each call
	KindOpen  byte = 'N' // host → guest: open a session
	KindCall  byte = 'K' // host → guest: a call of the hook, or a step of the session
	KindList  byte = 'U' // host → guest: list the variables of the session
	KindNames byte = 'T' // host → guest: complete the name at the end of a line
	KindReady byte = 'R' // guest → host: which walls stand, before any guest code
	KindCode  byte = 'C' // guest → host: the compiled script, before it runs
	KindDone  byte = 'D' // guest → host: the report
	KindLast  byte = 'L' // guest → host: the report of a hook's worker that can serve no other call

	// For a guest that has no fork server (internal/backend/portable):
	KindProgram byte = 'P' // host → guest: the program that reads the rest, as source
	KindOrder   byte = 'O' // host → guest: how to prepare the interpreter

	headerSize = 5
)

// MaxFrame is the maximum size of the payload that AppendDict builds. The largest request
// that run accepts fits: script, stdin and context each have their own maximum.
const MaxFrame = 3 * run.MaxPayload

// reportPerJSON is the most bytes of a report that one byte of JSON takes: a small int
// takes 5 bytes in a marshalled list, and 2 bytes with its comma as JSON. reportSlack is
// for the rest of a report, such as an exception or findings.
const (
	reportPerJSON = 3
	reportSlack   = 1 << 20
)

// MaxReport bounds the report of a guest with these limits. A larger one has a result
// above its limit, or is forged, and is not read.
func MaxReport(l policy.Limits) int { return reportPerJSON*int(l.Result) + reportSlack }

// readStep is how much memory ReadFrame allocates for a header alone. Beyond it, memory
// at most doubles what has arrived.
const readStep = 64 << 10

// AppendFrame appends one frame. A payload that the header cannot express is
// a bug in the caller (AppendDict never makes one), and panics: a wrapped
// length would make the rest of the payload look like frames.
func AppendFrame(dst []byte, kind byte, payload []byte) []byte {
	if uint64(len(payload)) > math.MaxUint32 {
		panic("wire: payload does not fit a frame") //nolint:forbidigo // a bug in the caller, as documented
	}
	dst = append(dst, kind)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(payload)))
	return append(dst, payload...)
}

// AppendListFrame appends a frame that holds a list. The payload is built in
// place: a context of many megabytes is written once.
func AppendListFrame(dst []byte, kind byte, fields ...Field) ([]byte, error) {
	start := len(dst)
	dst = append(dst, kind, 0, 0, 0, 0)
	dst, err := AppendList(dst, fields...)
	if err != nil {
		return dst[:start], err
	}
	binary.LittleEndian.PutUint32(dst[start+1:], uint32(len(dst)-start-headerSize))
	return dst, nil
}

// ReadFrame reads one frame. The payload is in buf if its capacity is enough, and is
// valid until buf is used again. A payload above max is ErrAboveMax, and none of it is
// read; an unknown kind is ErrMalformed. An end before the first byte is io.EOF, a later
// one io.ErrUnexpectedEOF.
//
// The header is read separately; pass a bufio.Reader to save the system call.
func ReadFrame(r io.Reader, buf []byte, max int) (kind byte, payload []byte, err error) {
	if cap(buf) < headerSize {
		buf = make([]byte, 512)
	}
	header := buf[:headerSize]
	if _, err := io.ReadFull(r, header); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return 0, nil, err
		}
		return 0, nil, fmt.Errorf("wire: reading a frame: %w", err)
	}
	kind = header[0]
	size := uint64(binary.LittleEndian.Uint32(header[1:]))
	switch kind {
	case KindStart, KindCheck, KindHook, KindOpen, KindCall, KindList, KindReady, KindCode, KindDone, KindLast:
	default:
		return 0, nil, fmt.Errorf("%w: unknown frame kind 0x%02x", ErrMalformed, kind)
	}
	if max < 0 || size > uint64(max) {
		return 0, nil, fmt.Errorf("%w: a frame of %d bytes, at most %d are allowed", ErrAboveMax, size, max)
	}
	payload, err = readPayload(r, buf, int(size))
	if err != nil {
		return 0, nil, err
	}
	return kind, payload, nil
}

// readPayload allocates memory as bytes arrive, not as the header promises: a worker that
// announces 60 MB and sends 3 bytes costs one step.
func readPayload(r io.Reader, buf []byte, size int) ([]byte, error) {
	buf = buf[:cap(buf)]
	have := 0
	for have < size {
		if have == len(buf) || (have == 0 && len(buf) < size) {
			grown := make([]byte, min(size, max(readStep, 2*have)))
			copy(grown, buf[:have])
			buf = grown
		}
		n, err := io.ReadFull(r, buf[have:min(size, len(buf))])
		have += n
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return nil, fmt.Errorf("wire: frame ends after %d of %d bytes: %w", have, size, err)
		}
	}
	return buf[:size:size], nil
}
