//go:build amd64 || arm64

package seccomp_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/internal/seccomp"
)

// Ordinary work that must not cause a denied call. Each case is a shell script in an
// empty directory; $URL is a server of the test.
var programs = []struct {
	name     string
	needs    []string // required programs; without them the case is skipped
	promised bool     // every Debian has them or scripts/setup installs them, so the case must not be skipped
	script   string
}{
	{"shell", []string{"sh"}, true, `
		echo c b a | tr ' ' '\n' | sort | cat > out
		test "$(head -n 1 out)" = a
		(exit 7) & wait $! || test $? = 7
		sleep 60 & kill -TERM $!; wait $! || true
		mkfifo pipe; echo x > pipe & read -r got < pipe; test "$got" = x; wait
		ulimit -n 100; ulimit -c 0; umask 022
		exec 3< out; read -r first <&3; exec 3<&-
		trap '' HUP; kill -0 $$`},
	{"coreutils", []string{"timeout", "nice", "sort", "stdbuf"}, true, `
		timeout 5 nice -n 3 true
		dd if=/dev/zero of=z bs=1k count=10 conv=fsync 2>/dev/null; truncate -s 1M z
		cp -a z z2; cp --reflink=auto z z3; mv z2 z4; ln -s z l; ln z h; install -m 755 z i
		touch -d yesterday z; chmod 600 z; chown "$(id -u):$(id -g)" z; chown "$(id -u)" l
		ls -la > /dev/null; stat z > /dev/null; df . > /dev/null; du -s . > /dev/null
		split -n 2 z; cat xaa xab | cmp - z; sha256sum z > sum; sha256sum -c sum > /dev/null
		sync; sync -f z || true; shred -u z4; nohup true 2> /dev/null; date > /dev/null
		yes | head -n 1000 | wc -l > /dev/null; tail -n 1 sum > /dev/null; tac sum > /dev/null
		stdbuf -oL echo hi > /dev/null; nproc > /dev/null; env > /dev/null; id > /dev/null; tty > /dev/null || true
		mktemp -d ./dXXXX > /dev/null; realpath z > /dev/null; rm -rf d* x* h`},
	{"util-linux", []string{"taskset", "ionice", "chrt", "setsid", "flock", "prlimit", "setarch", "ipcmk", "ipcrm"}, true, `
		taskset -c 0 true || taskset -p $$ > /dev/null; ionice -c 3 true; chrt --batch 0 true
		setsid true; flock lock true; prlimit --nofile=100 true; setarch -R true
		ipcrm -m "$(ipcmk -M 100 | grep -o '[0-9]*$')"
		ipcrm -q "$(ipcmk -Q | grep -o '[0-9]*$')"; ipcrm -s "$(ipcmk -S 1 | grep -o '[0-9]*$')"`},
	{"terminal", []string{"script", "stty"}, true, `
		script -qec 'stty -echo; stty sane; stty rows 30 cols 100; stty size; tty; sleep 0 & wait' /dev/null > out < /dev/null
		grep -q '30 100' out`},
	{"tar", []string{"tar", "gzip"}, true, `
		mkdir d; echo a > d/a; ln -s a d/b; mkfifo d/f
		tar czf t.tgz d; mkdir e; tar xzpf t.tgz -C e; test -p e/d/f; tar cf - d | tar tf - > /dev/null
		gzip -k d/a; gzip -t d/a.gz`},
	{"perl", []string{"perl"}, true, `
		perl -e '
			use Socket; use POSIX; use IO::Socket::INET; use Time::HiRes qw(usleep ualarm);
			socketpair(my $a, my $b, AF_UNIX, SOCK_STREAM, PF_UNSPEC) or die; usleep(1);
			my $s = IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1") or die;
			my $c = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $s->sockport) or die;
			system("true") == 0 or die; print STDERR "" . qx(true);
			defined(my $pid = fork) or die; exit 0 unless $pid; waitpid($pid, 0) == $pid or die;
			flock(DATA, 0); POSIX::nice(1); setpgrp(0, 0);'`},
	{"make and gcc", []string{"make", "gcc"}, true, `
		printf '#include <stdio.h>\nint main(void) { puts("hi"); return 0; }\n' > a.c; cp a.c b.c
		printf 'all: a b\n%%: %%.c\n\tgcc -O2 -g -flto -o $@ $<\n' > Makefile
		make -s -j 2; test "$(./a)" = hi; gcc -static -o s a.c 2> /dev/null && ./s > /dev/null || true`},
	{"git", []string{"git"}, true, `
		export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
		git init -q r; cd r; git config user.email a@example.com; git config user.name a
		echo x > f; git add f; git commit -qm one; git status > /dev/null; git log > /dev/null
		git gc -q; git clone -q . ../c; git -C ../c fetch -q; git worktree add -q ../w; git stash list`},
	{"sqlite3", []string{"sqlite3"}, true, `
		test "$(sqlite3 db 'pragma journal_mode=wal; create table t(x); insert into t values(1); select sum(x) from t; vacuum;' | tail -n 1)" = 1`},
	{"node", []string{"node"}, true, `
		node -e '
			const os = require("os"), fs = require("fs"), net = require("net"), cp = require("child_process");
			os.networkInterfaces(); os.setPriority(5); cp.execSync("true"); fs.cpSync("/etc/passwd", "p");
			const w = fs.watch("."), u = require("dgram").createSocket("udp4");
			u.bind(0, () => { u.setBroadcast(true); u.setTTL(3); u.setMulticastTTL(2); u.addMembership("224.0.0.251"); u.close(); });
			const t = new (require("worker_threads").Worker)("1", {eval: true});
			const s = net.createServer(c => c.end("x")).listen(0, "127.0.0.1", () => {
				const c = net.connect(s.address().port, "127.0.0.1"); c.setNoDelay(true); c.setKeepAlive(true, 1000);
				c.on("close", () => { s.close(); w.close(); }); c.resume();
			});
			cp.fork("-e", {execArgv: ["-e", "1"]});'`},
	{"npm", []string{"npm"}, true, `npm --version > /dev/null; npm init -y > /dev/null; npm run env > /dev/null 2>&1 || true`},
	{"python", []string{"python3"}, true, `
		cat > p.py <<'END'
import asyncio, ctypes, fcntl, mmap, multiprocessing, os, pty, resource, shutil, signal, socket, subprocess, sys, tempfile, threading
from multiprocessing import shared_memory

def main():
    subprocess.run(["true"], check=True)
    subprocess.run("exit 3", shell=True, start_new_session=True)
    subprocess.Popen(["sleep", "60"], preexec_fn=os.setpgrp).kill()
    for way in ("fork", "spawn", "forkserver"):
        with multiprocessing.get_context(way).Pool(2) as pool:
            assert pool.map(abs, [-1, 2]) == [1, 2]
    memory = shared_memory.SharedMemory(create=True, size=100)
    memory.close()
    memory.unlink()
    thread = threading.Thread(target=lambda: None)
    thread.start()
    thread.join()
    pty.spawn(["true"])
    server = socket.create_server(("127.0.0.1", 0))
    client = socket.create_connection(server.getsockname(), timeout=5)
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    if socket.has_ipv6:
        try:
            socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True).close()
        except OSError as e:
            assert e.errno != 1, e
    path = os.path.join(tempfile.mkdtemp(dir="."), "s")
    local = socket.socket(socket.AF_UNIX)
    local.bind(path)
    local.listen()
    a, b = socket.socketpair()
    socket.send_fds(a, [b"x"], [0])
    assert socket.recv_fds(b, 1, 1)[1]
    if hasattr(os, "memfd_create"):
        os.memfd_create("x", os.MFD_CLOEXEC | getattr(os, "MFD_ALLOW_SEALING", 0))
    if hasattr(os, "setxattr"):
        try:
            os.setxattr("p.py", "user.x", b"1")
        except OSError as e:
            assert e.errno != 1, e
    fcntl.flock(local, fcntl.LOCK_SH) if False else fcntl.flock(open("p.py"), fcntl.LOCK_EX)
    r, w = os.pipe()
    fcntl.fcntl(w, 1031, 1 << 17)
    fcntl.fcntl(r, fcntl.F_SETOWN, os.getpid())
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.sched_setaffinity(0, os.sched_getaffinity(0))
    os.setuid(os.getuid())
    os.sync()
    os.kill(os.getpid(), 0)
    socket.if_nameindex()
    socket.getaddrinfo("localhost", 80)
    shutil.copy2("p.py", "q.py")

    async def work():
        process = await asyncio.create_subprocess_exec("true")
        await process.wait()
    asyncio.run(work())

if __name__ == "__main__":
    main()
END
		python3 p.py < /dev/null > /dev/null; python3 -m venv --without-pip v; v/bin/python -c 1`},
	{"pip", []string{"pip"}, false, `pip --version > /dev/null; pip list --disable-pip-version-check > /dev/null 2>&1 || true`},
	{"curl", []string{"curl"}, true, `
		test "$(curl -sS --max-time 20 "$URL")" = hello; curl -sS --max-time 20 -d x=y "$URL" > /dev/null
		curl -sS --max-time 20 --keepalive-time 5 --tcp-nodelay "$URL" "$URL" > /dev/null`},
	{"go", []string{"go"}, false, `
		go version > /dev/null; export GOFLAGS=-mod=mod GO111MODULE=on CGO_ENABLED=0 GOTOOLCHAIN=local
		printf 'module m\n' > go.mod
		cat > m.go <<'END'
package main

import (
	"io"
	"net"
	"os"
	"os/exec"
)

func main() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go func() {
		c, _ := l.Accept()
		io.Copy(c, c)
		c.Close()
	}()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		panic(err)
	}
	c.Write([]byte("x"))
	c.(*net.TCPConn).CloseWrite()
	io.Copy(io.Discard, c)
	net.Interfaces()
	if err := exec.Command("true").Run(); err != nil {
		panic(err)
	}
	f, _ := os.Create("f")
	io.Copy(f, os.Stdin)
}
END
		go build -o m . ; ./m < m.go`},
	{"java", []string{"java"}, false, `java -version 2> /dev/null`},
	{"rust", []string{"rustc"}, false, `printf 'fn main() { println!("hi"); }' > a.rs; rustc a.rs 2> /dev/null; ./a > /dev/null`},
	{"file", []string{"file"}, false, `file /bin/sh > /dev/null`},
	{"ssh", []string{"ssh-keygen"}, false, `ssh-keygen -q -t ed25519 -N '' -f k`},
	{"gpg", []string{"gpg"}, false, `GNUPGHOME=$PWD gpg --list-keys 2> /dev/null`},
	{"ip", []string{"ip"}, true, `ip addr > /dev/null; ip route > /dev/null`},
	{"ps", []string{"ps"}, true, `ps -p $$ > /dev/null`},
}

