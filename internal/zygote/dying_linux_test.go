package zygote

import (
	"os/exec"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// childOf starts a program that is killed and waited for in the end.
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

// ended waits until a child has ended, and leaves it to be waited for: it is like a
// process that takes long to end.
func ended(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
		t.Fatal(err)
	}
}

// A process that is ending is not killed for having no channel, however long it takes:
// what ended it would be lost.
func TestSlowDeath(t *testing.T) {
	child := childOf(t, "/bin/true")
	ended(t, child)
	w := &Worker{PID: child.Process.Pid, exited: make(chan struct{})}
	done := make(chan struct{})
	looked := make(chan struct{})
	go func() {
		defer close(done)
		w.awaitDeath(0) // it looks at once, and again and again
	}()
	go func() {
		defer close(looked)
		for range 20 {
			if !dying(w.PID) {
				t.Error("a process that has ended is taken for a living one")
			}
			time.Sleep(time.Millisecond)
		}
	}()
	<-looked
	close(w.exited)
	<-done
	if why := w.kill.reason(); why != "" {
		t.Errorf("it was killed: %s", why)
	}
}

// One that lives on is killed.
func TestLifeWithoutAChannel(t *testing.T) {
	child := childOf(t, "/bin/sleep", "600")
	w := &Worker{PID: child.Process.Pid, exited: make(chan struct{})}
	go func() {
		for w.kill.reason() == "" {
			time.Sleep(time.Millisecond)
		}
		close(w.exited)
	}()
	w.awaitDeath(0)
	if why := w.kill.reason(); why != KilledChannel {
		t.Errorf("the reason is %q", why)
	}
}

func TestDying(t *testing.T) {
	alive, stopped, gone := childOf(t, "/bin/sleep", "600"), childOf(t, "/bin/sleep", "600"), childOf(t, "/bin/true")
	if err := stopped.Process.Signal(unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	ended(t, gone)
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
