package egress

import (
	"bytes"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"time"
)

// route is an allowed target, and by which kind of grant.
type route struct {
	target
	byAddress bool // a grant by address includes the dialed address
}

// tunnel copies bytes between the guest and a dialed server until both have ended. It
// closes the server's connection.
func (p *Proxy) tunnel(to route, guest, server net.Conn, sent []byte) {
	if !p.begin(server) {
		server.Close()
		return
	}
	defer p.end(server)
	defer server.Close()
	account := p.traffic.connected(to.target)

	// Bytes of the server pass at once, because it may speak first.
	received := meter{total: &account.received}
	ended := make(chan struct{})
	var stopped atomic.Bool
	go func() {
		defer close(ended)
		if relay(guest, server, &received) != nil && !stopped.Load() {
			guest.Close()
			server.Close()
		}
	}()

	e := &early{conn: guest, data: sent}
	err := p.upward(to, e, server, &meter{total: &account.sent})
	if errors.Is(err, errSpeaksHTTP) {
		stopped.Store(true)
		if err = stopRelay(server, ended); err == nil && received.connection == 0 {
			p.serveInside(to, guest, countedConn{server, account}, bytes.TrimLeft(e.data, "\r\n"))
			return
		}
		err = httpRefusal("HTTP request for " + to.String() + ", whose server uses another protocol")
	}
	var r *refusal
	if errors.As(err, &r) {
		p.report(r)
		stopped.Store(true)
		server.Close()
		<-ended
		// After bytes of the server, our answer would be garbage.
		if received.connection == 0 && len(r.answer) > 0 {
			_, _ = guest.Write(r.answer)
		}
		linger(guest)
		return
	}
	if err != nil {
		guest.Close()
		server.Close()
	}
	<-ended
}

// stopRelay ends the relay of the server's bytes and leaves the connection open for
// another reader.
func stopRelay(server net.Conn, ended <-chan struct{}) error {
	if err := server.SetReadDeadline(time.Unix(1, 0)); err != nil {
		return err
	}
	select {
	case <-ended:
	case <-time.After(lingerTime): // during a bulk transfer, which sets its own deadlines
		server.Close()
		<-ended
	}
	return server.SetReadDeadline(time.Time{})
}

// upward judges the guest's first message and copies its bytes to the server.
func (p *Proxy) upward(to route, e *early, server net.Conn, m *meter) error {
	err := p.judgeFirstMessage(to, e)
	if err == nil && len(e.data) > 0 && e.data[0] == recordHandshake {
		// The bytes after the first hello are not judged yet.
		if err = e.passJudged(server, m); err == nil {
			err = p.passSecondHello(to, e, server, m)
		}
	} else if err == nil {
		err = e.pass(server, m)
	}
	switch {
	case errors.Is(err, io.EOF):
		// The guest has closed its side, but may still read.
		return closeWrite(server)
	case err != nil:
		return err
	}
	return relay(server, e.conn, m)
}
