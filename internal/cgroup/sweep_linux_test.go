package cgroup

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestSweep(t *testing.T) {
	f := testParent(t)
	live, err := Open(f)
	if err != nil {
		t.Fatal(err)
	}
	defer live.Close()
	other := startChild(t)
	otherDir := other.ask("own", f.Parent)
	killed := startChild(t)
	killedDir := killed.ask("own", f.Parent)
	killed.kill()
	// Groups with other names are not touched.
	foreign := f.Parent + "/cordon-build"
	if err := os.Mkdir(foreign, 0o755); err != nil {
		t.Fatal(err)
	}

	if n := Sweep(f.Parent); n != 1 {
		t.Errorf("Sweep removed %d, want 1", n)
	}
	got := groupsIn(t, f.Parent)
	want := []string{filepath.Base(live.Path()), filepath.Base(otherDir), "cordon-build"}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("after Sweep: %v, want %v (and not %s)", got, want, filepath.Base(killedDir))
	}
	if g, err := live.Lease(Limits{Memory: 64 * mib}); err != nil {
		t.Errorf("the live pool is damaged: %v", err)
	} else {
		g.Return()
	}
}

func TestOpenSweeps(t *testing.T) {
	f := testParent(t)
	killed := startChild(t)
	dir := killed.ask("own", f.Parent)
	killed.kill()
	p, err := Open(f)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("%s is still there: %v", dir, err)
	}
}

func TestSweepDetectsAReusedPid(t *testing.T) {
	f := testParent(t)
	start, err := startTime(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	recycled := fmt.Sprintf("%s/cordon-%d-%d-0123abcd", f.Parent, os.Getpid(), start-1)
	unlocked := fmt.Sprintf("%s/cordon-%d-%d-0123abcd", f.Parent, os.Getpid(), start)
	for _, dir := range []string{recycled, unlocked} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	Sweep(f.Parent)
	if got := groupsIn(t, f.Parent); len(got) != 1 || got[0] != filepath.Base(unlocked) {
		t.Errorf("after Sweep: %v, want only %s", got, filepath.Base(unlocked))
	}
}

// The pid of an owner in another pid namespace is unknown here, but its lock is visible.
func TestSweepRespectsALock(t *testing.T) {
	f := testParent(t)
	p, err := Open(f)
	if err != nil {
		t.Fatal(err)
	}
	start, err := startTime(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if alive(fmt.Sprint(os.Getpid()), fmt.Sprint(start-1)) {
		t.Fatal("a wrong start time passes for this process")
	}
	if sweepUnlocked(p.Path()) {
		t.Error("a locked group was swept")
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

func TestSweepLeavesAGroupInUse(t *testing.T) {
	f := testParent(t)
	dir := f.Parent + "/cordon-4194305-1-0123abcd" // above the kernel's largest pid
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	c := startChild(t)
	if err := write(dir+"/cgroup.procs", fmt.Sprint(c.pid())); err != nil {
		t.Fatal(err)
	}
	if n := Sweep(f.Parent); n != 0 {
		t.Errorf("Sweep removed %d, want 0", n)
	}
	c.kill()
	if n := Sweep(f.Parent); n != 1 {
		t.Errorf("Sweep removed %d, want 1", n)
	}
}
