package cgroup

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// v2Parent creates a group in the v2 hierarchy, with or without controllers, which do not
// matter for the membership of processes.
func v2Parent(t *testing.T) string {
	t.Helper()
	for _, point := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"} {
		var s unix.Statfs_t
		if unix.Statfs(point, &s) != nil || s.Type != unix.CGROUP2_SUPER_MAGIC {
			continue
		}
		dir, err := os.MkdirTemp(point, "test-divide-")
		if err != nil {
			lacks(t, err.Error(), "run as root")
		}
		t.Cleanup(func() {
			if err := removeTree(dir); err != nil {
				t.Error(err)
			}
		})
		return dir
	}
	lacks(t, "there is no v2 hierarchy", "mount -t cgroup2 none /sys/fs/cgroup")
	return ""
}

func processesIn(t *testing.T, dir string) []int {
	t.Helper()
	all, err := pids(dir)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestDivideMovesOnlyTheCaller(t *testing.T) {
	dir := v2Parent(t)
	first, second := startChild(t), startChild(t)
	for _, c := range []*child{first, second} {
		if err := write(filepath.Join(dir, "cgroup.procs"), strconv.Itoa(c.pid())); err != nil {
			t.Fatal(err)
		}
	}
	main := filepath.Join(dir, subgroup)
	first.must("divide", dir)
	if here, there := processesIn(t, dir), processesIn(t, main); !slices.Equal(here, []int{second.pid()}) || !slices.Equal(there, []int{first.pid()}) {
		t.Errorf("%d went: %v stayed, %v is below", first.pid(), here, there)
	}
	// A second process uses the existing subgroup, and does not remove it.
	second.must("divide", dir)
	second.must("unite", dir)
	if here, there := processesIn(t, dir), processesIn(t, main); !slices.Equal(here, []int{second.pid()}) || !slices.Equal(there, []int{first.pid()}) {
		t.Errorf("%d came back: %v here, %v below", second.pid(), here, there)
	}
	second.kill()
	// The group of a pool prevents the undo.
	pool := filepath.Join(dir, "cordon-1-1-00000000")
	if err := os.Mkdir(pool, 0o755); err != nil {
		t.Fatal(err)
	}
	first.must("unite", dir)
	if there := processesIn(t, main); !slices.Equal(there, []int{first.pid()}) {
		t.Errorf("it left while a pool was there: %v", there)
	}
	if err := os.Remove(pool); err != nil {
		t.Fatal(err)
	}
	first.must("unite", dir)
	if left := groupsIn(t, dir); len(left) != 0 || !slices.Equal(processesIn(t, dir), []int{first.pid()}) {
		t.Errorf("left behind: %v", left)
	}
	first.kill()
}

func TestFailedDivideLeavesNothing(t *testing.T) {
	dir := t.TempDir() // no cgroup: there is no cgroup.procs to write to
	if err := divide(dir); err == nil || !strings.Contains(err.Error(), "cgroup.procs") {
		t.Errorf("%v", err)
	}
	if left := groupsIn(t, dir); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestDivideDoesNothingWithoutDelegation(t *testing.T) {
	before, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		t.Fatal(err)
	}
	undo, err := Divide()
	if err != nil {
		t.Fatal(err)
	}
	undo()
	if after, err := os.ReadFile("/proc/self/cgroup"); err != nil || !bytes.Equal(before, after) {
		t.Errorf("%q, then %q: %v", before, after, err)
	}
}
