package toolstest

import (
	"bytes"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

func TestToolsTerminal(t *testing.T) {
	t.Parallel()
	hosttest.Needs(t, "tty", "script", "stty", "python3")
	eachJail(t, func(t *testing.T, p policy.Policy) {
		w := scripts(t, p)
		if r := w.run("tty"); strings.TrimSpace(r.Stdout) != "not a tty" || r.ExitCode == nil || *r.ExitCode != 1 {
			t.Errorf("without a terminal: %s %q", r.Outcome, r.Stdout)
		}
		terminal := func(command ...string) string {
			t.Helper()
			result := w.request(run.Request{Command: run.Command{Args: command}, Streams: run.Streams{
				In: strings.NewReader(""), Terminal: &run.Terminal{Size: run.WindowSize{Rows: 40, Columns: 100}},
			}})
			mustSucceed(t, command, result)
			return strings.ReplaceAll(result.Stdout, "\r\n", "\n")
		}
		if got := terminal("stty", "size"); !strings.Contains(got, "40 100\n") {
			t.Errorf("the size is %q", got)
		}
		// tmux, gpg and others open it by name.
		named := w.request(run.Request{Command: run.Command{Args: []string{"tty"}}, Streams: run.Streams{In: strings.NewReader(""), Terminal: &run.Terminal{}}})
		if !regexp.MustCompile(`^/dev/(pts/\d+|tty|console)\s*$`).MatchString(named.Stdout) && !onGVisor(p) { // there it has no name
			t.Errorf("tty says %q", named.Stdout)
		}
		if got := terminal("sh", "-c", "echo by name > /dev/tty; ps -o tty= -p $$"); !strings.Contains(got, "by name\n") {
			t.Errorf("/dev/tty got %q", got)
		}
		// The program discards input from before its prompt, so the test waits for it.
		in, typist := io.Pipe()
		asked := w.request(run.Request{Command: run.Command{Args: []string{"python3", "-c", "import getpass; print(len(getpass.getpass()))"}}, Streams: run.Streams{
			In: in, Out: &promptTyper{when: "Password:", text: "geheim\n", to: typist}, Terminal: &run.Terminal{},
		}})
		typist.Close()
		mustSucceed(t, "getpass", asked)
		if !strings.Contains(asked.Stdout, "6\r\n") || strings.Contains(asked.Stdout, "geheim") {
			t.Errorf("a password is asked for by %q", asked.Stdout)
		}
		needsNamespaces(t, p, "a terminal of the host would be next to those of others")
		// A second terminal, which the command creates.
		if got := w.ok("script", "-qec", "tty; stty -a | head -c 5", "/dev/null"); !strings.Contains(got, "/dev/pts/") || !strings.Contains(got, "speed") {
			t.Errorf("script says %q", got)
		}
		w.want("b'pty'", "python3", "-c", `import pty, os
pid, fd = pty.fork()
if pid == 0:
    os.write(1, b"pty"); os._exit(0)
print(os.read(fd, 10)); os.waitpid(pid, 0)`)
	})
}

// promptTyper writes to a terminal as a user does: it waits for the prompt first.
type promptTyper struct {
	when, text string
	to         io.Writer
	seen       strings.Builder
	done       bool
}

func (p *promptTyper) Write(b []byte) (int, error) {
	p.seen.Write(b)
	if !p.done && strings.Contains(p.seen.String(), p.when) {
		p.done = true
		if _, err := io.WriteString(p.to, p.text); err != nil {
			return 0, err
		}
	}
	return len(b), nil
}

// A daemon ends with its command.
func TestToolsDaemon(t *testing.T) {
	t.Parallel()
	hosttest.Needs(t, "python3", "setsid")
	eachJail(t, func(t *testing.T, p policy.Policy) {
		w := scripts(t, p)
		needsNamespaces(t, p, "no program can listen on a socket")
		w.bring("daemon.py")
		w.want("the daemon says hello", "python3", "daemon.py")
		// It held a lock. If we get the lock, the daemon has ended.
		lock, err := os.OpenFile(w.path("daemon.lock"), os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer lock.Close()
		if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
			t.Errorf("the daemon outlives its command: %v", err)
		}
		// Output that a daemon holds open must not delay the end.
		if got := w.shell("setsid sleep 60 & echo started"); got != "started\n" {
			t.Errorf("got %q", got)
		}
	})
}

func TestToolsProcesses(t *testing.T) {
	t.Parallel()
	hosttest.Needs(t, "ps", "top", "free", "uptime", "pgrep", "pkill")
	eachJail(t, func(t *testing.T, p policy.Policy) {
		w := openWorkshop(t, p)
		needsNamespaces(t, p, "commands see all processes")
		processes := strings.Split(strings.TrimSpace(w.ok("ps", "-e", "-o", "pid=,user=,comm=")), "\n")
		if len(processes) > 3 || !strings.HasSuffix(processes[len(processes)-1], "ps") || !strings.Contains(processes[0], "guest") {
			t.Errorf("ps sees %q", processes)
		}
		if top := w.ok("top", "-b", "-n1"); !strings.Contains(top, "top") || !strings.Contains(top, "MiB Mem") {
			t.Errorf("top shows %q", top)
		}
		w.ok("ps", "aux")
		w.ok("free", "-m")
		w.ok("uptime")
		w.ok("df", "-h", ".")
		w.ok("du", "-s", ".")
		w.ok("nproc")
		w.ok("uname", "-a")
		w.want("guest", "whoami")
		w.want("guest", "id", "-gn")
		w.want("/tmp", "printenv", "HOME")
		s := scripts(t, p)
		s.shell("sleep 100 & until pgrep -x sleep; do :; done; pkill -x sleep; wait || true; [ -r /proc/self/maps ]; ls -l /proc/self/fd /proc/self/exe; cat /proc/cpuinfo /proc/meminfo >/dev/null")
	})
}

func TestToolsLocale(t *testing.T) {
	t.Parallel()
	hosttest.Needs(t, "locale", "date", "python3")
	eachJail(t, func(t *testing.T, p policy.Policy) {
		w := scripts(t, p)
		if got := w.ok("locale"); !strings.Contains(got, "LANG=C.UTF-8") {
			t.Errorf("locale says %s", got)
		}
		w.want("UTF-8", "locale", "charmap")
		w.want("3 ÄÖÜ", "python3", "-c", "import sys; print(len(sys.argv[1]), sys.argv[1].upper())", "äöü")
		w.env = map[string]string{"TZ": "Europe/Berlin"}
		w.want("01:00 CET", "date", "-d", "@0", "+%H:%M %Z")
		w.want("1970-01-01T01:00:00+01:00", "python3", "-c", "import datetime, zoneinfo; print(datetime.datetime.fromtimestamp(0, zoneinfo.ZoneInfo('Europe/Berlin')).isoformat())")
		w.env = nil
		host, err := os.ReadFile("/etc/timezone")
		if zone := strings.TrimSpace(string(host)); err == nil && zone != "" {
			w.want(w.shell("TZ="+zone+" date -d @0 +%c%z | tr -d '\\n'"), "date", "-d", "@0", "+%c%z")
		}
	})
}

func TestToolsNames(t *testing.T) {
	t.Parallel()
	hosttest.Needs(t, "getent", "python3", "hostname")
	eachJail(t, func(t *testing.T, p policy.Policy) {
		w := scripts(t, p)
		w.want("127.0.0.1", "python3", "-c", "import socket; print(socket.gethostbyname('localhost'))")
		needsNamespaces(t, p, "there is no IPv6, and the host has its own name")
		if got := w.ok("getent", "ahosts", "localhost"); !strings.Contains(got, "127.0.0.1") || !strings.Contains(got, "::1") {
			t.Errorf("localhost is %q", got)
		}
		// Java, sendmail and test suites look up the host's name at the start.
		w.ok("python3", "-c", "import socket; socket.getaddrinfo(socket.gethostname(), 80)")
		own, err := os.Hostname()
		if got := strings.TrimSpace(w.ok("hostname")); err != nil || got == own {
			t.Errorf("the host's name %q is known inside: %v", own, err)
		}
		w.want("guest", "python3", "-c", "import getpass, pwd, os; assert pwd.getpwuid(os.getuid()).pw_name == 'guest'; print(getpass.getuser())")
		if got := w.ok("getent", "passwd"); strings.Count(got, "\n") > 4 {
			t.Errorf("the users are %q", got)
		}
		w.ok("getent", "services", "https")
		// A name outside is not found, at once and without a violation.
		r := w.run("getent", "hosts", "nowhere.invalid")
		if r.ExitCode == nil || *r.ExitCode != 2 || len(r.Violations) > 0 {
			t.Errorf("nowhere.invalid: %s %+v", r.Outcome, r.Violations)
		}
	})
}

// A program that needs root fails with a message, and neither hangs nor crashes.
func TestToolsPrivileges(t *testing.T) {
	t.Parallel()
	hosttest.Needs(t, "su", "mount")
	eachJail(t, func(t *testing.T, p policy.Policy) {
		if r := openWorkshop(t, p).run("su", "-c", "id"); r.Outcome != run.Refused {
			t.Errorf("su is no interpreter: %s", r.Outcome)
		}
		w := scripts(t, p)
		commands := [][]string{{"su", "-c", "id"}, {"mount"}, {"chown", "root", "."}, {"mknod", "null", "c", "1", "3"}, {"dmesg"}, {"chroot", ".", "true"}}
		for _, extra := range [][]string{{"sudo", "-n", "id"}, {"ping", "-c1", "-W1", "127.0.0.1"}, {"passwd"}} {
			if hosttest.FindProgram(extra[0]) != "" {
				commands = append(commands, extra)
			}
		}
		for _, command := range commands {
			r := w.run(command...)
			polite := r.Outcome == run.Exited && len(r.Stderr) > 0
			if command[0] == "mount" || command[0] == "ping" {
				polite = polite || r.OK() // reading is allowed, and so is talking to itself
			}
			if !polite {
				t.Errorf("%q: %s %s; stdout %q stderr %q", command, r.Outcome, r.Error, r.Stdout, r.Stderr)
			}
			if strings.Contains(r.Stdout, "uid=0") {
				t.Errorf("%q made somebody root", command)
			}
			for _, v := range r.Violations {
				if v.Count > 5 || v.Hint == "" {
					t.Errorf("%q: %+v", command, v)
				}
			}
		}
		if _, err := os.Lstat(w.path("null")); err == nil {
			t.Error("a device was made")
		}
	})
}

// Large input and output pass unchanged, in both directions at once.
func TestToolsStreams(t *testing.T) {
	t.Parallel()
	hosttest.Needs(t, "cat", "sha256sum", "openssl")
	eachJail(t, func(t *testing.T, p policy.Policy) {
		w := openWorkshop(t, p)
		input := strings.Repeat("0123456789abcde\n", 512<<10) // 8 MiB
		var live bytes.Buffer
		r := w.request(run.Request{Command: run.Command{Args: []string{"cat"}}, Streams: run.Streams{In: strings.NewReader(input), Out: &live}})
		mustSucceed(t, "cat", r)
		if r.Stdout != input || live.String() != input {
			t.Errorf("of %d bytes %d came back, and %d live", len(input), len(r.Stdout), live.Len())
		}
		sum := w.request(run.Request{Command: run.Command{Args: []string{"sha256sum"}}, Stdin: "abc"})
		if !strings.HasPrefix(sum.Stdout, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad") {
			t.Errorf("sha256sum says %q", sum.Stdout)
		}
		w.ok("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=test", "-keyout", "key.pem", "-out", "cert.pem")
		if info, err := os.Stat(w.path("key.pem")); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("the key is %v, %v", info, err)
		}
	})
}
