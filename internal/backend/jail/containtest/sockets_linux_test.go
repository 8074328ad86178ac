package containtest

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// socketCalls open sockets for protocols other than TCP, UDP, local sockets and the list of
// interfaces. Each protocol is a parser in the kernel, and no namespace covers some of them.
var socketCalls = []systemCall{
	socketOf("packets", unix.AF_PACKET, unix.SOCK_RAW, 0x300, true),
	socketOf("packets, cooked", unix.AF_PACKET, unix.SOCK_DGRAM, 0x300, true),
	socketOf("packets in 64 bits", unix.AF_PACKET|1<<32, unix.SOCK_RAW, 0x300, true),
	socketOf("raw", unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP, true),
	socketOf("raw, version 6", unix.AF_INET6, unix.SOCK_RAW, unix.IPPROTO_ICMPV6, true),
	socketOf("raw, flags in 64 bits", unix.AF_INET, unix.SOCK_RAW|1<<32, unix.IPPROTO_ICMP, true),
	socketOf("ping", unix.AF_INET, unix.SOCK_DGRAM, unix.IPPROTO_ICMP, true),
	socketOf("multipath TCP", unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP, false),
	socketOf("SCTP", unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_SCTP, false),
	socketOf("UDP-Lite", unix.AF_INET, unix.SOCK_DGRAM, unix.IPPROTO_UDPLITE, false),
	socketOf("audit", unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_AUDIT, false),
	socketOf("generic netlink", unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_GENERIC, false),
	socketOf("netfilter", unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_NETFILTER, false),
	socketOf("IPsec", unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_XFRM, false),
	socketOf("events of devices", unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_KOBJECT_UEVENT, false),
	socketOf("socket diagnosis", unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_SOCK_DIAG, false),
	socketOf("connector", unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_CONNECTOR, false),
	socketOf("algorithms", unix.AF_ALG, unix.SOCK_SEQPACKET, 0, false),
	socketOf("hypervisor", unix.AF_VSOCK, unix.SOCK_STREAM, 0, false),
	socketOf("hypervisor in 64 bits", unix.AF_VSOCK|1<<40, unix.SOCK_STREAM, 0, false),
	socketOf("keys", unix.AF_KEY, unix.SOCK_RAW, 2, true),
	socketOf("XDP", unix.AF_XDP, unix.SOCK_RAW, 0, true),
	socketOf("Bluetooth", unix.AF_BLUETOOTH, unix.SOCK_RAW, 1, false),
	socketOf("CAN", unix.AF_CAN, unix.SOCK_RAW, 1, false),
	socketOf("TIPC", unix.AF_TIPC, unix.SOCK_STREAM, 0, false),
	socketOf("RDS", unix.AF_RDS, unix.SOCK_SEQPACKET, 0, false),
	socketOf("SMC", unix.AF_SMC, unix.SOCK_STREAM, 0, false),
	socketOf("KCM", unix.AF_KCM, unix.SOCK_DGRAM, 0, false),
	socketOf("L2TP", unix.AF_PPPOX, unix.SOCK_DGRAM, 1, false),
	socketOf("routers", unix.AF_QIPCRTR, unix.SOCK_DGRAM, 0, false),
	{name: "socketpair of AF_INET", number: unix.SYS_SOCKETPAIR, args: []uintptr{unix.AF_INET, unix.SOCK_STREAM, 0, badAddress}},
	{name: "netfilter option", number: unix.SYS_SETSOCKOPT, args: []uintptr{badFD, unix.IPPROTO_IP, 64, 0, 0}},
	{name: "socket filter program", number: unix.SYS_SETSOCKOPT, args: []uintptr{badFD, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, 0, 0}},
}

func socketOf(name string, family, kind, protocol uintptr, root bool) systemCall {
	c := systemCall{name: "socket: " + name, number: unix.SYS_SOCKET, args: []uintptr{family, kind, protocol}, root: root}
	if name == "ping" {
		c.skipReason = "a host may give these to no group"
	}
	return c
}

func socketAttempts() []attempt { return inWall("sockets", attemptsOf(socketCalls)) }

