package containtest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/cordon-sandbox/cordon/internal/cgroup"
	"github.com/cordon-sandbox/cordon/internal/hosttest"
)

// hostState is the state of the host that a run must not change.
type hostState struct {
	name        string
	mounts      []string
	descriptors []string
	cgroups     []string
	temporary   []string
	routines    goleak.Option
}

func captureHost(t testing.TB) hostState {
	t.Helper()
	return hostState{
		name: hostName(t), mounts: hosttest.Mounts(t), descriptors: openDescriptors(t), cgroups: cgroupsOf(t, os.Getpid()),
		temporary: temporaryFiles(t), routines: goleak.IgnoreCurrent(),
	}
}

// compare checks that nothing was left behind. It retries for a while: the kernel releases some
// resources after the last process has ended, and a goroutine exits after it has reported its
// end.
func (h hostState) compare(t testing.TB) {
	t.Helper()
	if now := hostName(t); now != h.name {
		t.Errorf("the host name was %s and is %s", h.name, now)
	}
	for name, look := range map[string]func() []string{
		"mount":          func() []string { return hosttest.NewMounts(t, h.mounts) },
		"descriptor":     func() []string { return newItems(h.descriptors, openDescriptors(t)) },
		"cgroup":         func() []string { return newItems(h.cgroups, cgroupsOf(t, os.Getpid())) },
		"temporary file": func() []string { return newItems(h.temporary, temporaryFiles(t)) },
	} {
		var left []string
		for range 200 {
			if left = look(); len(left) == 0 {
				break
			}
			pause()
		}
		if len(left) > 0 {
			t.Errorf("%s left behind: %v", name, left)
		}
	}
	if err := goleak.Find(h.routines); err != nil {
		t.Errorf("goroutines leaked: %v", err)
	}
}

// pause waits 5 ms.
func pause() { <-time.After(5 * time.Millisecond) }

func newItems(before, after []string) (left []string) {
	count := map[string]int{}
	for _, s := range before {
		count[s]++
	}
	for _, s := range after {
		if count[s]--; count[s] < 0 {
			left = append(left, s)
		}
	}
	return left
}

func hostName(t testing.TB) string {
	t.Helper()
	name, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// openDescriptors returns the descriptors of this process by target. Pipes and sockets all have
// different targets, so only their kind counts.
func openDescriptors(t testing.TB) (all []string) {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		target, err := os.Readlink("/proc/self/fd/" + e.Name())
		if err != nil {
			continue // the descriptor of the directory itself
		}
		if kind, _, found := strings.Cut(target, ":["); found && !strings.HasPrefix(kind, "anon") {
			target = kind
		}
		all = append(all, target)
	}
	return all
}

// cgroupsOf returns the cgroups of the pools of a process.
func cgroupsOf(t testing.TB, pid int) (all []string) {
	t.Helper()
	found := cgroup.Probe()
	for _, parent := range []string{found.Parent, found.ProcessParent} {
		if parent == "" {
			continue
		}
		names, err := filepath.Glob(fmt.Sprintf("%s/cordon-%d-*", parent, pid))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, names...)
	}
	slices.Sort(all)
	return slices.Compact(all) // both parents may be the same
}

// temporaryFiles returns our own temporary files: all in the directory of this test (see
// eachBackend), and elsewhere those whose name has this process's number. Other cordons may
// create and remove files at the same time.
func temporaryFiles(t testing.TB) (all []string) {
	t.Helper()
	ours := "*cordon*" + itoa(os.Getpid()) + "*"
	for dir, pattern := range map[string]string{os.TempDir(): "*", "/dev/shm": ours, "/var/tmp": ours, "/run": ours} {
		names, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, names...)
	}
	return all
}
