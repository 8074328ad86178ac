package zygote

import (
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
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
		} else if isAnswered(err) {
			w.countMissed()
		}
		return err == nil || isShortage(err) || isAnswered(err)
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

// isAnswered recognizes a guest that does not wait any more: a signal has reached it or
// us.
func isAnswered(err error) bool {
	return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EINPROGRESS)
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
	address, ok := addressOf(q.PID, q.Args[1], q.Args[2])
	if ok && address == n.Proxy {
		q.Succeed(fd)
		return
	}
	detail := "an invalid address"
	if ok {
		detail = address.String()
	}
	w.deny(fd, q, unix.ENETUNREACH, hints.Give(run.Violation{
		Wall: policy.WallEgress, Op: "connect", Detail: detail + ": not through the proxy",
	}, hints.UseProxy, nil))
}

func addressOf(pid int, at, size uint64) (netip.AddrPort, bool) {
	data := make([]byte, unix.SizeofSockaddrInet6)
	if size < unix.SizeofSockaddrInet4 {
		return netip.AddrPort{}, false
	}
	data = data[:min(uint64(len(data)), size)]
	local := unix.Iovec{Base: &data[0]}
	local.SetLen(len(data))
	got, err := unix.ProcessVMReadv(pid, []unix.Iovec{local}, []unix.RemoteIovec{{Base: uintptr(at), Len: len(data)}}, 0)
	if err != nil || got != len(data) {
		return netip.AddrPort{}, false
	}
	port := binary.BigEndian.Uint16(data[2:])
	switch binary.NativeEndian.Uint16(data) {
	case unix.AF_INET:
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte(data[4:8])), port), true
	case unix.AF_INET6:
		if len(data) >= 24 {
			return netip.AddrPortFrom(netip.AddrFrom16([16]byte(data[8:24])), port), true
		}
	}
	return netip.AddrPort{}, false
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
