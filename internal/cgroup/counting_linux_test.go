package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Leases for workers that cannot fork have no cost for counting.
func TestProcessesAreCountedOnlyOnDemand(t *testing.T) {
	f := testParents(t)
	p := openIn(t, f)
	g := lease(t, p, 64*mib)
	if g.node.tree != nil || g.CountsProcesses() {
		t.Error("a lease without a bound is counted")
	}
	if f.ProcessParent != f.Parent {
		if got := groupsIn(t, f.ProcessParent); len(got) != 0 {
			t.Errorf("made: %v", got)
		}
	}
	if p.version == 1 && len(g.JoinFDs()) != 1 {
		t.Error("there is no way to join")
	}
	// A process joins both hierarchies.
	if tree := leaseTree(t, p, 64*mib, 5); p.version == 1 && tree.node.tree.apart && len(tree.JoinFDs()) != 2 {
		t.Error("a process could join without being counted")
	}
}

func TestHostThatDoesNotCount(t *testing.T) {
	p := openPool(t)
	g := leaseTree(t, p, roomy, 5)
	if g.CountsProcesses() {
		t.Error("it says that it counts")
	}
	c := startChild(t)
	add(t, g, c)
	c.must("touch", 8*mib)
	if answer := c.ask("fill", 50); answer != "50 false" {
		t.Errorf("%q", answer)
	}
	if _, err := g.ForksRefused(); !errors.Is(err, ErrUnsupported) {
		t.Errorf("ForksRefused: %v", err)
	}
	if u, err := g.Usage(); err != nil || p.version == 1 && u.PeakMemory < 8*mib {
		t.Errorf("Usage: %+v, %v", u, err)
	}
	c.kill()
	waitFreed(t, g)
	g.Return()
	if again := leaseTree(t, p, 64*mib, 5); again.Path() != g.Path() {
		t.Errorf("%s was followed by %s", g.Path(), again.Path())
	}
	if _, err := p.Lease(Limits{Memory: 64 * mib, Processes: -1}); err == nil {
		t.Error("a bound of -1 was accepted")
	}
}

// If counting fails despite Features, Lease returns an error, and memory limits still work.
func TestCountingFails(t *testing.T) {
	f := testParents(t)
	if f.ProcessParent == f.Parent {
		t.Skip("there is one hierarchy for both")
	}
	if err := os.Remove(f.ProcessParent); err != nil {
		t.Fatal(err)
	}
	p := openIn(t, f)
	limits := Limits{Memory: 64 * mib, Processes: 5}
	if _, err := p.Lease(limits); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no place for the pool: %v", err)
	}
	c := startChild(t)
	g := lease(t, p, 64*mib)
	add(t, g, c)
	c.kill()
	g.Return()
	g = lease(t, p, 64*mib)

	if err := os.Mkdir(f.ProcessParent, 0o755); err != nil {
		t.Fatal(err)
	}
	leaseTree(t, p, 64*mib, 5).Return()
	// The name of the next group is already used in the other hierarchy.
	other := p.counting.dir
	idle := leaseTree(t, p, 64*mib, 5)
	taken := fmt.Sprintf("%s/w%d", other, p.made+1)
	if err := os.Mkdir(taken, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Lease(limits); !errors.Is(err, os.ErrExist) {
		t.Errorf("no place for the group: %v", err)
	}
	idle.Return()
	g.Return()
	lease(t, p, 64*mib).Return()
	if left := groupsIn(t, p.Path()); len(left) != 2 {
		t.Errorf("the group that failed is left: %v", left)
	}
	// A later group works, and Close removes the obstacle too.
	leaseTree(t, p, 64*mib, 5).Return()
}

// If a process is in only one of two hierarchies, the group is not leased again.
func TestHalfAdd(t *testing.T) {
	p := openTrees(t)
	g := leaseTree(t, p, 64*mib, 50)
	if !g.node.tree.apart {
		t.Skip("there is one hierarchy for both")
	}
	c := startChild(t)
	if err := write(g.node.tree.path("cgroup.procs"), fmt.Sprint(c.pid())); err != nil {
		t.Fatal(err)
	}
	other := g.node.tree.dir
	g.Return()
	second := lease(t, p, 64*mib)
	if second.Path() == g.Path() {
		t.Error("it was leased again")
	}
	c.kill()
	second.node.spoiled = true
	second.Return() // retries the removal
	if _, err := os.Stat(other); !os.IsNotExist(err) {
		t.Errorf("%s is left: %v", other, err)
	}
}

