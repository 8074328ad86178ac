package egress

import (
	"bytes"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"time"
)

// route is a target with how it came to be allowed.
type route struct {
	target
	byAddress bool // a grant by address covers where it leads
}

// tunnel carries bytes between the guest and a server that was dialled, until
// both have ended. It closes the server.
func (p *Proxy) tunnel(to route, guest, server net.Conn, said []byte) {
	if !p.begin(server) {
		server.Close()
		return
	}
	defer p.end(server)
	defer server.Close()
	account := p.traffic.connected(to.target)

	// What the server says flows at once: it may be the one who begins.
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

	e := &early{conn: guest, data: said}
	err := p.upward(to, e, server, &meter{total: &account.sent})
	if errors.Is(err, errSpeaksHTTP) {
		stopped.Store(true)
		if err = quieten(server, ended); err == nil && received.own == 0 {
			p.serveInside(to, guest, countedConn{server, account}, bytes.TrimLeft(e.data, "\r\n"))
			return
		}
		err = httpRefusal("HTTP request for " + to.String() + ", whose server is of another protocol")
	}
	var r *refusal
	if errors.As(err, &r) {
		p.report(r)
		stopped.Store(true)
		server.Close()
		<-ended
		// In the middle of what the server said, ours would be garbage.
		if received.own == 0 && len(r.answer) > 0 {
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

// quieten ends the relay of what the server says, and leaves the server to
// somebody else.
func quieten(server net.Conn, ended <-chan struct{}) error {
	if err := server.SetReadDeadline(time.Unix(1, 0)); err != nil {
		return err
	}
	select {
	case <-ended:
	case <-time.After(lingerTime): // in the midst of bulk, which has deadlines of its own
		server.Close()
		<-ended
	}
	return server.SetReadDeadline(time.Time{})
}

// upward carries what the guest says, once that has been judged.
func (p *Proxy) upward(to route, e *early, server net.Conn, m *meter) error {
	err := p.judgeFirstWords(to, e)
	if err == nil && len(e.data) > 0 && e.data[0] == recordHandshake {
		// What is behind the first hello has not been judged yet.
		if err = e.passJudged(server, m); err == nil {
			err = p.passSecondHello(to, e, server, m)
		}
	} else if err == nil {
		err = e.pass(server, m)
	}
	switch {
	case errors.Is(err, io.EOF):
		// It has nothing to say, or nothing more; it may still listen.
		return closeWrite(server)
	case err != nil:
		return err
	}
	return relay(server, e.conn, m)
}
