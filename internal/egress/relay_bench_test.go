package egress

import (
	"io"
	"net"
	"testing"
	"time"
)

// benchBytes is the size of one transfer, a large download.
const benchBytes = 1 << 30

// source waits for one byte and sends benchBytes.
func source(conn net.Conn) {
	block := make([]byte, 1<<20)
	var ask [1]byte
	for {
		if _, err := io.ReadFull(conn, ask[:]); err != nil {
			return
		}
		for sent := 0; sent < benchBytes; sent += len(block) {
			if _, err := conn.Write(block); err != nil {
				return
			}
		}
	}
}

func download(b *testing.B, conn net.Conn) {
	b.SetBytes(benchBytes)
	block := make([]byte, 1<<20)
	for b.Loop() {
		if _, err := conn.Write([]byte{0}); err != nil {
			b.Fatal(err)
		}
		for left := benchBytes; left > 0; {
			n, err := conn.Read(block)
			if err != nil {
				b.Fatal(err)
			}
			left -= n
		}
	}
}

// BenchmarkDirect measures loopback without a proxy.
func BenchmarkDirect(b *testing.B) {
	w := newWorld(b)
	w.serve(b, publicA+":443", source)
	conn, err := net.Dial("tcp", w.servers[publicA+":443"])
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	download(b, conn)
}

// BenchmarkRelay measures a tunnel. The goal is 0.7 of BenchmarkDirect, because each
// byte passes loopback twice.
func BenchmarkRelay(b *testing.B) {
	w := newWorld(b)
	w.name("example.com", publicA)
	w.serve(b, publicA+":443", source)
	conn := mustConnect(b, w.proxy(b, "example.com"), "example.com:443")
	if err := conn.SetDeadline(time.Time{}); err != nil {
		b.Fatal(err)
	}
	download(b, conn)
}

// BenchmarkCopied measures the relay without splice, for comparison: bytes of wrapped
// connections are copied through memory.
func BenchmarkCopied(b *testing.B) {
	l := listen(b)
	w := newWorld(b)
	w.serve(b, publicA+":443", source)
	done := make(chan struct{})
	go func() {
		defer close(done)
		guest, err := l.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", w.servers[publicA+":443"])
		if err != nil {
			return
		}
		go func() {
			_, _ = io.Copy(struct{ io.Writer }{server}, guest)
			server.Close()
		}()
		_, _ = io.Copy(struct{ io.Writer }{guest}, struct{ io.Reader }{server})
	}()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	download(b, conn)
	conn.Close()
	<-done
}

// BenchmarkConnect measures a whole connection: rules, dial, a few bytes and end.
func BenchmarkConnect(b *testing.B) {
	w := newWorld(b)
	w.name("example.com", publicA)
	w.serve(b, publicA+":443", echo)
	address := w.proxy(b, "example.com")
	for b.Loop() {
		conn := mustConnect(b, address, "example.com:443")
		mustEcho(b, conn, "\x00ping")
		conn.Close()
	}
}
