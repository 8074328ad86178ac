package attack

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/run"
)

const nobody = 65534

// nakedPatience is how long past its limit an attempt must keep going to show
// that nothing stopped it.
const nakedPatience = 500 * time.Millisecond

// TestAttemptsEscapeWithoutWalls tests the attempts: one that cannot succeed without walls
// shows nothing when it is held. Each script runs in a plain interpreter, and has to report
// an escape, touch a canary, run past its limit or flood its output.
func TestAttemptsEscapeWithoutWalls(t *testing.T) {
	const python = "/usr/bin/python3"
	if _, err := os.Stat(python); err != nil {
		missing(t, "no "+python)
	}
	attemptsEscape(t, python)
}

// The same with the C library musl, on which some attempts have to be made differently.
func TestAttemptsEscapeOnMusl(t *testing.T) {
	python := hosttest.NeedsExtra(t, hosttest.PythonMusl)
	// Other users cannot read a checkout below a home directory.
	readable := shortTempDir(t)
	if err := os.CopyFS(readable, os.DirFS(filepath.Dir(filepath.Dir(python)))); err != nil {
		t.Fatal(err)
	}
	attemptsEscape(t, filepath.Join(readable, "bin", filepath.Base(python)))
}

func attemptsEscape(t *testing.T, python string) {
	hosttest.NotUnderRace(t, "it tests walls, which the detector does not see")
	for _, a := range all(t) {
		if a.Naked.As == "no" {
			continue
		}
		t.Run(a.Name, func(t *testing.T) {
			if endless(a) && !a.Alone {
				t.Parallel() // they mostly wait, and do not affect this process
			}
			uid := os.Getuid()
			switch {
			case a.Naked.As == "yes" && uid == 0:
				uid = nobody
			case a.Naked.As == "root" && uid != 0:
				t.Skip("needs root")
			}
			seen := ""
			for _, fork := range []bool{false, true} {
				if fork && !strings.Contains(a.Script, nextRun) {
					break
				}
				gained, detail := nakedRun(t, python, a, uid, fork)
				if gained != "" {
					t.Log(gained)
					return
				}
				seen += detail + "\n"
			}
			if a.Naked.Maybe {
				t.Skipf("did not escape, as expected on some hosts (%s): %s", a.Naked.Reason, seen)
			}
			if status, _ := os.ReadFile("/proc/self/status"); strings.Contains(string(status), "Seccomp:\t2") {
				missing(t, "did not escape, but the tests are themselves behind a filter, as in a container: "+seen)
			}
			t.Errorf("did not escape without walls: %s", seen)
		})
	}
}

// nakedRun returns what was gained, or else what was observed.
func nakedRun(t *testing.T, python string, a Attempt, uid int, fork bool) (gained, detail string) {
	canaries := plant(t)
	programs, err := a.Runs()
	if err != nil {
		t.Fatal(err)
	}
	request, err := json.Marshal(map[string]any{"programs": programs, "context": canaries.Context(), "fork": fork})
	if err != nil {
		t.Fatal(err)
	}
	harness, err := os.ReadFile("testdata/naked.py")
	if err != nil {
		t.Fatal(err)
	}
	scratch := filepath.Join(shortTempDir(t), "scratch")
	if err := os.Mkdir(scratch, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(scratch, 0o777); err != nil {
		t.Fatal(err)
	}
	answer, channel, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Close()

	var stdout, stderr head
	cmd := exec.Command(python, "-I", "-S", "-c", string(harness))
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = scratch, bytes.NewReader(request), &stdout, &stderr
	cmd.Env = append(os.Environ(), "TMPDIR="+scratch)
	cmd.ExtraFiles = []*os.File{channel}
	cmd.WaitDelay = time.Second
	// Some attempts target the group of the test process, so the child stays in it. It is
	// killed with its parent.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if uid != os.Getuid() {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	channel.Close()
	wait := 20 * time.Second
	if endless(a) {
		wait = a.Limits.WallTime + nakedPatience
		if a.Limits.CPUTime > 0 {
			wait = min(a.Limits.WallTime, a.Limits.CPUTime) + nakedPatience
		}
	}
	timer := time.AfterFunc(wait, func() { cmd.Process.Kill() })
	value, _ := io.ReadAll(answer)
	waited := cmd.Wait()
	ended := timer.Stop()

	touched := append(canaries.Check(), canaries.spot(stdout.String()+stderr.String()+string(value))...)
	var said claim
	_ = json.Unmarshal(value, &said)
	detail = fmt.Sprintf("said %.300s; ended: %v; stderr: %.1000s", value, waited, stderr.String())
	var exit *exec.ExitError
	switch {
	case said.Escaped != nil && *said.Escaped:
		return said.Detail, detail
	case len(touched) > 0:
		return strings.Join(touched, "; "), detail
	case !ended && endless(a):
		return "was still running after its limit", detail
	case a.Limits.Output > 0 && stdout.size+stderr.size > int(a.Limits.Output):
		return fmt.Sprintf("wrote %d bytes", stdout.size+stderr.size), detail
	case slices.Contains(a.Expect, run.Signaled) && errors.As(waited, &exit) && exit.Sys().(syscall.WaitStatus).Signaled():
		return "ended by a signal", detail
	}
	return "", detail
}

// head keeps the start of the output and counts the rest.
type head struct {
	bytes.Buffer
	size int
}

func (h *head) Write(p []byte) (int, error) {
	if h.size += len(p); h.Len() < 1<<20 {
		h.Buffer.Write(p)
	}
	return len(p), nil
}

// ReadFrom hides Buffer's ReadFrom, which io.Copy would use instead of Write.
func (h *head) ReadFrom(r io.Reader) (int64, error) {
	return io.Copy(struct{ io.Writer }{h}, r)
}

// endless reports whether only a limit can end the attempt.
func endless(a Attempt) bool {
	return slices.Contains(a.Expect, run.TimedOut) || slices.Contains(a.Expect, run.OutOfCPU)
}

// missing skips the test, or fails it if CORDON_REQUIRE_HOST promises a complete host.
func missing(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("CORDON_REQUIRE_HOST") == "1" {
		t.Fatal(why)
	}
	t.Skip(why)
}
