package httpapi

import (
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cordon-sandbox/cordon/run"
)

// Connections bounds the open connections. Each takes a descriptor and memory before its
// client is authenticated.
type Connections struct {
	Most int
	// Encrypted means that TLS runs above this listener. Refused clients then get no
	// message, because there is no key yet.
	Encrypted bool
	// Refused is called for each refused connection. It may be nil.
	Refused func()
}

// Bound returns a listener that refuses connections above the bounds.
func (c Connections) Bound(l net.Listener) net.Listener {
	b := &boundListener{Listener: l, Connections: c, leaving: make(chan struct{}, maxLeaving)}
	if !c.Encrypted {
		b.words = refusal()
	}
	return b
}

// maxLeaving bounds the refused connections that are kept open until the client has read
// the reason.
const maxLeaving = 64

type boundListener struct {
	net.Listener
	Connections
	words   []byte // none below TLS
	open    atomic.Int64
	leaving chan struct{}
	left    sync.WaitGroup
}

func (b *boundListener) Accept() (net.Conn, error) {
	for {
		conn, err := b.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if b.open.Add(1) <= int64(b.Most) {
			return &boundConn{Conn: conn, release: sync.OnceFunc(func() { b.open.Add(-1) })}, nil
		}
		b.open.Add(-1)
		if b.Refused != nil {
			b.Refused()
		}
		if b.words == nil {
			conn.Close()
			continue
		}
		b.refuse(conn)
	}
}

// refuse sends the reason and closes the connection. It waits for the request first,
// because clients treat an earlier answer as an error, and closes only when the client has
// stopped sending, because a reset would discard the answer. Only maxLeaving connections
// get this time: without a bound they would be the flood.
func (b *boundListener) refuse(conn net.Conn) {
	select {
	case b.leaving <- struct{}{}:
	default:
		_, _ = conn.Write(b.words) // a client that has sent its request may still read them
		conn.Close()
		return
	}
	b.left.Go(func() {
		defer func() { <-b.leaving }()
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(lingering)) // the connection is closed in any case
		if _, err := conn.Read(make([]byte, 1)); err != nil {
			return
		}
		if _, err := conn.Write(b.words); err != nil {
			return
		}
		if half, ok := conn.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
			_, _ = io.Copy(io.Discard, io.LimitReader(conn, 64<<10))
		}
	})
}

// Close waits for the connections that are being refused.
func (b *boundListener) Close() error {
	err := b.Listener.Close()
	b.left.Wait()
	return err
}

type boundConn struct {
	net.Conn
	release func()
}

func (c *boundConn) Close() error {
	defer c.release()
	return c.Conn.Close()
}

// refusal is the answer to a request that is not parsed.
func refusal() []byte {
	p := problemOf(run.Errorf(run.Busy, "too many connections are open: close some, or try again in a second"))
	body, err := encode(p)
	if err != nil {
		return nil // a Problem can be encoded
	}
	head := "HTTP/1.1 " + strconv.Itoa(p.Status) + " " + http.StatusText(p.Status) + "\r\n" +
		"Content-Type: application/problem+json\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n" +
		"Retry-After: 1\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n"
	return append([]byte(head), body...)
}
