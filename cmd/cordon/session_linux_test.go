package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// types types lines and waits for what follows each.
func (c *console) types(lines ...[2]string) {
	c.t.Helper()
	for _, line := range lines {
		c.keys(line[0])
		c.expectNew(line[1])
	}
}

// expectNew waits for words behind those of the last call.
func (c *console) expectNew(words string) {
	c.t.Helper()
	c.expectWhere(words, func(shown string) bool {
		at := strings.Index(shown[min(c.seen, len(shown)):], words)
		if at >= 0 {
			c.seen += at + len(words)
		}
		return at >= 0
	})
}

func openSession(t *testing.T, flags ...string) *console {
	t.Helper()
	c := openConsole(t, "cordon", append([]string{"session"}, flags...)...)
	c.expectNew("Python on tier process. :help shows the commands, Ctrl-D leaves.\r\n")
	c.expectNew(">>> ")
	return c
}

func TestSessionAtATerminal(t *testing.T) {
	t.Run("steps", func(t *testing.T) {
		c := openSession(t)
		c.types(
			[2]string{"x = 20\r", ">>> "},
			[2]string{"def f(y):\r", "... "},
			[2]string{"\treturn x + y\r", "... "}, // tab indents
			[2]string{"\r", ">>> "},
			[2]string{"f(1)\r", "\r\n21\r\n>>> "},
			[2]string{"print('unfinished', end='')\r", "\r\nunfinished\r\n>>> "},
			[2]string{"1 / 0\r", "\r\nZeroDivisionError: division by zero\r\n>>> "},
			[2]string{"exit()\r", ""},
		)
		c.end(0)
		if strings.Contains(c.screen(), "cordon: exception") {
			t.Errorf("an exception is shown twice: %q", c.screen())
		}
	})
	t.Run("tab completes", func(t *testing.T) {
		t.Chdir(t.TempDir())
		if err := os.WriteFile("mine.csv", []byte("a,b"), 0o600); err != nil {
			t.Fatal(err)
		}
		c := openSession(t)
		c.types(
			[2]string{"prices = [40, 2]\r", ">>> "},
			[2]string{"sum(pri\tc\t)\r", "\r\n42\r\n>>> "},
			[2]string{"prices.re\t", "remove   reverse  "},
			[2]string{"v\t()\r", ">>> "},
			[2]string{"prices\r", "\r\n[2, 40]\r\n>>> "},
			// No name: it would run.
			[2]string{"class Lies: __dir__ = lambda self: ['ab;print(7*6)']\r\r", ">>> "},
			[2]string{"lies = Lies()\r", ">>> "},
			[2]string{"lies.a\t\r", "has no attribute 'a'\r\n>>> "},
			[2]string{":pu\t m\t\r", "cordon: put: mine.csv (3B)\r\n>>> "},
			[2]string{":rm mi\t\r", ">>> "},
			[2]string{":fil\t\r", "there are no files\r\n>>> "},
			[2]string{"\x04", ""},
		)
		c.end(0)
	})
	t.Run("a line is edited, and an earlier one comes back", func(t *testing.T) {
		c := openSession(t)
		c.types(
			[2]string{"10 + 3\x7f2\r", "\r\n12\r\n>>> "},
			[2]string{"'other'\r", "\r\n'other'\r\n>>> "},
			[2]string{"\x1b[A\x1b[A * 2\r", "\r\n14\r\n>>> "},
			[2]string{"\x04", ""},
		)
		c.end(0)
	})
	t.Run("^C interrupts a step, and the session goes on", func(t *testing.T) {
		c := openSession(t)
		c.types(
			[2]string{"x = 42\r", ">>> "},
			[2]string{"print('a', 'b'); import time; time.sleep(600)\r", "\r\na b\r\n"},
			[2]string{"\x03", "KeyboardInterrupt\r\n>>> "},
			[2]string{"x\r", "\r\n42\r\n>>> "},
			[2]string{"\x04", ""},
		)
		c.end(0)
	})
	t.Run("^C clears the line, and an unfinished step", func(t *testing.T) {
		c := openSession(t)
		c.types(
			[2]string{"1 / 0\x03", "\r\n>>> "},
			[2]string{"def f(:\r", "... "},
			[2]string{"1 / 0\x03", "\r\n>>> "},
			[2]string{"6 * 7\r", "\r\n42\r\n>>> "},
			[2]string{"\x04", ""},
		)
		c.end(0)
		if strings.Contains(c.screen(), "Error") {
			t.Errorf("a cleared line ran: %q", c.screen())
		}
	})
	t.Run("a long line is not cut", func(t *testing.T) {
		c := openSession(t)
		c.types(
			[2]string{"x = '" + strings.Repeat("x", 5000) + "'\r", "cordon: the line is longer than 4095 characters"},
			[2]string{"1 + 1\r", "\r\n2\r\n>>> "},
			[2]string{"\x04", ""},
		)
		c.end(0)
	})
	t.Run("a session that ends is replaced", func(t *testing.T) {
		c := openSession(t)
		c.types(
			[2]string{"import os; x = 1; os._exit(3)\r", ": the guest left with exit code 3\r\ncordon: the session ended, and its state is lost: a new one begins\r\n>>> "},
			[2]string{"x\r", "NameError"},
			[2]string{":reset\r", "cordon: the state is gone: a new session begins\r\n>>> "},
			[2]string{":quit\r", ""},
		)
		c.end(0)
	})
	t.Run("files", func(t *testing.T) {
		t.Chdir(t.TempDir())
		c := openSession(t)
		c.types(
			[2]string{"open('a.txt', 'w').write('x')\r", "\r\n1\r\n>>> "},
			[2]string{":files\r", "\r\na.txt  1B  text/plain\r\n>>> "},
			[2]string{":get a.txt\r", "\r\ncordon: saved: a.txt (1B)\r\n>>> "},
			[2]string{":get a.txt\r", "\r\ncordon: a.txt is here already: write :get a.txt PATH\r\n>>> "},
			[2]string{":rm a.txt\r", "\r\n>>> "},
			[2]string{"open('a.txt')\r", "\r\ncordon: hint: a.txt is a file of yours: write :put a.txt\r\n>>> "},
			[2]string{":put a.txt\r", "\r\ncordon: put: a.txt (1B)\r\n>>> "},
			[2]string{"open('a.txt').read()\r", "\r\n'x'\r\n>>> "},
			[2]string{"\x04", ""},
		)
		c.end(0)
	})
	t.Run("pictures are drawn", func(t *testing.T) {
		c := newConsole(t)
		cmd := exec.Command("cordon", "session")
		cmd.Env = append(os.Environ(), "TERM=xterm-kitty", "TERM_PROGRAM=")
		c.start(cmd)
		c.expectNew(">>> ")
		c.types(
			[2]string{"from binascii import a2b_base64\r", ">>> "},
			[2]string{"class P:\r", "... "},
			[2]string{"  def _repr_png_(self): return '" + onePixel + "'\r", "... "},
			[2]string{"  def __repr__(self): return 'a picture'\r", "... "},
			[2]string{"\r", ">>> "},
			[2]string{"P()\r", "\r\na picture\r\n\x1b_Ga=T,f=100,q=2,m=0;"},
			[2]string{"6 * 7\r", "\r\n42\r\n>>> "},
			[2]string{"\x04", ""},
		)
		c.end(0)
	})
	t.Run("a terminal that can nothing", func(t *testing.T) {
		c := newConsole(t)
		cmd := exec.Command("cordon", "session")
		cmd.Env = append(os.Environ(), "TERM=dumb")
		c.start(cmd)
		c.expectNew(">>> ")
		c.types([2]string{"6 * 7\r", "\r\n42\r\n>>> "}, [2]string{"\x04", ""})
		c.end(0)
		if strings.Contains(c.screen(), "\x1b") {
			t.Errorf("escape sequences: %q", c.screen())
		}
	})
}

// Whatever ends a session, the terminal gets its mode back.
func TestSessionRestoresTheTerminal(t *testing.T) {
	for name, tt := range map[string]struct {
		end  func(c *console)
		code int
	}{
		"^D":      {func(c *console) { c.keys("\x04") }, 0},
		"SIGTERM": {func(c *console) { c.signal(unix.SIGTERM) }, 143},
		"SIGHUP":  {func(c *console) { c.signal(unix.SIGHUP) }, 129},
	} {
		t.Run(name, func(t *testing.T) {
			c := newConsole(t)
			before := c.mode()
			c.start(exec.Command("cordon", "session"))
			c.expectNew(">>> ")
			if mode := c.mode(); mode.Lflag&unix.ISIG != 0 {
				t.Errorf("the terminal is not raw: %+v", mode)
			}
			tt.end(c)
			c.end(tt.code)
			if after := c.mode(); after != before {
				t.Errorf("the mode was %+v and is %+v", before, after)
			}
		})
	}
}
