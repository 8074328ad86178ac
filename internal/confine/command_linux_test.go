package confine

import (
	"bytes"
	"debug/elf"
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/hostfeature"
	"github.com/cordon-sandbox/cordon/internal/landlock"
)

// system is the system of a typical host.
func system(t testing.TB) []Mount {
	t.Helper()
	mounts := []Mount{{Path: "/usr", Kind: BindDir}}
	for _, path := range []string{"/bin", "/lib", "/lib64"} {
		target, err := os.Readlink(path)
		switch {
		case err == nil:
			mounts = append(mounts, Mount{Path: path, Kind: Symlink, Target: target})
		case !os.IsNotExist(err):
			mounts = append(mounts, Mount{Path: path, Kind: BindDir})
		}
	}
	return mounts
}

// ready builds a sandbox with all walls, and returns its output pipe.
func ready(t testing.TB, change func(*Spec)) (*Process, *os.File) {
	t.Helper()
	init, err := OpenInit()
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(init)
	plan, err := Make(Inputs{Features: hostfeature.Quick(), Files: system(t), Command: true})
	if err != nil {
		t.Fatal(err)
	}
	plan.Root = append(plan.Root, Mount{Path: Scratch, Kind: Tmpfs, Target: "size=1m"})
	plan.Seccomp = SeccompOff
	reading, writing, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { reading.Close() })
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	out := int(writing.Fd())
	spec := Spec{
		Plan: plan,
		Command: &Command{
			Streams: [3]int{int(null.Fd()), out, out}, Dir: Scratch, Scratch: Scratch, Init: init, Owners: &OwnerMaps{},
			Landlock: landlock.Compile(plan.Landlock, []landlock.Rule{{Path: "/", Access: landlock.Known(plan.Landlock)}}),
		},
	}
	if change != nil {
		change(&spec)
	}
	p, err := Start(t.Context(), spec)
	writing.Close()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Kill()
		p.Wait()
		unix.Close(p.Control)
	})
	handles, err := p.Ready(spec.Command, spec.Plan.Seccomp)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(handles.Close)
	return p, reading
}

// shell runs a command there, and returns its output and its end.
func shell(t testing.TB, change func(*Spec), argv ...string) (string, CommandEnd) {
	t.Helper()
	p, reading := ready(t, change)
	if err := p.Execute(argv[0], argv, []string{"PATH=/usr/bin:/bin"}); err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(reading)
	if err != nil {
		t.Fatal(err)
	}
	end, err := p.End()
	if err != nil {
		t.Fatal(err)
	}
	p.Wait()
	return string(text), end
}

// Failures after the walls stand are reported too: here the init is not a program.
func TestLateFailure(t *testing.T) {
	none, err := os.Open("/etc/hostname")
	if err != nil {
		t.Fatal(err)
	}
	defer none.Close()
	p, _ := ready(t, func(s *Spec) { s.Command.Init = int(none.Fd()) })
	_, err = p.End()
	var setup *SetupError
	if !errors.As(err, &setup) || setup.Step != "init" || setup.Errno != unix.EACCES {
		t.Errorf("%v", err)
	}
}

func TestCommand(t *testing.T) {
	for _, test := range []struct {
		name, script, want string
	}{
		{"an ordinary user", "id -u; id -un", "1000\nguest\n"},
		{"nothing but its streams", "ls -1 /proc/self/fd | wc -l", "4\n"}, // and the directory that is read
		{"no capabilities", "grep -c 'Cap.*:.*[1-9a-f]' /proc/self/status", "0\n"},
		{"the second process", "echo $$ $PPID", "2 1\n"},
		{"an init that tells nothing", "cat /proc/1/environ /proc/1/maps /proc/1/mem 2>&1 | grep -c denied; ls /proc/1/fd 2>&1 | grep -c denied", "3\n1\n"},
		{"a root that nobody can add to", "touch /x 2>&1 | grep -c Read-only", "1\n"},
		{"a directory to write to", "cd /tmp; echo yes >x; cat x", "yes\n"},
		{"a loopback", "cat /proc/net/dev | grep -c lo:; cat /proc/net/route | wc -l", "1\n1\n"},
		{"orphans are collected", "for i in 1 2 3; do (sleep 0.01 &) ; done; for i in $(seq 300); do ps -o stat=,comm= ax | grep -qE '^Z|sleep' || break; sleep 0.1; done; ps -o stat= ax | grep -c Z", "0\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if text, _ := shell(t, nil, "/bin/sh", "-c", test.script); text != test.want {
				t.Errorf("%s: %q, want %q", test.script, text, test.want)
			}
		})
	}
}

