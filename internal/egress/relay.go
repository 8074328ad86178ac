package egress

import (
	"errors"
	"io"
	"net"
	"os"
	"sync/atomic"
	"time"
)

const (
	// A read that fills this many bytes is the sign of more.
	relayBuffer = 4 << 10
	// relayChunk is how often bulk is counted.
	relayChunk = 1 << 19
	// relayLull is how long bulk may pause before it is none.
	relayLull = time.Second
)

// meter counts bytes, for everybody and for this connection.
type meter struct {
	total *atomic.Int64
	own   int64
}

func (m *meter) add(n int64) {
	m.own += n
	m.total.Add(n)
}

// relay copies until src ends, and tells dst of the end. Large amounts go from
// socket to socket inside of the kernel, by splice(2), which is what io.Copy
// does with two TCP connections. It holds a pipe as long as it waits, and a
// pipe is two descriptors; a thousand silent tunnels must not hold four
// thousand. So waiting is done in a plain read with a small buffer, and bulk
// that pauses goes back to it.
func relay(dst, src net.Conn, m *meter) error {
	buffer := make([]byte, relayBuffer)
	for {
		n, err := src.Read(buffer)
		if n > 0 {
			written, failed := dst.Write(buffer[:n])
			m.add(int64(written))
			if failed != nil {
				return failed
			}
		}
		if err == nil && n == len(buffer) {
			err = bulk(dst, src, m)
		}
		switch {
		case errors.Is(err, io.EOF):
			return closeWrite(dst)
		case err != nil:
			return err
		}
	}
}

// bulk copies until src pauses (nil) or ends (io.EOF).
func bulk(dst, src net.Conn, m *meter) error {
	for {
		if err := src.SetReadDeadline(time.Now().Add(relayLull)); err != nil {
			return err
		}
		n, err := io.Copy(dst, &io.LimitedReader{R: src, N: relayChunk})
		m.add(n)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return src.SetReadDeadline(time.Time{})
		case err != nil:
			return err
		case n < relayChunk:
			return io.EOF
		}
	}
}
