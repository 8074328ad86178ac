package confine

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"

	"golang.org/x/sys/unix"
)

// A guest with a network stack of its own, as on gVisor, reaches the Runner's proxy through a
// relay: the guest cannot have a socket that is connected to the outside, and the Runner
// cannot listen inside.
//
// The relay is the first program of such a guest. It listens on the guest's loopback and
// forks. The child is the relay from then on; the parent continues with the code of the init,
// which follows in the file. For each client the relay sends one byte on the network socket,
// and receives a descriptor: a local stream, whose other end is a connection to the proxy. It
// copies bytes in both directions until both have ended, and passes on the end of each.
//
// It is one thread, which waits for all connections at once: each thread would count against
// the guest's limit on processes. It has room for 512 connections; further clients wait until
// one of them ends. A guest can kill it or trace it, and then has no network, or asks for
// connections to the proxy itself.
//
// Its source is relay/amd64.s and relay/arm64.s.
const (
	// NestedNetworkFD is the network socket.
	NestedNetworkFD = NestedControlFD + 2

	relayBase = 0x1000000
	// relaySize is a part with its own data, and 64 KiB for each connection.
	relaySize = 0x10000 + 512*0x10000
	// RelayFiles is how many descriptors the relay has: two for each connection, and its own.
	RelayFiles = 2*512 + 16
)

// relayProgram returns the ELF file of a relay that listens on an address, and of the init.
func relayProgram(address netip.AddrPort) []byte {
	at := binary.NativeEndian.AppendUint16(nil, unix.AF_INET) // struct sockaddr_in
	at = binary.BigEndian.AppendUint16(at, address.Port())
	at = append(at, address.Addr().AsSlice()...)
	at = append(at, make([]byte, unix.SizeofSockaddrInet4-len(at))...)
	memory := elfSegment{Type: elfLoad, Flags: elfRead | elfWrite, Vaddr: relayBase, Memsz: relaySize, Align: 0x1000}
	return elfProgram(at, append(append([]byte{}, relayCode...), initCode...), memory)
}

// OpenRelay returns a descriptor of a program that becomes an init, after it has started a
// relay that listens on an IPv4 address. The caller closes it.
func OpenRelay(address netip.AddrPort) (int, error) {
	return openProgram("cordon-relay", relayProgram(address))
}

// RelayListener accepts the clients of a relay.
type RelayListener struct{ network *net.UnixConn }

// ListenRelay returns a listener for our end of the network socket, a SOCK_SEQPACKET pair. It
// takes the descriptor.
func ListenRelay(network int) (*RelayListener, error) {
	conn, err := connOf(network)
	if err != nil {
		return nil, fmt.Errorf("network socket: %w", err)
	}
	return &RelayListener{conn}, nil
}

// Accept answers the next request of the relay with a stream, and returns its other end.
// Whatever the message says is a request. Descriptors that somebody in the sandbox sends are
// dropped by the kernel, because nobody asks for them here.
func (l *RelayListener) Accept() (net.Conn, error) {
	var request [1]byte
	if _, err := l.network.Read(request[:]); errors.Is(err, io.EOF) {
		return nil, net.ErrClosed // the relay has ended, and every other process with the socket
	} else if err != nil {
		return nil, err
	}
	conn, stream, err := newStream()
	if err == nil {
		_, _, err = l.network.WriteMsgUnix(request[:], unix.UnixRights(stream), nil)
		unix.Close(stream)
		if err == nil {
			return conn, nil
		}
		_ = conn.Close() // nothing was sent on it
	}
	_, _ = l.network.Write(request[:]) // without a stream: the relay closes the connection
	return nil, fmt.Errorf("stream: %w", err)
}

// newStream returns the two ends of a stream.
func newStream() (ours *net.UnixConn, theirs int, err error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, -1, err
	}
	if ours, err = connOf(pair[0]); err != nil {
		unix.Close(pair[1])
	}
	return ours, pair[1], err
}

// Close ends Accept, and the relay.
func (l *RelayListener) Close() error { return l.network.Close() }

// Addr returns an address without a name.
func (l *RelayListener) Addr() net.Addr { return l.network.LocalAddr() }

// connOf returns a connection for a local socket, and closes the descriptor.
func connOf(socket int) (*net.UnixConn, error) {
	file := os.NewFile(uintptr(socket), "socket")
	defer func() { _ = file.Close() }() // the connection has a duplicate
	conn, err := net.FileConn(file)
	if err != nil {
		return nil, err
	}
	return conn.(*net.UnixConn), nil
}
