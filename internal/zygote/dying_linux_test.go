package zygote

import (
	"os/exec"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"
)

// childOf starts a program that is killed and waited for at the end of the test.
func childOf(t *testing.T, argv ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd
}

// waitUntilEnded waits until a child has ended, without reaping it, so that it looks like a
// process that takes long to end.
func waitUntilEnded(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
		t.Fatal(err)
	}
}

// awaitFor lets a worker wait for its death for 10 seconds.
func awaitFor(t *testing.T, pid int) (why Reason) {
	t.Helper()
	synctest.Test(t, func(*testing.T) {
		w := &Worker{PID: pid, exited: make(chan struct{})}
		done := make(chan struct{})
		go func() {
			defer close(done)
			w.awaitDeath(channelGrace)
		}()
		<-time.After(10 * time.Second)
		why = w.kill.reason()
		close(w.exited)
		<-done
	})
	return why
}

// A process that is ending is not killed for having no channel, however long it takes:
// the kill would hide its real exit.
func TestEndingWorkerIsNotKilled(t *testing.T) {
	child := childOf(t, "/bin/true")
	waitUntilEnded(t, child)
	if why := awaitFor(t, child.Process.Pid); why != "" {
		t.Errorf("it was killed: %s", why)
	}
}

// A process that lives on is killed.
func TestWorkerWithoutChannelIsKilled(t *testing.T) {
	if why := awaitFor(t, childOf(t, "/bin/sleep", "600").Process.Pid); why != KilledChannel {
		t.Errorf("the reason is %q", why)
	}
}

func TestDying(t *testing.T) {
	alive, stopped, gone := childOf(t, "/bin/sleep", "600"), childOf(t, "/bin/sleep", "600"), childOf(t, "/bin/true")
	if err := stopped.Process.Signal(unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	waitUntilEnded(t, gone)
	for name, test := range map[string]struct {
		pid  int
		want bool
	}{
		"alive": {alive.Process.Pid, false}, "stopped": {stopped.Process.Pid, false},
		"a zombie": {gone.Process.Pid, true}, "nobody": {1 << 22, true},
	} {
		if got := dying(test.pid); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
