package containtest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/backend/jail"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// toTheTerminal writes to the controlling terminal, even if no stream is a terminal.
const toTheTerminal = `(echo from inside > /dev/tty) 2>&- && escaped; held`

// TestContainTerminalOfTheRunner checks that a command without a terminal cannot use the
// caller's. Tests seldom have a terminal, so this one starts a Runner in a session with one.
func TestContainTerminalOfTheRunner(t *testing.T) {
	eachBackend(t, func(t *testing.T, suite *suite) {
		a := attempt{wall: "terminal", name: "of the Runner", act: "runner at a terminal"}
		s := suite.scene(t, a, suite.guarded)
		s.params["jail"], s.params["program"] = string(suite.jail), suite.program
		for _, naked := range []bool{false, true} {
			s.params["naked"] = naked
			output := s.atTerminal(t, a)
			if escaped := strings.Contains(output, "ESCAPED"); escaped != naked || !escaped && !strings.Contains(output, "HELD") {
				t.Errorf("without a jail: %v: output %q", naked, output)
			}
		}
	})
}

// atTerminal runs an act of this binary at a terminal, and returns its output.
func (s *scene) atTerminal(t *testing.T, a attempt) string {
	t.Helper()
	theirs := newTerminal(t)
	argv, env := s.command(a)
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	cmd.Env, cmd.Dir = os.Environ(), s.workspace
	for name, value := range env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	var out bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs, &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, truncate(out.String()))
	}
	return out.String()
}

// runnerAtTerminal runs a shell that writes to the terminal, from a jail or without one.
func runnerAtTerminal(args params) error {
	if args["naked"] == true {
		out, err := exec.Command("/bin/sh", "-c", shellPrelude+toTheTerminal).Output()
		if err != nil {
			return broken("%v", err)
		}
		fmt.Printf("%s", out)
		return errQuiet
	}
	p, err := policy.Preset("command")
	if err != nil {
		return broken("%v", err)
	}
	p.Jail, p.AllowInterpreters = policy.JailBackend(args.text("jail")), true
	b, err := jail.New(jail.Options{Policy: p})
	if err != nil {
		return broken("%v", err)
	}
	defer b.Close()
	r, err := runIn(context.Background(), b, p, run.Request{
		Command: run.Command{Args: []string{"/bin/sh", "-c", `eval "$attempt"`}, Env: map[string]string{"attempt": shellPrelude + toTheTerminal}, Workspace: args.text("workspace")},
	})
	if err != nil {
		return broken("%v", err)
	}
	fmt.Print(r.Stdout, r.Stderr)
	return errQuiet
}

// newTerminal returns the guest's end of a terminal that ends with the test.
func newTerminal(t *testing.T) *os.File {
	t.Helper()
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ours.Close() })
	if err := unix.IoctlSetPointerInt(int(ours.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(ours.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { theirs.Close() })
	return theirs
}
