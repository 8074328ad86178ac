package egress

import (
	"io"
	"net"
	"time"
)

// guestConn is a connection from the guest. Its first byte has been read to detect the
// protocol and is returned again by Read.
type guestConn struct {
	net.Conn
	first  []byte // not read yet
	finish func() // closes the connection and releases its slot, once
}

func (c *guestConn) Read(b []byte) (int, error) {
	if len(c.first) > 0 && len(b) > 0 {
		n := copy(b, c.first)
		c.first = c.first[n:]
		return n, nil
	}
	return c.Conn.Read(b)
}

// CloseWrite lets net/http close one direction first, so that the guest can still read
// the answer.
func (c *guestConn) CloseWrite() error { return closeWrite(c.Conn) }

// greet detects the guest's protocol: both versions of SOCKS begin with their version
// number, which begins no HTTP request.
func (p *Proxy) greet(c *guestConn) {
	var first [1]byte
	if c.SetReadDeadline(time.Now().Add(firstByteTime)) != nil {
		c.finish()
		return
	}
	if _, err := io.ReadFull(c, first[:]); err != nil {
		c.finish()
		return
	}
	switch first[0] {
	case socks5:
		p.serveSocks(c)
		c.finish()
	case socks4:
		refuseSocks4(c.Conn)
		c.finish()
	default:
		c.first = first[:]
		select {
		case p.handoff <- c: // finishes in connState, or after its tunnel
		case <-p.ctx.Done():
			c.finish()
		}
	}
}

// linger lets the guest read an answer before the connection closes. Closing at once
// would reset a connection with unread bytes of the guest, and the guest could get the
// reset before the answer.
func linger(conn net.Conn) {
	if closeWrite(conn) == nil && conn.SetReadDeadline(time.Now().Add(lingerTime)) == nil {
		_, _ = io.CopyN(io.Discard, conn, maxHello)
	}
	conn.Close()
}

func closeWrite(conn net.Conn) error {
	if half, ok := conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return conn.Close()
}
