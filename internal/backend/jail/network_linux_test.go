package jail

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/hostpath"
	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// onGVisor opens a backend on gVisor.
func onGVisor(t *testing.T, p policy.Policy) *Backend {
	t.Helper()
	program, err := hostpath.ProgramAt(hosttest.NeedsExtra(t, hosttest.Runsc))
	if err != nil {
		t.Fatal(err)
	}
	b, err := New(Options{Policy: p, Runsc: &program})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// python runs a script in a backend, with the standard library imported and the number of a port.
func python(t *testing.T, b *Backend, port int, script string) run.Result {
	t.Helper()
	hosttest.Needs(t, "python3")
	r, err := attemptOnce(t.Context(), b, backend.Job{Limits: b.options.Policy.Limits, Request: run.Request{
		Command: run.Command{Args: []string{"/usr/bin/python3", "-"}},
		Stdin:   fmt.Sprintf("import ctypes, errno, hashlib, os, resource, signal, socket, sys, threading, time\nport = %d\nproxy = ('127.0.0.1', 3128)\n", port) + tunnel + script,
	}})
	if err != nil {
		t.Fatal(err)
	}
	if !r.OK() {
		t.Errorf("%s %s: %s\n%s", r.Outcome, r.Error, r.Stdout, r.Stderr)
	}
	return r
}

// tunnel connects a socket to a server by way of the proxy.
const tunnel = `
def tunnel(host="127.0.0.1"):
    s = socket.create_connection(proxy)
    s.sendall(f"CONNECT {host}:{port} HTTP/1.1\r\n\r\n".encode())
    answer = b""
    while not answer.endswith(b"\r\n\r\n"):
        part = s.recv(1)
        if not part: return None
        answer += part
    assert b" 200 " in answer, answer
    return s
`

// sums listens on the host. It sends each client a megabyte, and after the end of what the
// client sends its size and checksum.
func sums(t *testing.T) (port int) {
	t.Helper()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go sum(conn)
		}
	}()
	return listener.Addr().(*net.TCPAddr).Port
}

func sum(conn net.Conn) {
	defer conn.Close()
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		random := make([]byte, 1<<20)
		_, _ = rand.Read(random)
		own := sha256.Sum256(random)
		_, _ = conn.Write(append(own[:], random...))
	}()
	hash := sha256.New()
	n, _ := io.Copy(hash, conn)
	<-sent
	_, _ = fmt.Fprintf(conn, "%d %s", n, hex.EncodeToString(hash.Sum(nil)))
}

// granted is a policy for commands that may connect to a port of the host.
func granted(port int) policy.Policy {
	return policy.Policy{AllowInterpreters: true, AllowNet: []string{"127.0.0.1:" + strconv.Itoa(port)}, Limits: policy.Limits{CPUTime: time.Minute, WallTime: time.Minute}}
}

// Many connections at once carry what they should in both directions, and the end of each; the
// traffic is counted. The command has its own limits, not those of the relay, in a sandbox that
// was booted ahead as well.
func TestGVisorNetwork(t *testing.T) {
	port := sums(t)
	b := onGVisor(t, granted(port))
	defer b.Close()
	for range 2 {
		r := python(t, b, port, `
def one(i):
    s = tunnel()
    data = b"x" + os.urandom(1 << 20) # not like a protocol that the proxy reads
    sender = threading.Thread(target=lambda: (s.sendall(data), s.shutdown(socket.SHUT_WR)))
    sender.start()
    if i % 2: time.sleep(0.2) # both directions are full meanwhile
    answer = bytearray()
    while part := s.recv(1 << 16): answer += part
    sender.join()
    down = bytes(answer[32:32 + (1 << 20)])
    results[i] = hashlib.sha256(down).digest() == bytes(answer[:32]) and answer[32 + (1 << 20):].decode() == f"{len(data)} {hashlib.sha256(data).hexdigest()}"
results = [None] * 24
threads = [threading.Thread(target=one, args=(i,)) for i in range(24)]
for t in threads: t.start()
for t in threads: t.join()
print(results.count(True), resource.getrlimit(resource.RLIMIT_NOFILE), os.listdir("/proc/self/fd"))
`)
		if want := "24 (64, 64) ['0', '1', '2', '3']\n"; r.Stdout != want {
			t.Errorf("%q, want %q", r.Stdout, want)
		}
		if len(r.Violations) > 0 {
			t.Errorf("%+v", r.Violations)
		}
		if len(r.Traffic) != 1 || r.Traffic[0].Connections != 24 || r.Traffic[0].Sent < 24<<20 || r.Traffic[0].Received < 24<<20 {
			t.Errorf("%+v", r.Traffic)
		}
		b.mustWait(t, 1) // a booted sandbox has a relay, too
	}
}

