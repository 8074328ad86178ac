package egress

import (
	"io"
	"net"
	"testing"
	"time"
)

// What is moved in each round, as in a large download.
const benchBytes = 1 << 30

// source sends benchBytes to whoever asks with one byte.
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

// BenchmarkDirect is what loopback gives without anything between.
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

// BenchmarkRelay is the same through a tunnel. The goal is 0.7 of the direct
// one; each byte goes through loopback twice.
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

// BenchmarkCopied is the relay without splice, for comparison: wrapped
// connections have to be copied through memory.
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

// BenchmarkConnect is a whole connection: the rules, the dial, a few bytes and
// the end.
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