// networkAttempts try to reach anything other than the command's own loopback interface.
func networkAttempts() []attempt {
	return inWall("network", []attempt{
		{name: "TCP to the host", act: "dial", params: map[string]any{"network": "tcp4", "address": "127.0.0.1", "port": "tcp4_port"}, proof: naked},
		{name: "TCP to the host over IPv6", act: "dial", params: map[string]any{"network": "tcp6", "address": "::1", "port": "tcp6_port"}, proof: naked},
		{name: "TCP to the host's other loopback addresses", act: "dial", params: map[string]any{"network": "tcp4", "address": "0.0.0.0", "port": "tcp4_port"}, proof: naked},
		{name: "TCP to the host, with the first data", act: "fast open", proof: naked},
		{name: "TCP to the host, on a socket of the proxy", act: "fast open", plant: func(_ *testing.T, s *scene) {
			s.grant(func(p *policy.Policy) { p.AllowNet = []string{"example.com:443"} })
		}, proof: naked},
		{name: "UDP to the host", act: "dial", params: map[string]any{"network": "udp4", "address": "127.0.0.1", "port": "udp4_port"}, canary: true, proof: naked},
		{name: "UDP to the host over IPv6", act: "dial", params: map[string]any{"network": "udp6", "address": "::1", "port": "udp6_port"}, canary: true, proof: naked},
		{name: "interfaces", act: "interfaces", proof: naked},
		{name: "route to the internet", act: "connect to the internet", proof: proof{naked: true, skipReason: "this host has no network"}},
		{name: "routes", sh: `test "$(wc -l < /proc/net/route)" -gt 1 && escaped; held`, proof: proof{naked: true, skipReason: "this host has no network"}},
		{name: "name server", sh: `test -e /etc/resolv.conf && escaped; held`, proof: proof{naked: true, skipReason: "this host has no name server"}},
		{name: "connections of the host", sh: `p=$(printf ':%04X ' "$port_number"); grep -q "$p" /proc/net/tcp && escaped; held`,
			plant: func(_ *testing.T, s *scene) {
				s.request.Command.Env = map[string]string{"port_number": fmt.Sprint(s.params["tcp4_port"])}
			}, proof: naked},
		{name: "change its own interface", sh: `must_fail ip link set lo down; must_fail ip addr add 10.1.2.3/8 dev lo; must_fail ip link add type dummy; held`,
			proof: withoutWalls(setupWalls...)},
		{name: "the host through the proxy", act: "proxy", plant: func(_ *testing.T, s *scene) {
			s.grant(func(p *policy.Policy) { p.AllowNet = []string{"example.com:443"} })
		}, proof: proof{none: "there is no proxy without a jail; its own tests show that it connects"}},
		{name: "the proxy's port without a grant", act: "dial", params: map[string]any{"network": "tcp4", "address": "127.0.0.1", "number": "3128"},
			proof: proof{relaxed: func(s *scene) {
				s.grant(func(p *policy.Policy) { p.AllowNet = []string{"example.com:443"} })
			}}},
	})
}

const dialTime = 3 * time.Second

// dial connects, sends a line and reads the answer.
func dial(p params) error {
	address := p.path()
	if key := p.text("abstract_key"); key != "" {
		address = "@" + p.text(key)
	}
	if host := p.text("address"); host != "" {
		number := p.text("number")
		if number == "" {
			number = itoa(p.number(p.text("port")))
		}
		address = net.JoinHostPort(host, number)
	}
	conn, err := net.DialTimeout(p.text("network"), address, dialTime)
	if err != nil {
		return err
	}
	defer conn.Close()
	if strings.HasPrefix(p.text("network"), "tcp") || p.text("network") == "unix" {
		return nil
	}
	// Sending a datagram always succeeds. The answer, or what the host received, shows
	// whether it arrived.
	if _, err := conn.Write([]byte("x")); err != nil {
		return err
	}
	if err := conn.SetReadDeadline(time.Now().Add(dialTime / 10)); err != nil {
		return broken("%v", err)
	}
	answer := make([]byte, 128)
	n, err := conn.Read(answer)
	if err != nil {
		return err
	}
	fmt.Printf("%q\n", answer[:n])
	return nil
}

// fastOpen connects without connect: the address is in the first message.
func fastOpen(p params) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	host := &unix.SockaddrInet4{Port: p.number("tcp4_port"), Addr: [4]byte{127, 0, 0, 1}}
	if err := unix.Sendmsg(fd, []byte("x"), nil, host, unix.MSG_FASTOPEN|unix.MSG_NOSIGNAL); err != nil {
		return err
	}
	// The host answers. The connection may still be under way.
	wait := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	n, err := unix.Poll(wait, int(dialTime.Milliseconds()))
	for errors.Is(err, unix.EINTR) {
		n, err = unix.Poll(wait, int(dialTime.Milliseconds()))
	}
	answer := make([]byte, 128)
	if err == nil && n > 0 {
		n, err = unix.Read(fd, answer)
	}
	if err == nil && n == 0 {
		err = errors.New("no answer")
	}
	return err
}