// The relay does not take from the command's processes.
func TestGVisorNetworkProcesses(t *testing.T) {
	const script = `
n = 0
try:
    while n < 100:
        if os.fork() == 0: time.sleep(60)
        n += 1
except OSError as e: print(n, errno.errorcode[e.errno])
`
	var counts []string
	for _, p := range []policy.Policy{granted(1), {AllowInterpreters: true}} {
		p.Limits.Processes = 16
		b := onGVisor(t, p)
		counts = append(counts, python(t, b, 1, script).Stdout)
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
	if counts[0] != "15 EAGAIN\n" || counts[1] != counts[0] {
		t.Errorf("%q processes with and without a network", counts)
	}
}

// The guest owns the relay, and can end it, stop it or trace it. It gains nothing: what it
// reaches is its own loopback or the proxy.
func TestGVisorNetworkAttacks(t *testing.T) {
	port := sums(t)
	b := onGVisor(t, granted(port))
	defer b.Close()
	for name, test := range map[string]struct{ script, want string }{
		"the host's ports": {`
for address in ("127.0.0.1", "0.0.0.0", "127.0.0.2", "127.127.127.127"):
    try: socket.create_connection((address, port), 5); print("CONNECTED", address)
    except OSError as e: print(errno.errorcode[e.errno])
`, strings.Repeat("ECONNREFUSED\n", 4)},
		"other addresses": {`
for family, address in ((socket.AF_INET, "8.8.8.8"), (socket.AF_INET, "10.0.0.1"), (socket.AF_INET, "169.254.169.254"), (socket.AF_INET6, "2001:4860:4860::8888")):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        s = socket.socket(family, kind)
        s.settimeout(5)
        try: s.connect((address, 53)); s.send(b"x"); print("CONNECTED", address)
        except OSError as e: print(errno.errorcode.get(e.errno, e))
`, strings.Repeat("ENETUNREACH\n", 8)},
		"another destination": {`
s = socket.create_connection(proxy)
s.sendall(b"CONNECT 127.0.0.1:1 HTTP/1.1\r\n\r\n")
print(s.recv(12).decode())
`, "HTTP/1.1 403\n"},
		"junk on every descriptor": {`
for fd in range(3, 64):
    for send in (lambda: os.write(fd, b"junk"), lambda: socket.send_fds(socket.socket(fileno=os.dup(fd)), [b"x"], [0])):
        try: send(); print("WROTE", fd)
        except OSError: pass
print(tunnel() is not None)
`, "True\n"},
		"the relay's descriptors": {`
found = {fd: os.readlink(f"/proc/2/fd/{fd}").partition(":")[0] for fd in os.listdir("/proc/2/fd")}
for fd in found:
    if found[fd] == "anon_inode": continue # the epoll, which is nothing outside
    try: os.open(f"/proc/2/fd/{fd}", os.O_RDWR); print("OPENED", fd)
    except OSError: pass
libc = ctypes.CDLL(None, use_errno=True)
pid = libc.syscall(434, 2, 0) # pidfd_open
print(sorted(found.values()), libc.syscall(438, pid, 5, 0) < 0) # pidfd_getfd
print(tunnel() is not None)
`, "['anon_inode', 'host', 'socket'] True\nTrue\n"},
		"requests that are not finished": {`
held = [socket.create_connection(proxy) for _ in range(40)]
for s in held: s.sendall(b"\x05")
for i in range(500):
    s = socket.create_connection(proxy)
    s.sendall(b"CONNECT " + b"x" * 100)
    s.close()
print(tunnel() is not None)
`, "True\n"},
		"from many processes": {`
def flood():
    held = []
    try:
        while True: held.append(socket.create_connection(proxy, 1))
    except OSError: time.sleep(2)
children = []
for i in range(12):
    pid = os.fork()
    if pid == 0: flood(); os._exit(0)
    children.append(pid)
time.sleep(3)
for pid in children: os.kill(pid, signal.SIGKILL); os.waitpid(pid, 0)
print(tunnel() is not None)
`, "True\n"},
		"stopped and killed": {`
s = tunnel()
os.kill(2, signal.SIGSTOP)
os.kill(2, signal.SIGCONT)
s.sendall(b"x")
print(len(s.recv(32, socket.MSG_WAITALL)))
os.kill(2, signal.SIGKILL)
try:
    while s.recv(1 << 16): pass
except ConnectionResetError: pass
try: socket.create_connection(proxy)
except ConnectionRefusedError: print("refused")
`, "32\nrefused\n"},
		"traced": {`
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long] * 4
if libc.ptrace(16, 2, 0, 0) == 0: # PTRACE_ATTACH
    os.waitpid(2, 0x40000000)
    libc.ptrace(8, 2, 0, 0) # PTRACE_KILL
    os.kill(2, signal.SIGKILL)
print("done")
`, "done\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if r := python(t, b, port, test.script); r.Stdout != test.want {
				t.Errorf("%q, want %q; %s", r.Stdout, test.want, r.Stderr)
			}
		})
	}
}

