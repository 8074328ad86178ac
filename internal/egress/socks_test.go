package egress

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
)

// socksRequestFor writes a request for a name.
func socksRequestFor(command byte, host string, port int) string {
	return string([]byte{5, command, 0, kindName, byte(len(host))}) + host + string([]byte{byte(port >> 8), byte(port)})
}

// socks greets without authentication, sends the request and returns the reply.
func socks(t testing.TB, address, request string) (*net.TCPConn, byte) {
	t.Helper()
	conn := dialProxy(t, address)
	send(t, conn, "\x05\x01\x00")
	mustRead(t, conn, "\x05\x00")
	send(t, conn, request)
	reply := make([]byte, 10)
	if _, err := io.ReadFull(conn, reply); err != nil || reply[0] != 5 {
		t.Fatalf("%x, %v", reply, err)
	}
	return conn, reply[1]
}

func mustRead(t testing.TB, conn net.Conn, want string) {
	t.Helper()
	got := make([]byte, len(want))
	if _, err := io.ReadFull(conn, got); err != nil || string(got) != want {
		t.Fatalf("read %q, %v; want %q", got, err, want)
	}
}

func TestSocks(t *testing.T) {
	more := slices.Clone(attempts)
	for _, tt := range []struct{ host, words string }{
		{"evil.net\x00.example.com", "control characters"}, {"example.com\x00", "control characters"}, {"example.com\n", "control characters"},
		{"", "is empty"}, {"exam ple.com", "has spaces"}, {"exam\xffple.com", "not valid UTF-8"}, {"example.com:443", "neither a name"},
		{"::1", "not in allow_net"}, {"[::1]", "not in allow_net"}, {"::ffff:127.0.0.1", "127.0.0.1:443: not in allow_net"}, {"::1%lo", "percent"},
		{`example.com\evil.net`, "characters of a URL"},
	} {
		more = append(more, struct {
			host   string
			port   int
			grants []string
			want   string
			words  string
		}{tt.host, 443, []string{"example.com", "*.example.com"}, "", tt.words})
	}
	for _, tt := range more {
		t.Run(fmt.Sprintf("%.40q:%d", tt.host, tt.port), func(t *testing.T) {
			w := attemptWorld(t)
			conn, reply := socks(t, w.proxy(t, tt.grants...), socksRequestFor(1, tt.host, tt.port))
			if tt.want != "" {
				if reply != replyDone || !slices.Equal(w.dials(), []string{tt.want + ":443"}) || len(w.violations()) > 0 {
					t.Fatalf("reply %d, dialed %v, %v", reply, w.dials(), w.violations())
				}
				mustEcho(t, conn, "\x00hello")
				return
			}
			if reply != replyForbidden || len(w.dials()) > 0 {
				t.Fatalf("reply %d, dialed %v", reply, w.dials())
			}
			if tt.grants != nil {
				w.mustReport(t, tt.words)
			}
		})
	}
}

func TestSocksAddresses(t *testing.T) {
	for _, tt := range []struct {
		kind, addr, grant string
		reply             byte
	}{
		{"\x01", "\x5d\xb8\xd7\x0e", publicA, replyDone},
		{"\x01", "\x5d\xb8\xd7\x0e", "example.com", replyForbidden},
		{"\x01", "\x7f\x00\x00\x01", "example.com", replyForbidden},
		{"\x04", strings.Repeat("\x00", 10) + "\xff\xff\x5d\xb8\xd7\x0e", publicA, replyDone},
		{"\x04", strings.Repeat("\x00", 15) + "\x01", publicA, replyForbidden},
		{"\x04", strings.Repeat("\x00", 12) + "\x5d\xb8\xd7\x0e", publicA, replyForbidden},
		{"\x02", "\x5d\xb8\xd7\x0e", publicA, replyNoKind},
	} {
		w := attemptWorld(t)
		conn, reply := socks(t, w.proxy(t, tt.grant), "\x05\x01\x00"+tt.kind+tt.addr+"\x01\xbb")
		if reply != tt.reply {
			t.Errorf("%x with %s: reply %d; want %d", tt.addr, tt.grant, reply, tt.reply)
		}
		if reply == replyDone {
			mustEcho(t, conn, "\x00x")
		} else if len(w.dials()) > 0 {
			t.Errorf("%x: dialed %v", tt.addr, w.dials())
		}
	}
}