func TestProgramsWork(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, err := io.WriteString(w, "hello")
		if err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	for _, p := range programs {
		t.Run(p.name, func(t *testing.T) {
			switch p.name {
			case "node":
				hosttest.NeedsExtra(t, hosttest.Node)
			case "npm":
				hosttest.NeedsExtra(t, hosttest.NPM)
			}
			if missing := slices.IndexFunc(p.needs, absent); missing >= 0 {
				if p.promised {
					hosttest.Lacks(t, "%s is not installed", p.needs[missing])
				}
				t.Skipf("%s is not installed", p.needs[missing])
			}
			out, denials, err := runFiltered(t, server.URL, "set -eu\n"+p.script)
			if err != nil {
				t.Errorf("%v\n%s", err, out)
			}
			for _, denial := range denials {
				t.Errorf("denied: %s", denial)
			}
		})
	}
}

func absent(program string) bool {
	_, err := exec.LookPath(program)
	return err != nil
}

// runFiltered runs a shell script behind the Command filter and returns its output and the
// denied calls.
func runFiltered(t *testing.T, url, script string) (out string, denials []string, err error) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var said bytes.Buffer
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := child(ctx, childWatched, seccomp.Command, "/bin/sh", "-c", script)
	cmd.WaitDelay = time.Second // remaining processes may keep the output open
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "URL="+url, "TMPDIR="+t.TempDir(), "no_proxy=*")
	cmd.Stdout, cmd.Stderr = &said, &said
	cmd.ExtraFiles = []*os.File{w}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	lines, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	denials = strings.FieldsFunc(string(lines), func(r rune) bool { return r == '\n' })
	err = cmd.Wait() // the output is complete only then
	return said.String(), denials, err
}

