package egress

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"strconv"
	"time"

	"github.com/cordon-sandbox/cordon/internal/hints"
)

// The supported part of SOCKS5 (RFC 1928, RFC 1929). The version at the front of the
// greeting is already read.
//
//	guest                                   proxy
//	5, n, n methods                    →
//	                                   ←    5, method
//	1, n, user, n, password            →    only for the method "password"
//	                                   ←    1, 0
//	5, command, 0, kind, host, port    →
//	                                   ←    5, reply, 0, 1, 0.0.0.0, 0
//	the tunnel's bytes                 ↔
const (
	socks4 = 4
	socks5 = 5

	methodNone     = 0
	methodPassword = 2
	methodNoneFits = 0xff

	commandConnect = 1
	commandBind    = 2
	commandUDP     = 3

	kindIPv4 = 1
	kindName = 3
	kindIPv6 = 4

	replyDone        = 0
	replyFailed      = 1
	replyForbidden   = 2
	replyUnreachable = 4
	replyRefused     = 5
	replyNoCommand   = 7
	replyNoKind      = 8
)

var (
	errSocks       = errors.New("not SOCKS5")
	errSocksKind   = errors.New("not an address type of SOCKS5")
	errSocksMethod = errors.New("no supported authentication method")
)

func (p *Proxy) serveSocks(c *guestConn) {
	if c.SetDeadline(time.Now().Add(headerTime)) != nil {
		return
	}
	t, reply, err := p.socksTarget(c.Conn)
	if err != nil {
		p.report(err)
		if reply != replyDone {
			answerSocks(c.Conn, reply)
		}
		linger(c.Conn)
		return
	}
	if c.SetDeadline(time.Time{}) != nil {
		return
	}
	server, to, err := p.dial(p.ctx, t)
	if err != nil {
		p.report(err)
		answerSocks(c.Conn, replyFor(err))
		linger(c.Conn)
		return
	}
	if !answerSocks(c.Conn, replyDone) {
		server.Close()
		return
	}
	p.tunnel(to, c.Conn, server, nil)
}

// socksTarget reads up to the request and judges it. The reply is replyDone if the guest
// gets none.
func (p *Proxy) socksTarget(conn io.ReadWriter) (target, byte, error) {
	if err := agreeMethod(conn); err != nil {
		return target{}, replyDone, err
	}
	request, err := readSocksRequest(conn)
	switch {
	case errors.Is(err, errSocksKind):
		return target{}, replyNoKind, err
	case err != nil:
		return target{}, replyDone, err
	case request.command == commandBind || request.command == commandUDP:
		return target{}, replyNoCommand, &refusal{
			detail: net.JoinHostPort(show(request.host), strconv.Itoa(int(request.port))) + ": SOCKS command " + strconv.Itoa(int(request.command)) + " is not CONNECT",
			hint:   hints.OnlyTCP,
		}
	case request.command != commandConnect:
		return target{}, replyNoCommand, errSocks
	}
	t, err := newTarget(request.host, request.port)
	if err == nil {
		err = p.admit(t)
	}
	return t, replyForbidden, err
}

// agreeMethod accepts any password, because some libraries always send one.
func agreeMethod(conn io.ReadWriter) error {
	methods, err := readVector(conn)
	if err != nil {
		return err
	}
	method := byte(methodNoneFits)
	for _, m := range methods {
		if m == methodNone || m == methodPassword && method == methodNoneFits {
			method = m
		}
	}
	if _, err := conn.Write([]byte{socks5, method}); err != nil {
		return err
	}
	switch method {
	case methodNoneFits:
		return errSocksMethod
	case methodNone:
		return nil
	}
	var version [1]byte
	if _, err := io.ReadFull(conn, version[:]); err != nil {
		return err
	}
	if version[0] != 1 {
		return errSocks
	}
	for range 2 { // user and password
		if _, err := readVector(conn); err != nil {
			return err
		}
	}
	_, err = conn.Write([]byte{1, 0})
	return err
}

type socksRequest struct {
	command byte
	host    string
	port    uint16
}

// readSocksRequest reads exactly the request: the bytes after it belong to the tunnel.
func readSocksRequest(r io.Reader) (socksRequest, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return socksRequest{}, err
	}
	if head[0] != socks5 {
		return socksRequest{}, errSocks
	}
	request := socksRequest{command: head[1]}
	switch head[3] {
	case kindName:
		name, err := readVector(r)
		if err != nil {
			return socksRequest{}, err
		}
		request.host = string(name)
	case kindIPv4, kindIPv6:
		size := 4
		if head[3] == kindIPv6 {
			size = 16
		}
		raw := make([]byte, size)
		if _, err := io.ReadFull(r, raw); err != nil {
			return socksRequest{}, err
		}
		addr, _ := netip.AddrFromSlice(raw)
		request.host = addr.String()
	default:
		return socksRequest{}, errSocksKind
	}
	var port [2]byte
	if _, err := io.ReadFull(r, port[:]); err != nil {
		return socksRequest{}, err
	}
	request.port = uint16(port[0])<<8 | uint16(port[1])
	return request, nil
}

// readVector reads a length byte, and then that many bytes.
func readVector(r io.Reader) ([]byte, error) {
	var size [1]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return nil, err
	}
	data := make([]byte, size[0])
	_, err := io.ReadFull(r, data)
	return data, err
}

func replyFor(err error) byte {
	var r *refusal
	var f *failure
	switch {
	case errors.As(err, &r):
		return replyForbidden
	case errors.As(err, &f) && f.refused:
		return replyRefused
	case errors.As(err, &f):
		return replyUnreachable
	}
	return replyFailed
}

func answerSocks(conn net.Conn, reply byte) bool {
	_, err := conn.Write([]byte{socks5, reply, 0, kindIPv4, 0, 0, 0, 0, 0, 0})
	return err == nil
}

// refuseSocks4 sends a refusal of SOCKS4. That version has no IPv6, and its plain form
// expects the guest to resolve names, which it cannot.
func refuseSocks4(conn net.Conn) {
	const rejected = 0x5b
	if _, err := conn.Write([]byte{0, rejected, 0, 0, 0, 0, 0, 0}); err == nil {
		linger(conn)
	}
}