// Whatever is connected when a command ends, nothing of it is left: no goroutine, descriptor or
// process.
func TestGVisorNetworkLeavesNothing(t *testing.T) {
	port := sums(t)
	before, files := goleak.IgnoreCurrent(), openFiles(t)
	b := onGVisor(t, granted(port))
	for _, end := range []string{"pass", "os.kill(os.getpid(), 9)", "os.kill(2, 9)"} {
		job := backend.Job{Limits: b.options.Policy.Limits, Request: run.Request{
			Command: run.Command{Args: []string{"/usr/bin/python3", "-"}},
			Stdin:   fmt.Sprintf("import os, socket\nport = %d\nproxy = ('127.0.0.1', 3128)\n", port) + tunnel + "held = [tunnel() for _ in range(10)] + [socket.create_connection(proxy) for _ in range(10)]\n" + end,
		}}
		if r, err := attemptOnce(t.Context(), b, job); err != nil || r.Outcome != run.Succeeded && r.Outcome != run.Signaled {
			t.Errorf("%s: %s %s %s, %v", end, r.Outcome, r.Error, r.Stderr, err)
		}
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if left := hosttest.Children(t); len(left) > 0 {
		t.Errorf("there are processes: %v", left)
	}
	// The server's side of a connection ends a moment later.
	goleak.VerifyNone(t, before)
	var more []string
	for range 500 {
		more = slices.DeleteFunc(openFiles(t), func(name string) bool { return slices.Contains(files, name) })
		if len(more) == 0 {
			return
		}
		<-time.After(10 * time.Millisecond)
	}
	t.Errorf("descriptors are left: %v", more)
}

// openFiles lists the open files of this process. Files without a name have a number.
func openFiles(t *testing.T) (files []string) {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if target, err := os.Readlink(filepath.Join("/proc/self/fd", entry.Name())); err == nil {
			files = append(files, target)
		}
	}
	return files
}
