package confine

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
)

var relayAddress = netip.MustParseAddrPort("127.0.0.1:3128")

// relayed builds a sandbox whose init starts a relay, and returns the listener of its clients.
func relayed(t *testing.T) (change func(*Spec), listener *RelayListener) {
	t.Helper()
	program, err := OpenRelay(relayAddress)
	if err != nil {
		t.Fatal(err)
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	network, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		unix.Close(program)
		null.Close()
		unix.Close(network[1])
	})
	if listener, err = ListenRelay(network[0]); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	return func(s *Spec) {
		s.Plan.Landlock = 0 // it would forbid bind
		s.Command.Init, s.Command.Kept = program, []int{int(null.Fd()), network[1]}
		s.Command.Limits = []Limit{{Resource: unix.RLIMIT_NOFILE, Value: RelayFiles}}
	}, listener
}

// serve answers every connection in a goroutine.
func serve(listener *RelayListener, answer func(*net.UnixConn)) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go answer(conn.(*net.UnixConn))
	}
}

// python runs a script behind a relay.
func python(t *testing.T, answer func(*net.UnixConn), script string) string {
	t.Helper()
	hosttest.Needs(t, "python3")
	change, listener := relayed(t)
	go serve(listener, answer)
	text, end := shell(t, change, "/usr/bin/python3", "-I", "-S", "-c", "import socket, threading, hashlib, os, signal, sys, time\naddress = ('127.0.0.1', 3128)\n"+script)
	if end.Status == nil || *end.Status != 0 {
		t.Errorf("the end of the command is %+v: %s", end, text)
	}
	return text
}

// echo returns what it gets, until it ends.
func echo(conn *net.UnixConn) {
	_, _ = io.Copy(conn, conn)
	_ = conn.CloseWrite()
	_, _ = io.Copy(io.Discard, conn)
	_ = conn.Close()
}

// Bytes pass in both directions at once, for many clients, and so does the end of each
// direction: the answer ends only after the request has.
func TestRelayCopies(t *testing.T) {
	got := python(t, func(conn *net.UnixConn) {
		defer conn.Close()
		sum := sha256.New()
		done := make(chan struct{})
		go func() { // in the other direction meanwhile, also when nobody reads
			defer close(done)
			random := make([]byte, 1<<20)
			_, _ = rand.Read(random)
			own := sha256.Sum256(random)
			_, _ = conn.Write(append(own[:], random...))
		}()
		n, _ := io.Copy(sum, conn)
		<-done
		_, _ = fmt.Fprintf(conn, "%d %s", n, hex.EncodeToString(sum.Sum(nil)))
		_ = conn.CloseWrite()
		_, _ = io.Copy(io.Discard, conn)
	}, `
def one(i, results):
    s = socket.create_connection(address)
    data = os.urandom(1 << 20)
    sender = threading.Thread(target=lambda: (s.sendall(data), s.shutdown(socket.SHUT_WR)))
    sender.start()
    if i % 2: time.sleep(0.2)
    answer = bytearray()
    while part := s.recv(1 << 16): answer += part
    sender.join()
    down = bytes(answer[32:32 + (1 << 20)])
    results[i] = hashlib.sha256(down).digest() == bytes(answer[:32]) and answer[32 + (1 << 20):].decode() == f"{len(data)} {hashlib.sha256(data).hexdigest()}"
results = [None] * 32
threads = [threading.Thread(target=one, args=(i, results)) for i in range(32)]
for t in threads: t.start()
for t in threads: t.join()
print(results.count(True))
`)
	if got != "32\n" {
		t.Errorf("%s", got)
	}
}

