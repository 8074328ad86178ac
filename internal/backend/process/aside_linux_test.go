package process

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
)

// A worker whose guest is done dies behind its Runner, on one processor. Where others have
// work to do, it dies wherever there is room.
func TestDoneWorkerStepsAside(t *testing.T) {
	if runtime.NumCPU() == 1 {
		hosttest.Lacks(t, "there is one processor for all")
	}
	b := open(t, Options{Idle: 1})
	if policy, processors := deathOf(t, b); policy != unix.SCHED_BATCH || processors != 1 {
		t.Errorf("alone: it dies with policy %d on %d processors", policy, processors)
	}
	if err := b.gate.Enter(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer b.gate.Leave()
	if policy, processors := deathOf(t, b); policy != unix.SCHED_NORMAL || processors == 1 {
		t.Errorf("beside another: it dies with policy %d on %d processors", policy, processors)
	}
}

// deathOf runs a guest, and gives how its worker dies: its scheduling policy, and on how
// many processors it may.
func deathOf(t *testing.T, b *Backend) (policy, processors int) {
	t.Helper()
	job := jobOf(b, "import sys", nil)
	s, err := b.Open(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	pid := s.(*sandbox).member.PID
	var may unix.CPUSet
	if err := unix.SchedGetaffinity(pid, &may); err != nil {
		t.Fatal(err)
	}
	if err := unix.SchedSetaffinity(pid, &may); err == unix.EPERM {
		hosttest.Lacks(t, "a worker is another user's, and there is no CAP_SYS_NICE")
	}
	// Nobody buries it meanwhile: what is dead can still be looked at.
	server, err := strconv.Atoi(statOf(t, pid)[3])
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Kill(server, unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	defer unix.Kill(server, unix.SIGCONT)
	if _, err := s.Run(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	if policy, err = strconv.Atoi(statOf(t, pid)[40]); err != nil {
		t.Fatal(err)
	}
	if err := unix.SchedGetaffinity(pid, &may); err != nil {
		t.Fatal(err)
	}
	return policy, may.Count()
}

// statOf gives the fields of /proc/PID/stat, which count from 1 there.
func statOf(t *testing.T, pid int) []string {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	begin, rest, _ := strings.Cut(string(text), ") ") // its name is no hostile one
	return append([]string{"", begin}, strings.Fields(rest)...)
}
