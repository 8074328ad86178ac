package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// patience is a deadline for busy machines; a passing test does not wait for it.
const patience = time.Minute

// console is a terminal that runs cordon, with the keyboard in the hands of the test.
type console struct {
	t            *testing.T
	ours, theirs *os.File
	cmd          *exec.Cmd
	ended        chan struct{}

	mu    sync.Mutex
	shown bytes.Buffer
	more  chan struct{} // closed with each piece of output
	seen  int           // how much of it expectNew has passed
}

// openConsole starts a program in a new terminal, which it controls.
func openConsole(t *testing.T, program string, args ...string) *console {
	t.Helper()
	c := newConsole(t)
	c.start(exec.Command(program, args...))
	return c
}

func newConsole(t *testing.T) *console {
	t.Helper()
	// Programs inherit an ignored SIGHUP, as below nohup.
	hangUps := make(chan os.Signal, 1)
	signal.Notify(hangUps, unix.SIGHUP)
	t.Cleanup(func() { signal.Stop(hangUps) })
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	c := &console{t: t, ours: ours, ended: make(chan struct{}), more: make(chan struct{})}
	var number int
	control(t, ours, func(fd int) error { return unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0) })
	control(t, ours, func(fd int) (err error) {
		number, err = unix.IoctlGetInt(fd, unix.TIOCGPTN)
		return err
	})
	if c.theirs, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	c.resize(33, 101)
	go func() {
		buffer := make([]byte, 4096)
		for {
			n, err := ours.Read(buffer)
			c.mu.Lock()
			c.shown.Write(buffer[:n])
			close(c.more)
			c.more = make(chan struct{})
			c.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		if c.cmd != nil {
			c.cmd.Process.Kill()
			<-c.ended
		}
		c.theirs.Close()
		c.ours.Close()
	})
	return c
}

// control uses a descriptor that stays non-blocking: a blocking one cannot be closed
// while it is read.
func control(t *testing.T, f *os.File, ask func(fd int) error) {
	t.Helper()
	raw, err := f.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var answer error
	if err := raw.Control(func(fd uintptr) { answer = ask(int(fd)) }); err != nil || answer != nil {
		t.Fatal(err, answer)
	}
}

func (c *console) start(cmd *exec.Cmd) {
	c.t.Helper()
	cmd.Stdin = c.theirs
	if cmd.Stdout == nil {
		cmd.Stdout = c.theirs
	}
	if cmd.Stderr == nil {
		cmd.Stderr = c.theirs
	}
	if cmd.Env == nil {
		cmd.Env = append(os.Environ(), "TERM=xterm-test", "COLORTERM=truecolor")
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.cmd = cmd
	go func() {
		_ = cmd.Wait() // the code is in ProcessState
		close(c.ended)
	}()
}

// expect waits for words on the screen.
func (c *console) expect(words string) {
	c.t.Helper()
	c.expectWhere(words, func(shown string) bool { return strings.Contains(shown, words) })
}

// expectWhere waits until a condition on the screen holds.
func (c *console) expectWhere(words string, holds func(shown string) bool) {
	c.t.Helper()
	late := time.After(patience)
	for {
		c.mu.Lock()
		shown, more := c.shown.String(), c.more
		c.mu.Unlock()
		if holds(shown) {
			return
		}
		select {
		case <-more:
		case <-late:
			c.t.Fatalf("the screen shows %q; want %q", shown, words)
		}
	}
}

func (c *console) screen() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.shown.String()
}

func (c *console) keys(keys string) {
	c.t.Helper()
	if _, err := c.ours.WriteString(keys); err != nil {
		c.t.Fatal(err)
	}
}

func (c *console) resize(rows, columns uint16) {
	c.t.Helper()
	control(c.t, c.ours, func(fd int) error {
		return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: columns})
	})
}

func (c *console) mode() (mode unix.Termios) {
	c.t.Helper()
	control(c.t, c.theirs, func(fd int) error {
		now, err := unix.IoctlGetTermios(fd, unix.TCGETS)
		if err == nil {
			mode = *now
		}
		return err
	})
	return mode
}

// end waits for the exit and expects the code.
func (c *console) end(code int) {
	c.t.Helper()
	select {
	case <-c.ended:
	case <-time.After(patience):
		c.t.Fatalf("it does not end; the screen shows %q", c.screen())
	}
	if got := c.cmd.ProcessState.ExitCode(); got != code {
		c.t.Errorf("exit code %d instead of %d; the screen shows %q", got, code, c.screen())
	}
}