// Either side may end first, and what was sent before arrives.
func TestRelayEnds(t *testing.T) {
	for name, test := range map[string]struct {
		answer       func(*net.UnixConn)
		script, want string
	}{
		"the server": {func(conn *net.UnixConn) {
			_, _ = conn.Write(bytes.Repeat([]byte("x"), 300_000))
			_ = conn.CloseWrite()
			n, _ := io.Copy(io.Discard, conn)
			if n != 300_000 {
				t.Errorf("%d bytes arrived", n)
			}
			_ = conn.Close()
		}, `
s = socket.create_connection(address)
n = 0
while part := s.recv(1 << 16): n += len(part)
s.sendall(b"y" * 300_000)
s.close()
print(n)
time.sleep(0.5) # until all has arrived
`, "300000\n"},
		"the client at once": {echo, `
for i in range(200): socket.create_connection(address).close()
s = socket.create_connection(address)
s.sendall(b"hello")
print(s.recv(10).decode())
`, "hello\n"},
		"the client with a reset": {echo, `
import struct
for i in range(50):
    s = socket.create_connection(address)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    s.sendall(b"x" * 1000)
    s.close()
s = socket.create_connection(address)
s.sendall(b"hello")
print(s.recv(10).decode())
`, "hello\n"},
		"the server at once": {func(conn *net.UnixConn) { _ = conn.Close() }, `
for i in range(50):
    s = socket.create_connection(address)
    try: assert s.recv(10) == b""
    except ConnectionResetError: pass
    s.close()
print("done")
`, "done\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := python(t, test.answer, test.script); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// Clients above the bound wait until another one ends; one that takes everything does not stop
// the others.
func TestRelayBounds(t *testing.T) {
	got := python(t, echo, `
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024))
held = [socket.create_connection(address) for _ in range(512)]
held[511].sendall(b"last")
print(held[511].recv(10).decode())
late = socket.create_connection(address)
late.sendall(b"late")
late.settimeout(0.3)
try: print(late.recv(10))
except TimeoutError: print("waits")
held.pop(100).close()
late.settimeout(10)
print(late.recv(10).decode())

greedy = held[0]
def flood():
    try:
        while True: greedy.send(b"x" * 65536)
    except OSError: pass
def drain():
    try:
        while greedy.recv(1 << 20): pass
    except OSError: pass
for f in (flood, drain): threading.Thread(target=f, daemon=True).start()
for i in range(1, 50):
    held[i].settimeout(10)
    held[i].sendall(b"turn")
    assert held[i].recv(10) == b"turn"
print("turns", flush=True)
os._exit(0)
`)
	if got != "last\nwaits\nlate\nturns\n" {
		t.Errorf("%q", got)
	}
}

// Whoever kills the relay, or takes its socket, loses the network or asks for connections; the
// init and the command go on.
func TestRelayKilled(t *testing.T) {
	got := python(t, echo, `
signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.kill(0, signal.SIGTERM) # to its group
print(sorted(os.listdir("/proc/self/fd"))) # nothing of the relay's, and one of the test's
s = socket.create_connection(address)
s.sendall(b"hello")
print(s.recv(10).decode())
os.kill(2, signal.SIGSTOP); os.kill(2, signal.SIGCONT)
s.sendall(b"again")
print(s.recv(10).decode())
os.kill(2, signal.SIGKILL)
try: print("it sends", s.recv(10))
except ConnectionResetError: print("reset")
try: socket.create_connection(address)
except ConnectionRefusedError: print("refused")
`)
	if got = strings.Replace(got, "it sends b''", "reset", 1); got != "['0', '1', '2', '3', '4']\nhello\nagain\nreset\nrefused\n" {
		t.Errorf("%q", got)
	}
}

// Without a stream a client is closed, and the next one gets one.
func TestRelayWithoutStream(t *testing.T) {
	hosttest.Needs(t, "python3")
	change, listener := relayed(t)
	go func() {
		var request [1]byte
		for range 3 {
			_, _ = listener.network.Read(request[:])
			_, _ = listener.network.Write(request[:])
		}
		serve(listener, echo)
	}()
	text, _ := shell(t, change, "/usr/bin/python3", "-I", "-S", "-c", `
import socket
for i in range(3):
    try: assert socket.create_connection(("127.0.0.1", 3128)).recv(1) == b""
    except ConnectionResetError: pass
s = socket.create_connection(("127.0.0.1", 3128))
s.sendall(b"hello")
print(s.recv(10).decode())
`)
	if text != "hello\n" {
		t.Errorf("%q", text)
	}
}

// What a guest sends on the socket is a request, or nothing. Accept ends with the listener.
func TestRelayListener(t *testing.T) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pair[1])
	listener, err := ListenRelay(pair[0])
	if err != nil {
		t.Fatal(err)
	}
	var accepted sync.WaitGroup
	var ended error
	accepted.Go(func() {
		for {
			conn, err := listener.Accept()
			if ended = err; err != nil {
				return
			}
			_, _ = conn.Write([]byte("x"))
			_ = conn.Close()
		}
	})
	for _, junk := range [][]byte{{0}, bytes.Repeat([]byte("junk"), 1000)} {
		if err := unix.Sendmsg(pair[1], junk, unix.UnixRights(pair[1], pair[1]), nil, 0); err != nil {
			t.Fatal(err)
		}
		data, rights := make([]byte, 10), make([]byte, 64)
		n, size, _, _, err := unix.Recvmsg(pair[1], data, rights, unix.MSG_CMSG_CLOEXEC)
		if err != nil || n != 1 {
			t.Fatalf("%d bytes, %v", n, err)
		}
		fds, err := descriptorsIn(rights[:size])
		if err != nil || len(fds) != 1 {
			t.Fatalf("%v, %v", fds, err)
		}
		if n, err := unix.Read(fds[0], data); n != 1 || err != nil {
			t.Errorf("%d bytes, %v", n, err)
		}
		unix.Close(fds[0])
	}
	// A guest that does not take its streams makes only itself wait.
	for range 1000 {
		if err := unix.Send(pair[1], []byte{0}, unix.MSG_DONTWAIT); err != nil {
			break
		}
	}
	_ = listener.Close()
	accepted.Wait()
	if ended == nil {
		t.Error("Accept goes on")
	}
}

func TestRelayProgram(t *testing.T) {
	file, err := elf.NewFile(bytes.NewReader(relayProgram(relayAddress)))
	if err != nil {
		t.Fatal(err)
	}
	if file.Type != elf.ET_EXEC || file.Machine != initMachine || len(file.Progs) != 4 {
		t.Errorf("%+v", file.FileHeader)
	}
	for _, p := range file.Progs {
		if p.Flags&(elf.PF_W|elf.PF_X) == elf.PF_W|elf.PF_X {
			t.Errorf("a segment can be written and executed: %+v", p.ProgHeader)
		}
	}
}
