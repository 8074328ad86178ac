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

// A worker whose guest is done dies on the CPU that its Runner leaves. If others have
// work to do, it dies on any CPU.
func TestFinishedWorkerMovesToRunnerCPU(t *testing.T) {
	if runtime.NumCPU() == 1 {
		hosttest.Lacks(t, "there is only one CPU")
	}
	b := open(t, Options{Idle: 1})
	if policy, cpus := deathOf(t, b); policy != unix.SCHED_BATCH || cpus != 1 {
		t.Errorf("alone: it dies with policy %d on %d CPUs", policy, cpus)
	}
	pass, err := b.gate.Enter(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer pass.Leave()
	if policy, cpus := deathOf(t, b); policy != unix.SCHED_NORMAL || cpus == 1 {
		t.Errorf("beside another: it dies with policy %d on %d CPUs", policy, cpus)
	}
}

// deathOf runs a guest, and returns how its worker dies: its scheduling policy, and the
// number of CPUs that it may use.
func deathOf(t *testing.T, b *Backend) (policy, cpus int) {
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
	// Its parent is stopped and does not reap it, so that it can be inspected when it is
	// dead.
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

// statOf returns the fields of /proc/PID/stat, which are numbered from 1 in proc(5).
func statOf(t *testing.T, pid int) []string {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	begin, rest, _ := strings.Cut(string(text), ") ") // the name contains no parenthesis
	return append([]string{"", begin}, strings.Fields(rest)...)
}