// shell returns a command line that runs a script in the guest's shell.
func shell(script string, flags ...string) []string {
	return slices.Concat([]string{"exec", "--allow-interpreters"}, flags, []string{"--", "sh", "-c", script})
}

func TestTerminal(t *testing.T) {
	t.Run("all three streams are one", func(t *testing.T) {
		c := openConsole(t, "cordon", shell("test -t 0 && test -t 1 && test -t 2 && echo all of them && tty")...)
		c.expect("all of them\r\n/dev/pts/")
		c.end(0)
	})
	t.Run("its name and colors are known inside", func(t *testing.T) {
		c := openConsole(t, "cordon", shell(`echo "$TERM in $COLORTERM"`)...)
		c.expect("xterm-test in truecolor")
		c.end(0)
	})
	t.Run("--env says otherwise", func(t *testing.T) {
		c := openConsole(t, "cordon", shell(`echo "$TERM in $COLORTERM"`, "--env", "TERM=dumb")...)
		c.expect("dumb in truecolor")
		c.end(0)
	})
	t.Run("what is typed arrives", func(t *testing.T) {
		c := openConsole(t, "cordon", shell(`echo ready; read x; echo "you said <$x>"`)...)
		c.expect("ready")
		c.keys("the answer\r")
		c.expect("you said <the answer>\r\n")
		c.end(0)
		if n := strings.Count(c.screen(), "the answer"); n != 2 {
			t.Errorf("what was typed is shown %d times: %q", n-1, c.screen())
		}
	})
	t.Run("the end of what is typed", func(t *testing.T) {
		c := openConsole(t, "cordon", shell("echo ready; wc -c")...)
		c.expect("ready")
		c.keys("abc\r\x04")
		c.expect("\r\n4\r\n")
		c.end(0)
	})
	t.Run("the size, and each new one", func(t *testing.T) {
		c := openConsole(t, "cordon", shell("trap 'stty size' WINCH; stty size; while :; do sleep 0.05; done")...)
		c.expect("33 101")
		c.resize(40, 120)
		c.expect("40 120")
		c.resize(50, 132)
		c.expect("50 132")
		c.keys("\x03")
		c.end(130)
	})
	t.Run("^C interrupts the command", func(t *testing.T) {
		c := openConsole(t, "cordon", shell(`trap 'echo caught; exit 5' INT; echo ready; while :; do sleep 0.05; done`)...)
		c.expect("ready")
		c.keys("\x03")
		c.expect("caught")
		c.end(5)
	})
	t.Run("^C ends the command, and cordon has nothing to add", func(t *testing.T) {
		c := openConsole(t, "cordon", shell("echo ready; exec sleep 60")...)
		c.expect("ready")
		c.keys("\x03")
		c.end(130)
		if strings.Contains(c.screen(), "cordon") {
			t.Errorf("the screen shows %q", c.screen())
		}
	})
	t.Run("what cordon says begins on a line of its own", func(t *testing.T) {
		c := openConsole(t, "cordon", shell("printf unfinished; exec sleep 60", "-t", "3s")...)
		c.expect("unfinished\r\ncordon: ")
		c.end(124)
		c.expect("wall time limit of 3s reached\r\n")
	})
}

// Cordon restores the mode of the terminal, however it ends.
func TestTerminalIsRestored(t *testing.T) {
	for _, tt := range []struct {
		name    string
		program []string
		finish  func(c *console)
		code    int
	}{
		{"at the end", append([]string{"cordon"}, shell("echo ready; read x; exit 3")...), func(c *console) { c.keys("\r") }, 3},
		{"at a limit", append([]string{"cordon"}, shell("echo ready; exec sleep 60", "-t", "10s")...), func(*console) {}, 124},
		{"after SIGTERM", append([]string{"cordon"}, shell("echo ready; exec sleep 60")...), func(c *console) { c.signal(unix.SIGTERM) }, 143},
		{"after SIGINT", append([]string{"cordon"}, shell("echo ready; exec sleep 60")...), func(c *console) { c.signal(unix.SIGINT) }, 130},
		{"after SIGHUP", append([]string{"cordon"}, shell("echo ready; exec sleep 60")...), func(c *console) { c.signal(unix.SIGHUP) }, 129},
		{"after SIGQUIT", append([]string{"cordon"}, shell("echo ready; exec sleep 60")...), func(c *console) { c.signal(unix.SIGQUIT) }, 131},
		{"after the second signal", []string{"ignore-signals"}, func(c *console) {
			c.signal(unix.SIGTERM)
			c.expect("not now")
			c.signal(unix.SIGTERM)
		}, 143},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newConsole(t)
			before := c.mode()
			c.start(exec.Command(tt.program[0], tt.program[1:]...))
			c.expect("ready")
			if mode := c.mode(); mode.Lflag&(unix.ECHO|unix.ICANON|unix.ISIG) != 0 {
				t.Errorf("the terminal is not raw: %+v", mode)
			}
			tt.finish(c)
			c.end(tt.code)
			if after := c.mode(); after != before {
				t.Errorf("the mode was %+v and is %+v", before, after)
			}
		})
	}
}

