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

// early holds what a guest says first, until it is judged. It waits for the
// first byte as long as it takes, because in some protocols the server begins;
// from then on there is a limit. It ends in a refusal, never in a pass: else
// waiting would be the way around.
type early struct {
	conn  net.Conn
	data  []byte // all that was read
	next  int    // how much of it was looked at
	timed bool
	hello hello // of TLS, the first
}

// take gives the next n bytes. They are valid until the next call.
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
	if len(e.data) > 0 && !e.timed {
		e.timed = true
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
		return nil // an error comes again
	case errors.Is(err, os.ErrDeadlineExceeded):
		return errSlow
	case err == nil:
		return io.ErrNoProgress
	}
	return err
}

// pass sends on all that was read.
func (e *early) pass(server io.Writer, m *meter) error {
	e.next = len(e.data)
	return e.passJudged(server, m)
}

// passJudged sends on what was looked at. For what follows, the time begins
// anew.
func (e *early) passJudged(server io.Writer, m *meter) error {
	if e.timed {
		e.timed = false
		if err := e.conn.SetReadDeadline(time.Time{}); err != nil {
			return err
		}
	}
	n, err := server.Write(e.data[:e.next])
	m.add(int64(n))
	e.data, e.next = bytes.Clone(e.data[e.next:]), 0
	return err
}