func TestAddCountsOrFails(t *testing.T) {
	p := openTrees(t)
	g := leaseTree(t, p, 64*mib, 50)
	c := startChild(t)
	add(t, g, c)
	for _, dir := range g.node.dirs() {
		if in, err := pids(dir); err != nil || len(in) != 1 || in[0] != c.pid() {
			t.Errorf("%s has %v, %v", dir, in, err)
		}
	}
	c.kill()
	if err := g.Add(c.pid()); !errors.Is(err, unix.ESRCH) {
		t.Errorf("Add of a dead process: %v, want ESRCH", err)
	}
	if g.Add(0) == nil {
		t.Error("Add(0) was accepted")
	}
}

func TestCloseWhileATreeLives(t *testing.T) {
	f := testParents(t)
	p := openIn(t, f)
	p.drain = 20 * time.Millisecond
	before := openFiles(t)
	g := leaseTree(t, p, 64*mib, 50)
	leaseTree(t, p, 64*mib, 50).Return()
	c := startChild(t)
	add(t, g, c)
	err := p.Close()
	if !errors.Is(err, unix.EBUSY) || strings.Count(err.Error(), fmt.Sprintf("[%d]", c.pid())) != 1 {
		t.Fatalf("Close with a live process: %v, want EBUSY and its pid once", err)
	}
	if _, err := p.Lease(Limits{Memory: 64 * mib, Processes: 5}); !errors.Is(err, ErrClosed) {
		t.Errorf("Lease after Close: %v", err)
	}
	c.kill()
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	for _, parent := range []string{f.Parent, f.ProcessParent} {
		if left := groupsIn(t, parent); len(left) != 0 {
			t.Errorf("left in %s: %v", parent, left)
		}
	}
	if after := openFiles(t); after >= before {
		t.Errorf("%d descriptors open before and %d after Close", before, after)
	}
}

func TestSweepOfBothHierarchies(t *testing.T) {
	f := testParents(t)
	killed := startChild(t)
	dir := killed.ask("own", f.Parent, f.ProcessParent)
	other := filepath.Join(f.ProcessParent, filepath.Base(dir))
	for _, made := range []string{dir, other} {
		if got := groupsIn(t, made); len(got) != 1 || got[0] != "w1" {
			t.Fatalf("%s has %v", made, got)
		}
	}
	openIn(t, f) // while the owner lives
	if _, err := os.Stat(other + "/w1"); err != nil {
		t.Errorf("swept under its owner: %v", err)
	}
	killed.kill()
	p := openIn(t, f)
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("%s is still there: %v", dir, err)
	}
	if _, err := os.Stat(other); !os.IsNotExist(err) {
		t.Errorf("%s is still there: %v", other, err)
	}
	// A counting group without a memory group is removed by a Sweep of its parent.
	lost := f.ProcessParent + "/cordon-4194305-1-0123abcd" // above the kernel's largest pid
	if err := os.Mkdir(lost, 0o755); err != nil {
		t.Fatal(err)
	}
	leaseTree(t, p, 64*mib, 5)
	if _, err := os.Stat(lost); (err == nil) != (f.ProcessParent == f.Parent) {
		t.Errorf("%s: %v", lost, err)
	}
	// The group of a living pool is locked in both.
	if sweepUnlocked(p.counting.dir) {
		t.Error("a locked group was swept")
	}
}

func TestHammerCloseDuringFirstTrees(t *testing.T) {
	for range 20 {
		f := testParents(t)
		p, err := Open(f)
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				var err error
				for err == nil {
					var g *Group
					if g, err = p.Lease(Limits{Memory: 64 * mib, Processes: 5}); err == nil {
						g.Return()
					}
				}
			})
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		all.Wait()
		for _, parent := range []string{f.Parent, f.ProcessParent} {
			if left := groupsIn(t, parent); len(left) != 0 {
				t.Errorf("left in %s: %v", parent, left)
			}
		}
	}
}
