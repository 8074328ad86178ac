package jail

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// hostView is what a run must leave as it was.
type hostView struct {
	name, mounts string
	descriptors  []string
	cgroups      []string
	temporary    []string
	routines     goleak.Option
}

func lookAtHost(t testing.TB) hostView {
	t.Helper()
	return hostView{
		name: hostName(t), mounts: hostMounts(t), descriptors: openDescriptors(t), cgroups: cgroupsOfOurs(),
		temporary: temporaryFiles(t), routines: goleak.IgnoreCurrent(),
	}
}

// compare waits a little: the kernel lets go of some things after the last process
// is gone, and a goroutine ends after it has said so.
func (h hostView) compare(t testing.TB) {
	t.Helper()
	if now := hostName(t); now != h.name {
		t.Errorf("the host's name was %s and is %s", h.name, now)
	}
	for name, look := range map[string]func() []string{
		"mount":          func() []string { return added(strings.Split(h.mounts, "\n"), strings.Split(hostMounts(t), "\n")) },
		"descriptor":     func() []string { return added(h.descriptors, openDescriptors(t)) },
		"cgroup":         func() []string { return added(h.cgroups, cgroupsOfOurs()) },
		"temporary file": func() []string { return added(h.temporary, temporaryFiles(t)) },
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
		t.Errorf("goroutines are left: %v", err)
	}
}

// pause lets others go on for some milliseconds.
func pause() { <-time.After(5 * time.Millisecond) }

func added(before, after []string) (left []string) {
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

func hostMounts(t testing.TB) string {
	t.Helper()
	data, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// openDescriptors are what this process holds, by what they are: pipes and
// sockets all look different, so that only their kind counts.
func openDescriptors(t testing.TB) (all []string) {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		target, err := os.Readlink("/proc/self/fd/" + e.Name())
		if err != nil {
			continue // that of the folder itself
		}
		if kind, _, found := strings.Cut(target, ":["); found && !strings.HasPrefix(kind, "anon") {
			target = kind
		}
		all = append(all, target)
	}
	return all
}

// cgroupsOfOurs are the groups of pools whose owner is this process.
func cgroupsOfOurs() (all []string) {
	for _, pattern := range []string{"/sys/fs/cgroup/cordon-*", "/sys/fs/cgroup/*/cordon-*", "/sys/fs/cgroup/*/*/cordon-*"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			continue
		}
		for _, name := range names {
			if parts := strings.Split(filepath.Base(name), "-"); len(parts) > 1 && parts[1] == itoa(os.Getpid()) {
				all = append(all, name)
			}
		}
	}
	slices.Sort(all)
	return all
}

// temporaryFiles are those of cordon's own making.
func temporaryFiles(t testing.TB) (all []string) {
	t.Helper()
	for _, dir := range []string{os.TempDir(), "/dev/shm", "/var/tmp", "/run"} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			if strings.Contains(e.Name(), "cordon") {
				all = append(all, filepath.Join(dir, e.Name()))
			}
		}
	}
	return all
}