func (c *console) signal(s os.Signal) {
	c.t.Helper()
	if err := c.cmd.Process.Signal(s); err != nil {
		c.t.Fatal(err)
	}
}

func TestNoTerminal(t *testing.T) {
	const which = `for i in 0 1 2; do test -t $i && echo $i is one; done; cat; echo "<$TERM> ready"`
	t.Run("not wanted", func(t *testing.T) {
		c := openConsole(t, "cordon", shell(`echo reading; head -n 1; `+which, "--no-terminal")...)
		before := c.mode()
		c.expect("reading")
		c.keys("typed\r\x04")
		c.expect("<> ready")
		c.end(0)
		if !strings.Contains(c.screen(), "typed\r\ntyped\r\n") || strings.Contains(c.screen(), "is one") || c.mode() != before {
			t.Errorf("the screen shows %q", c.screen())
		}
	})
	t.Run("with --json", func(t *testing.T) {
		c := openConsole(t, "cordon", shell("test -t 1 || echo a pipe", "--json")...)
		c.end(0)
		c.expect(`"stdout": "a pipe\n"`)
	})
	for _, stream := range []string{"stdout", "stderr"} {
		t.Run(stream+" goes into a file", func(t *testing.T) {
			file, err := os.Create(filepath.Join(t.TempDir(), "file"))
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			c := newConsole(t)
			cmd := exec.Command("cordon", shell("test -t 0 || echo to stdout; echo to stderr >&2")...)
			if stream == "stdout" {
				cmd.Stdout = file
			} else {
				cmd.Stderr = file
			}
			c.start(cmd)
			c.end(0)
			kept, err := os.ReadFile(file.Name())
			if err != nil || string(kept) != "to "+stream+"\n" {
				t.Errorf("the file has %q, %v", kept, err)
			}
		})
	}
	t.Run("in the background", func(t *testing.T) {
		// The kernel stops a background job that reads from its terminal or changes it.
		c := openConsole(t, "sh", "-c", `set -m; cordon exec --allow-interpreters -- sh -c 'cat; test -t 1 || echo a pipe' & wait; echo "all done"`)
		c.expect("all done")
		c.expect("a pipe")
		c.end(0)
	})
}

func TestChoose(t *testing.T) {
	yes, no := func() bool { return true }, func() bool { return false }
	unasked := func() bool { t.Error("a stream that is no terminal has no foreground"); return false }
	for _, tt := range []struct {
		name                         string
		plain, stdin, stdout, stderr bool
		foreground                   func() bool
		want                         view
	}{
		{"a person", false, true, true, true, yes, view{terminal: true, input: true}},
		{"pipes are asked for", true, true, true, true, yes, view{input: true}},
		{"a pipe behind", false, true, false, true, yes, view{input: true}},
		{"errors into a file", false, true, true, false, yes, view{input: true}},
		{"a pipe before", false, false, true, true, unasked, view{input: true}},
		{"a program", false, false, false, false, unasked, view{input: true}},
		{"in the background", false, true, true, true, no, view{}},
		{"in the background, a pipe behind", false, true, false, true, no, view{}},
	} {
		if got := choose(tt.plain, tt.stdin, tt.stdout, tt.stderr, tt.foreground); got != tt.want {
			t.Errorf("%s: %+v instead of %+v", tt.name, got, tt.want)
		}
	}
}

// When the terminal is gone, cordon ends at once.
func TestTerminalHangsUp(t *testing.T) {
	c := openConsole(t, "cordon", shell("echo ready; exec sleep 60")...)
	c.expect("ready")
	c.theirs.Close()
	c.ours.Close()
	select {
	case <-c.ended:
	case <-time.After(patience):
		t.Fatal("it does not end")
	}
	if c.cmd.ProcessState.Success() {
		t.Error("it says that all is well")
	}
}