func TestSocksCommands(t *testing.T) {
	for _, command := range []byte{commandBind, commandUDP} {
		w := attemptWorld(t)
		if _, reply := socks(t, w.proxy(t, "example.com"), socksRequestFor(command, "example.com", 443)); reply != replyNoCommand {
			t.Errorf("command %d: reply %d", command, reply)
		}
		w.mustReport(t, "is not CONNECT")
		if len(w.dials()) > 0 {
			t.Errorf("command %d: dialed %v", command, w.dials())
		}
	}
	w := attemptWorld(t)
	if _, reply := socks(t, w.proxy(t, "example.com"), socksRequestFor(0xf0, "example.com", 443)); reply != replyNoCommand {
		t.Errorf("reply %d", reply)
	}
}

func TestSocksFailures(t *testing.T) {
	w := newWorld(t)
	closed := listen(t)
	w.servers[publicA+":443"] = closed.Addr().String()
	closed.Close()
	w.name("refusing.example", publicA)
	address := w.proxy(t, "refusing.example", "missing.example")
	for _, tt := range []struct {
		host  string
		reply byte
	}{{"refusing.example", replyRefused}, {"missing.example", replyUnreachable}} {
		if _, reply := socks(t, address, socksRequestFor(1, tt.host, 443)); reply != tt.reply {
			t.Errorf("%s: reply %d; want %d", tt.host, reply, tt.reply)
		}
	}
	if found := w.violations(); len(found) > 0 {
		t.Errorf("%v", found)
	}
}

func TestSocksMethods(t *testing.T) {
	w := attemptWorld(t)
	address := w.proxy(t, "example.com")
	for _, tt := range []struct{ greeting, answer string }{
		{"\x05\x01\x00", "\x05\x00"}, {"\x05\x02\x02\x00", "\x05\x00"}, {"\x05\x02\x00\x02", "\x05\x00"},
		{"\x05\x02\x01\x02", "\x05\x02"}, {"\x05\x01\x01", "\x05\xff"}, {"\x05\x00", "\x05\xff"},
	} {
		conn := dialProxy(t, address)
		send(t, conn, tt.greeting)
		mustRead(t, conn, tt.answer)
		if tt.answer == "\x05\x02" {
			send(t, conn, "\x01\x04user\x06secret")
			mustRead(t, conn, "\x01\x00")
		}
		if tt.answer == "\x05\xff" {
			if rest, err := io.ReadAll(conn); err != nil || len(rest) > 0 {
				t.Errorf("goes on after no method fits: %x, %v", rest, err)
			}
			continue
		}
		send(t, conn, socksRequestFor(1, "example.com", 443))
		mustRead(t, conn, "\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00")
		mustEcho(t, conn, "\x00x")
	}
}

func TestSocks4(t *testing.T) {
	w := attemptWorld(t)
	conn := dialProxy(t, w.proxy(t, publicA, "example.com"))
	send(t, conn, "\x04\x01\x01\xbb\x5d\xb8\xd7\x0euser\x00")
	if got, err := io.ReadAll(conn); err != nil || string(got) != "\x00\x5b\x00\x00\x00\x00\x00\x00" || len(w.dials()) > 0 {
		t.Errorf("%x, %v, dialed %v", got, err, w.dials())
	}
}

// A client may send the request in single bytes, and data right after it.
func TestSocksInPieces(t *testing.T) {
	w := attemptWorld(t)
	conn := dialProxy(t, w.proxy(t, "example.com"))
	for _, b := range []byte("\x05\x01\x00" + socksRequestFor(1, "example.com", 443) + "\x00data") {
		send(t, conn, string([]byte{b}))
	}
	mustRead(t, conn, "\x05\x00\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00data")
}

func FuzzSocks(f *testing.F) {
	for _, s := range []string{
		"\x01\x00" + socksRequestFor(1, "example.com", 443), "\x01\x02\x01\x01u\x01p" + socksRequestFor(1, "127.1", 80),
		"\x01\x00\x05\x01\x00\x01\x5d\xb8\xd7\x0e\x01\xbb", "\x01\x00" + socksRequestFor(3, "evil\x00.example.com", 1),
	} {
		f.Add([]byte(s))
	}
	p := New(Options{Grants: grants(f, "example.com", "*.example.com:*", publicA)})
	f.Fuzz(func(t *testing.T, sent []byte) {
		in := bytes.NewReader(sent)
		got, _, err := p.socksTarget(struct {
			io.Reader
			io.Writer
		}{in, io.Discard})
		if err != nil {
			return
		}
		// Every admitted target is in the grants, in canonical form.
		isBelow := strings.HasSuffix(got.name, ".example.com") && !strings.ContainsAny(got.name, "\x00 /@")
		if got.name != "example.com" && !isBelow && got.addr.String() != publicA || got.port == 0 {
			t.Fatalf("%q gets through as %v", sent, got)
		}
	})
}
