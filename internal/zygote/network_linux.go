package zygote

import (
	"errors"
	"net"
	"os"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/hints"
	"github.com/cordon-sandbox/cordon/internal/notify"
	"github.com/cordon-sandbox/cordon/internal/seccomp"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// decideNetwork answers the system calls on sockets of a guest with a Network, and
// reports whether it did.
func (w *Worker) decideNetwork(fd int, q notify.Question) bool {
	n := w.network.Load()
	if n == nil {
		return false
	}
	switch seccomp.Name(q.NR) {
	case "socket":
		if !isTCP(q.Args) {
			return false
		}
		err := giveSocket(fd, q, n)
		if isShortage(err) {
			w.countMissed()
			q.Refuse(fd, unix.EMFILE) // our limit or the guest's; neither is a violation
		} else if notify.IsLate(err) {
			w.countMissed()
		}
		return err == nil || isShortage(err) || notify.IsLate(err)
	case "connect":
		w.decideConnect(fd, q, n)
		return true
	case "setsockopt":
		// These options mean nothing for a socket pair, but clients insist on them.
		if level := int(int32(q.Args[1])); level == unix.IPPROTO_TCP || level == unix.SOL_SOCKET && q.Args[2] == unix.SO_KEEPALIVE {
			q.Succeed(fd)
			return true
		}
	}
	return false
}

func isTCP(args [6]uint64) bool {
	const flags = unix.SOCK_CLOEXEC | unix.SOCK_NONBLOCK
	return (args[0] == unix.AF_INET || args[0] == unix.AF_INET6) && args[1]&^flags == unix.SOCK_STREAM &&
		(args[2] == 0 || args[2] == unix.IPPROTO_TCP)
}

func isShortage(err error) bool {
	return errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE) || errors.Is(err, unix.ENOMEM) || errors.Is(err, unix.ENOBUFS)
}

func giveSocket(fd int, q notify.Question, n *Network) error {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(pair[0])
	ours := os.NewFile(uintptr(pair[1]), "socket")
	defer ours.Close() // FileConn has a duplicate
	conn, err := net.FileConn(ours)
	if err != nil {
		return err
	}
	if q.Args[1]&unix.SOCK_NONBLOCK != 0 {
		err = unix.SetNonblock(pair[0], true)
	}
	if err == nil {
		err = q.Give(fd, pair[0], q.Args[1]&unix.SOCK_CLOEXEC != 0)
	}
	if err != nil {
		conn.Close()
		return err
	}
	n.Serve(conn)
	return nil
}

// decideConnect reads the address from the guest's memory. The guest may change it at any
// time, which does not matter, because nobody connects to it.
func (w *Worker) decideConnect(fd int, q notify.Question, n *Network) {
	address, err := q.Address(fd, q.Args[1], q.Args[2])
	if err == nil && address.Host == n.Proxy {
		q.Succeed(fd)
		return
	}
	detail := "an invalid address"
	if address.Host.IsValid() {
		detail = address.Host.String()
	}
	w.deny(fd, q, unix.ENETUNREACH, hints.Give(run.Violation{
		Wall: policy.WallEgress, Op: "connect", Detail: detail + ": not through the proxy",
	}, hints.UseProxy, nil))
}

// countMissed counts a call whose caller died or was interrupted.
func (w *Worker) countMissed() {
	if w.denials.Miss() == notify.Hammering {
		w.Kill(KilledHammering)
	}
}

// Report records a violation that another wall stopped.
func (w *Worker) Report(v run.Violation) {
	if w.denials.Add(v) == notify.Hammering {
		w.Kill(KilledHammering)
	}
}