var networkActs = map[string]act{
	"fast open": fastOpen,
	"interfaces": func(params) error {
		all, err := net.Interfaces()
		if err != nil {
			return err
		}
		for _, i := range all {
			if i.Name != "lo" {
				fmt.Println(i.Name)
				return nil
			}
		}
		return errors.New("its own loopback alone")
	},
	"connect to the internet": func(params) error {
		results := map[string]error{}
		for _, address := range []string{"8.8.8.8:53", "[2001:4860:4860::8888]:53", "169.254.169.254:80", "10.0.0.1:80", "224.0.0.1:80", "255.255.255.255:80"} {
			conn, err := net.DialTimeout("udp", address, dialTime)
			if err == nil {
				_, err = conn.Write([]byte("x"))
			}
			results[address] = err
		}
		return anyOf(results)
	},
	"mount cgroup": func(params) error {
		return anyOf(map[string]error{
			"2": unix.Mount("x", "/tmp", "cgroup2", 0, ""), "1": unix.Mount("x", "/tmp", "cgroup", 0, "memory"),
		})
	},
	"proxy": askProxy,
}

// askProxy asks the proxy to connect to the host, by each of its names.
func askProxy(p params) error {
	results := map[string]error{}
	port := itoa(p.number("tcp4_port"))
	for _, host := range []string{"127.0.0.1", "localhost", "0.0.0.0", "[::1]", "0177.0.0.1", "2130706433", "127.1", "[::ffff:127.0.0.1]"} {
		for name, request := range map[string]string{
			"CONNECT": "CONNECT " + host + ":" + port + " HTTP/1.1\r\nHost: " + host + ":" + port + "\r\n\r\n",
			"GET":     "GET http://" + host + ":" + port + "/ HTTP/1.1\r\nHost: " + host + "\r\n\r\n",
			"lie":     "CONNECT " + host + ":" + port + " HTTP/1.1\r\nHost: example.com:443\r\n\r\n",
		} {
			results[name+" "+host] = askOnce(request)
		}
	}
	return anyOf(results)
}

func askOnce(request string) error {
	conn, err := net.DialTimeout("tcp", strings.TrimPrefix(os.Getenv("http_proxy"), "http://"), dialTime)
	if err != nil {
		return broken("%v", err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte(request)); err != nil {
		return broken("%v", err)
	}
	if err := conn.SetReadDeadline(time.Now().Add(dialTime)); err != nil {
		return broken("%v", err)
	}
	answer := make([]byte, 256)
	n, err := conn.Read(answer)
	if err == nil && strings.Contains(string(answer[:n]), " 200 ") {
		return nil
	}
	return fmt.Errorf("%q %w", answer[:min(n, 40)], errors.Join(err, errors.New("no")))
}

// terminalAttempts run at a terminal whose other end the caller holds.
func terminalAttempts() []attempt {
	terminal := func(_ *testing.T, s *scene) {
		s.request.Streams.Terminal = &run.Terminal{Size: run.WindowSize{Rows: 24, Columns: 400}}
	}
	all := []attempt{}
	for _, c := range []struct {
		name    string
		request uintptr
	}{
		{"type into it", unix.TIOCSTI}, {"type into it with high bits", unix.TIOCSTI | 1<<32}, {"select and paste", unix.TIOCLINUX},
		{"line discipline", unix.TIOCSETD},
	} {
		all = append(all, attempt{
			name: c.name, act: "terminal", params: map[string]any{"request": fmt.Sprint(c.request)}, plant: terminal,
			proof: withoutWalls(policy.WallSeccomp),
		})
	}
	return inWall("terminal", append(all,
		attempt{name: "of the caller", sh: `(exec 3<>/dev/tty) 2>&- && escaped; held`, proof: proof{relaxed: func(s *scene) { terminal(nil, s) }}},
		attempt{name: "of others", sh: `for f in /dev/pts/[0-9]*; do test -e "$f" && escaped "$f"; done; held`,
			plant: plantTerminal, proof: naked},
	))
}

// plantTerminal opens a terminal on the host, for attempts to find.
func plantTerminal(t *testing.T, _ *scene) {
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { terminal.Close() })
}

func terminalAct(p params) error {
	var request uintptr
	if _, err := fmt.Sscan(p.text("request"), &request); err != nil {
		return broken("%v", err)
	}
	err := ioctlByte(0, request, 0)
	var errno unix.Errno
	if err != nil && !errors.As(err, &errno) {
		return broken("%v", err)
	}
	return filterError(errno)
}