func TestCommandEnds(t *testing.T) {
	for _, test := range []struct {
		script string
		want   unix.WaitStatus
	}{
		{"exit 0", 0},
		{"exit 3", 3 << 8},
		// The kernel keeps such signals from the first process of a namespace.
		{"kill -TERM $$", unix.WaitStatus(unix.SIGTERM)},
		{"kill -KILL $$", unix.WaitStatus(unix.SIGKILL)},
		{"kill -KILL 1; exit 4", 4 << 8},
		{"setsid sleep 1000 & exit 5", 5 << 8}, // it would keep the pipe open
	} {
		if _, end := shell(t, nil, "/bin/sh", "-c", test.script); end.Status == nil || *end.Status != test.want {
			t.Errorf("%s: %+v, want %#x", test.script, end, test.want)
		}
	}
}

func TestCommandThatCannotBeExecuted(t *testing.T) {
	if _, end := shell(t, nil, "/usr/bin/no-such-program"); end.Failure != unix.ENOENT {
		t.Errorf("%+v", end)
	}
	if _, end := shell(t, nil, "/usr"); end.Failure != unix.EACCES {
		t.Errorf("%+v", end)
	}
}

// A long command line is sent in parts, each smaller than a socket's buffer.
func TestLongCommandLine(t *testing.T) {
	argv := []string{"/bin/echo"}
	for range 15 {
		argv = append(argv, strings.Repeat("x", 100_000))
	}
	text, end := shell(t, nil, argv...)
	if want := strings.Join(argv[1:], " ") + "\n"; text != want || end.Status == nil || *end.Status != 0 {
		t.Errorf("%d bytes, want %d: %+v", len(text), len(want), end)
	}
	if err := (&Init{Control: -1, setup: sentOrder{calls: orderBase}}).Execute("/bin/echo", []string{strings.Repeat("x", maxOrder)}, nil); !errors.Is(err, ErrLongOrder) {
		t.Errorf("more than an init takes: %v", err)
	}
}

// A guest with another user than the directory's owner has the owner's rights there, and
// the files that it creates belong to the owner.
func TestOwnerMaps(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("an ordinary user's guests are that user")
	}
	directory := t.TempDir()
	if err := os.Chmod(directory, 0o700); err != nil {
		t.Fatal(err)
	}
	mount := func(s *Spec) {
		s.Plan.Root = append(s.Plan.Root, Mount{Path: directory, Kind: WritableDir, MapOwner: true})
	}
	if text, _ := shell(t, mount, "/bin/sh", "-c", "cd "+directory+" && echo hello >x && stat -c %U x ."); text != "guest\nguest\n" {
		t.Errorf("inside: %q", text)
	}
	info, err := os.Stat(directory + "/x")
	if err != nil {
		t.Fatal(err)
	}
	if stat := info.Sys().(*syscall.Stat_t); stat.Uid != 0 || stat.Gid != 0 {
		t.Errorf("outside, the file belongs to %d:%d", stat.Uid, stat.Gid)
	}
}

func TestInitProgram(t *testing.T) {
	file, err := elf.NewFile(bytes.NewReader(initProgram()))
	if err != nil {
		t.Fatal(err)
	}
	if file.Type != elf.ET_EXEC || file.Machine != initMachine || len(file.Progs) != 3 {
		t.Errorf("%+v", file.FileHeader)
	}
	for _, p := range file.Progs {
		if p.Flags&(elf.PF_W|elf.PF_X) == elf.PF_W|elf.PF_X {
			t.Errorf("a segment can be written and executed: %+v", p.ProgHeader)
		}
	}
}

func BenchmarkCommand(b *testing.B) {
	for b.Loop() {
		shell(b, nil, "/bin/true")
	}
}
