package egress

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"time"
)

var (
	errSlow    = errors.New("too slow")
	errTooLong = errors.New("too long")
)

// early buffers the first message of a guest until it is judged. It waits for the
// first byte without a limit, because in some protocols the server speaks first. From
// the first byte on there is a time limit. A guest that exceeds it is refused, or
// waiting would be a way around the check.
type early struct {
	conn        net.Conn
	data        []byte // everything read
	next        int    // the length of the part that was judged
	deadlineSet bool
	hello       hello // of TLS, the first
}

// take returns the next n bytes. They are valid until the next call.
func (e *early) take(n int) ([]byte, error) {
	for len(e.data) < e.next+n {
		if err := e.fill(); err != nil {
			return nil, err
		}
	}
	e.next += n
	return e.data[e.next-n : e.next], nil
}

func (e *early) fill() error {
	if len(e.data) > 0 && !e.deadlineSet {
		e.deadlineSet = true
		if err := e.conn.SetReadDeadline(time.Now().Add(helloTime)); err != nil {
			return err
		}
	}
	if len(e.data) == cap(e.data) {
		if len(e.data) >= maxHello {
			return errTooLong
		}
		grown := make([]byte, len(e.data), min(max(2*cap(e.data), 1<<10), maxHello))
		copy(grown, e.data)
		e.data = grown
	}
	n, err := e.conn.Read(e.data[len(e.data):cap(e.data)])
	e.data = e.data[:len(e.data)+n]
	switch {
	case n > 0:
		return nil // the next read returns the error again
	case errors.Is(err, os.ErrDeadlineExceeded):
		return errSlow
	case err == nil:
		return io.ErrNoProgress
	}
	return err
}

// pass sends everything that was read to the server.
func (e *early) pass(server io.Writer, m *meter) error {
	e.next = len(e.data)
	return e.passJudged(server, m)
}

// passJudged sends the judged part to the server. The time limit starts again for the
// rest.
func (e *early) passJudged(server io.Writer, m *meter) error {
	if e.deadlineSet {
		e.deadlineSet = false
		if err := e.conn.SetReadDeadline(time.Time{}); err != nil {
			return err
		}
	}
	n, err := server.Write(e.data[:e.next])
	m.add(int64(n))
	e.data, e.next = bytes.Clone(e.data[e.next:]), 0
	return err
}
