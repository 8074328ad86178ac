package jail

import (
	"net"
	"net/netip"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/egress"
	"github.com/cordon-sandbox/cordon/internal/hints"
	"github.com/cordon-sandbox/cordon/internal/notify"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// socket gives a command with a proxy a TCP socket that is connected to it. Many programs only
// try whether there is IPv6 or UDP, which is no violation.
func (a *answers) socket(q notify.Question) bool {
	proxy := a.guest.proxy
	if q.Args[0] == unix.AF_INET6 || q.Args[1]&unix.SOCK_DGRAM != 0 {
		q.Refuse(a.fd, unix.EAFNOSUPPORT)
		return true
	}
	if proxy == nil {
		return false
	}
	theirs, ours, err := connectedPair()
	if err != nil {
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
		_ = ours.Close() // nothing was sent on it
		if !notify.IsLate(err) {
			q.Refuse(a.fd, unix.EMFILE)
		}
		return true
	}
	proxy.ServeConn(ours)
	return true
}

// connectedPair returns two TCP sockets that are connected to each other. A pair of local
// sockets would not do, because clients ask for the address of their peer. It listens only for
// that long: other processes of the host could connect, too.
func connectedPair() (theirs int, ours net.Conn, err error) {
	listener, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return -1, nil, err
	}
	defer func() { _ = listener.Close() }() // it has no data
	if theirs, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0); err != nil {
		return -1, nil, err
	}
	port := listener.Addr().(*net.TCPAddr).Port
	if err = unix.Connect(theirs, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}); err == nil {
		ours, err = acceptFrom(listener, theirs)
	}
	if err != nil {
		unix.Close(theirs)
		return -1, nil, err
	}
	return theirs, ours, nil
}

// acceptFrom accepts the connection of a socket of ours.
func acceptFrom(listener *net.TCPListener, socket int) (net.Conn, error) {
	name, err := unix.Getsockname(socket)
	if err != nil {
		return nil, err
	}
	local := name.(*unix.SockaddrInet4)
	from := netip.AddrPortFrom(netip.AddrFrom4(local.Addr), uint16(local.Port))
	for {
		conn, err := listener.AcceptTCP()
		if err != nil {
			return nil, err
		}
		if conn.RemoteAddr().(*net.TCPAddr).AddrPort() == from {
			return conn, nil
		}
		_ = conn.Close() // a stranger's
	}
}

// connect answers every connect, and executes none: a TCP socket is connected to the proxy
// already, and a local one may not connect to services of the host. The guest may change the
// address while we read it, which does not matter, because nobody connects to it.
func (a *answers) connect(q notify.Question) {
	address, err := q.Address(a.fd, q.Args[1], q.Args[2])
	switch {
	case err != nil:
		a.respond(q, err)
	case address.Name == nameService: // programs can do without, and try it again and again
		q.Refuse(a.fd, unix.ENOENT)
	case !address.Host.IsValid():
		a.deny(q, unix.EACCES, hints.Give(run.Violation{Wall: policy.WallSeccomp, Op: "connect", Detail: address.Name}, "host_socket", nil))
	case a.guest.proxy != nil && address.Host == egress.GuestAddress:
		q.Succeed(a.fd)
	default:
		a.deny(q, unix.ENETUNREACH, hints.Give(run.Violation{
			Wall: policy.WallEgress, Op: "connect", Detail: address.Host.String() + ": not through the proxy",
		}, hints.UseProxy, nil))
	}
}

// nameService is where C libraries look for a cache of users and hosts.
const nameService = "/var/run/nscd/socket"
