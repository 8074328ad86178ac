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
	// A read that fills the buffer is taken as the start of a bulk transfer.
	relayBuffer = 4 << 10
	// relayChunk is how many bytes of a bulk transfer are counted at a time.
	relayChunk = 1 << 19
	// relayLull is the pause after which a bulk transfer counts as ended.
	relayLull = time.Second
)

// meter counts the bytes of a connection, and adds them to those of its target.
type meter struct {
	total      *atomic.Int64
	connection int64
}

func (m *meter) add(n int64) {
	m.connection += n
	m.total.Add(n)
}

// relay copies until src ends, and then closes dst for writing. Bulk transfers use
// io.Copy, which calls splice(2) for two TCP connections, so that the bytes stay in the
// kernel. splice holds a pipe, two descriptors, even while it waits, and a thousand
// silent tunnels must not hold four thousand. So relay waits in a plain read with a small
// buffer, and returns to it when a bulk transfer pauses.
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