// The other tests rely on the watcher: it must report denials, and give programs the same
// answers as guests get.
func TestWatcherReportsDenials(t *testing.T) {
	if absent("perl") {
		hosttest.Lacks(t, "perl is not installed")
	}
	for _, test := range []struct{ does, denied, says string }{
		{`perl -MSocket -e 'socket(my $s, 17, SOCK_RAW, 0) or print "$!\n"'`, "socket(AF_PACKET, SOCK_RAW)", "not permitted"},
		{`perl -MSocket -e 'socket(my $s, PF_INET, SOCK_DGRAM, 1) or print "$!\n"'`, "socket(AF_INET, SOCK_DGRAM, IPPROTO_ICMP)", "not permitted"},
		{`perl -MSocket -e 'socket(my $s, 16, 3, 12) or print "$!\n"'`, "socket(AF_NETLINK, SOCK_RAW, NETLINK_NETFILTER)", "not permitted"},
		{`perl -MSocket -e 'socket(my $s, PF_INET, SOCK_STREAM, 0); setsockopt($s, 1, 26, "0" x 16) or print "$!\n"'`, "setsockopt(fd 3, SOL_SOCKET, SO_ATTACH_FILTER)", "not permitted"},
		{`perl -e 'my $c = "x"; ioctl(STDIN, 0x5412, $c) or print "$!\n"'`, "ioctl(fd 0, TIOCSTI)", "not permitted"},
		{`perl -e 'chroot("/") or print "$!\n"'`, "chroot()", "not permitted"},
	} {
		out, denials, err := runFiltered(t, "", test.does)
		if err != nil || !slices.Equal(denials, []string{test.denied}) || !strings.Contains(out, test.says) {
			t.Errorf("%s: denied %q, said %q, error %v; want %q", test.does, denials, out, err, test.denied)
		}
	}
}
