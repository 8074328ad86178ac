package egress

import (
	"io"
	"net"
	"time"
)

// guestConn is a connection from the guest, whose first byte has been looked
// at.
type guestConn struct {
	net.Conn
	first  []byte // not read yet
	finish func() // closes it and gives its slot back, once
}

func (c *guestConn) Read(b []byte) (int, error) {
	if len(c.first) > 0 && len(b) > 0 {
		n := copy(b, c.first)
		c.first = c.first[n:]
		return n, nil
	}
	return c.Conn.Read(b)
}

// CloseWrite lets net/http close in two steps, so that the guest can still
// read the answer.
func (c *guestConn) CloseWrite() error { return closeWrite(c.Conn) }

// greet finds out what the guest speaks: both versions of SOCKS begin with
// their number, and no HTTP request does.
func (p *Proxy) greet(c *guestConn) {
	var first [1]byte
	if c.SetReadDeadline(time.Now().Add(firstByteTime)) != nil {
		c.finish()
		return
	}
	if _, err := io.ReadFull(c.Conn, first[:]); err != nil {
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

// linger lets the guest read an answer before the connection goes. Closing at
// once would reset it where bytes of the guest are still unread, and the reset
// overtakes the answer.
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
