package jail

import (
	"bytes"
	"encoding/binary"
	"errors"
	"net"
	"net/netip"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/egress"
	"github.com/cordon-sandbox/cordon/internal/hints"
	"github.com/cordon-sandbox/cordon/internal/notify"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// sockets makes the TCP sockets of a command: each is already connected to the proxy. A pair
// of local sockets would not do, because clients ask for the address of their peer.
type sockets struct{ listener *net.TCPListener }

func (s *sockets) close() {
	if s.listener != nil {
		_ = s.listener.Close() // nothing was sent on it
	}
}

// pair returns a blocking socket, and the other end.
func (s *sockets) pair() (theirs int, ours net.Conn, err error) {
	if s.listener == nil {
		if s.listener, err = net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}); err != nil {
			return -1, nil, err
		}
	}
	if theirs, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0); err != nil {
		return -1, nil, err
	}
	port := s.listener.Addr().(*net.TCPAddr).Port
	if err = unix.Connect(theirs, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}); err == nil {
		ours, err = s.accept(theirs)
	}
	if err != nil {
		unix.Close(theirs)
		return -1, nil, err
	}
	return theirs, ours, nil
}

// accept accepts our own connection. Other processes of the host may connect, too.
func (s *sockets) accept(theirs int) (net.Conn, error) {
	name, err := unix.Getsockname(theirs)
	if err != nil {
		return nil, err
	}
	for {
		conn, err := s.listener.AcceptTCP()
		if err != nil {
			return nil, err
		}
		if conn.RemoteAddr().(*net.TCPAddr).Port == name.(*unix.SockaddrInet4).Port {
			return conn, nil
		}
		_ = conn.Close()
	}
}

// socket gives a command with a proxy a TCP socket. Many programs only try whether there is
// IPv6 or UDP, which is no violation.
func (a *answers) socket(q notify.Question) bool {
	proxy := a.guest.proxy
	if q.Args[0] == unix.AF_INET6 || q.Args[1]&unix.SOCK_DGRAM != 0 {
		a.guest.miss()
		q.Refuse(a.fd, unix.EAFNOSUPPORT)
		return true
	}
	if proxy == nil {
		return false
	}
	theirs, ours, err := a.sockets.pair()
	if err != nil {
		a.guest.miss()
		q.Refuse(a.fd, unix.ENOBUFS)
		return true
	}
	defer unix.Close(theirs)
	if q.Args[1]&unix.SOCK_NONBLOCK != 0 {
		err = unix.SetNonblock(theirs, true)
	}
	if err == nil {
		err = q.Give(a.fd, theirs, q.Args[1]&unix.SOCK_CLOEXEC != 0)
	}
	if err != nil {
		_ = ours.Close()
		a.guest.miss()
		if !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.EINPROGRESS) { // it waits no more
			q.Refuse(a.fd, unix.EMFILE)
		}
		return true
	}
	proxy.ServeConn(ours)
	return true
}

// connect answers every connect, and executes none: a TCP socket is connected to the proxy
// already, and a local one may not connect to services of the host. The guest may change the
// address while we read it, which does not matter, because nobody connects to it.
func (a *answers) connect(q notify.Question) {
	address := make([]byte, min(q.Args[2], unix.SizeofSockaddrUnix))
	if len(address) < 2 || q.Memory(q.Args[1], address) != nil {
		q.Refuse(a.fd, unix.EFAULT)
		return
	}
	switch family := binary.NativeEndian.Uint16(address); {
	case family == unix.AF_UNIX:
		a.connectLocal(q, localName(address[2:]))
	case family == unix.AF_INET && len(address) >= unix.SizeofSockaddrInet4:
		to := netip.AddrPortFrom(netip.AddrFrom4([4]byte(address[4:8])), binary.BigEndian.Uint16(address[2:]))
		if a.guest.proxy != nil && to == egress.GuestAddress {
			q.Succeed(a.fd)
			return
		}
		a.deny(q, unix.ENETUNREACH, hints.Give(run.Violation{
			Wall: policy.WallEgress, Op: "connect", Detail: to.String() + ": not through the proxy",
		}, hints.UseProxy, nil))
	default:
		a.guest.miss()
		q.Refuse(a.fd, unix.EAFNOSUPPORT)
	}
}

// nameService is where C libraries look for a cache of users and hosts. They can do without.
const nameService = "/var/run/nscd/socket"

func (a *answers) connectLocal(q notify.Question, name string) {
	if name == nameService {
		a.guest.miss()
		q.Refuse(a.fd, unix.ENOENT)
		return
	}
	a.deny(q, unix.EACCES, hints.Give(run.Violation{Wall: policy.WallSeccomp, Op: "connect", Detail: name}, "host_socket", nil))
}

// localName is the path in a struct sockaddr_un; an abstract name begins with @.
func localName(path []byte) string {
	if len(path) > 0 && path[0] == 0 {
		return "@" + string(path[1:])
	}
	before, _, _ := bytes.Cut(path, []byte{0})
	return string(before)
}
