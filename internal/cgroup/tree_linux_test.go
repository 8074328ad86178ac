package cgroup

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
)

// roomy is enough for some hundred forks of a test binary, whose page tables are large,
// especially with the race detector.
const roomy = 1 << 30

// testParents is testParent with a parent for counting processes.
func testParents(t testing.TB) Features {
	t.Helper()
	real := requireCgroup(t)
	if !real.CountsProcesses() {
		lacks(t, real.ProcessReason, real.ProcessRemedy)
	}
	f := testParent(t)
	f.ProcessReason = ""
	if real.ProcessParent == real.Parent {
		if f.Version == 2 {
			if err := handOut("pids", real.Parent); err != nil {
				t.Fatal(err)
			}
		}
		f.ProcessParent = f.Parent
		return f
	}
	dir, err := os.MkdirTemp(real.ProcessParent, "test-cgroup-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := removeTree(dir); err != nil {
			t.Error(err)
		}
	})
	f.ProcessParent = dir
	return f
}

func openTrees(t testing.TB) *Pool {
	t.Helper()
	return openIn(t, testParents(t))
}

// forksRefused returns how many forks the limit of a group has refused.
func forksRefused(t testing.TB, g *Group) int {
	t.Helper()
	n, err := g.ForksRefused()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// countTasks returns how many tasks the kernel counts in a group.
func countTasks(t testing.TB, g *Group) int {
	t.Helper()
	n, err := number(read(g.node.tree.path("pids.current")))
	if err != nil {
		t.Fatal(err)
	}
	return int(n)
}

// waitUntilEmpty waits until the group looks empty: all processes are dead, reaped or not.
func waitUntilEmpty(t testing.TB, g *Group) {
	t.Helper()
	for _, dir := range g.node.dirs() {
		hosttest.Eventually(t, dir+" has no process", func() bool {
			left, err := pids(dir)
			return err == nil && len(left) == 0
		})
	}
}

// orphans makes orphaned processes children of the test, which reaps them at the end, so that
// the result does not depend on pid 1.
func orphans(t *testing.T) {
	t.Helper()
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for {
			if pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil); pid <= 0 && !errors.Is(err, unix.EINTR) {
				break
			}
		}
		if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0); err != nil {
			t.Error(err)
		}
	})
}

func TestForkBomb(t *testing.T) {
	const bound = 40
	p := openTrees(t)
	orphans(t)
	g := leaseTree(t, p, roomy, bound)
	if !g.CountsProcesses() {
		t.Fatal("nobody counts")
	}
	c := startChild(t)
	add(t, g, c)
	if n := forksRefused(t, g); n != 0 {
		t.Errorf("ForksRefused = %d before the first fork", n)
	}
	path, cut := leash(t)
	c.must("bomb", path)
	hosttest.Eventually(t, "a fork is refused", func() bool { return forksRefused(t, g) > 0 })
	if n := countTasks(t, g); n != bound {
		t.Errorf("%d tasks at a bound of %d", n, bound)
	}
	if n := kills(t, g); n != 0 {
		t.Errorf("OOMKills = %d", n)
	}
	// A process outside the group can still fork.
	outside := startChild(t)
	if answer := outside.ask("fill", 2*bound); answer != fmt.Sprint(2*bound, " false") {
		t.Errorf("outside: %q", answer)
	}

	c.kill()
	cut()
	waitUntilEmpty(t, g)
	if n := forksRefused(t, g); n == 0 {
		t.Error("the evidence has died with them")
	}
	if sig := c.wait(); sig != unix.SIGKILL {
		t.Errorf("ended by %v, want SIGKILL", sig)
	}
	g.Return()
}

func TestTreeReuseStartsClean(t *testing.T) {
	p := openTrees(t)
	g := leaseTree(t, p, roomy, 30)
	c := startChild(t)
	add(t, g, c)
	if answer := c.ask("fill", 100); !strings.HasSuffix(answer, " true") {
		t.Fatalf("100 processes at a bound of 30: %q", answer)
	}
	if n := forksRefused(t, g); n != 1 {
		t.Errorf("ForksRefused = %d, want 1", n)
	}
	c.kill()
	waitFreed(t, g)
	g.Return()

	second := leaseTree(t, p, roomy, 200)
	if second.Path() != g.Path() {
		t.Errorf("%s was followed by %s", g.Path(), second.Path())
	}
	if n := forksRefused(t, second); n != 0 {
		t.Errorf("ForksRefused = %d before anything ran", n)
	}
	c = startChild(t)
	add(t, second, c)
	if answer := c.ask("fill", 100); answer != "100 false" {
		t.Errorf("100 processes at a bound of 200: %q", answer)
	}
	if n := forksRefused(t, second); n != 0 {
		t.Errorf("ForksRefused = %d below the bound", n)
	}
	c.kill()
	waitFreed(t, second)
	second.Return()

	// The same limit as before, and then none.
	third := leaseTree(t, p, roomy, 200)
	c = startChild(t)
	add(t, third, c)
	if answer := c.ask("fill", 100); answer != "100 false" {
		t.Errorf("100 processes at the same bound: %q", answer)
	}
	c.kill()
	waitFreed(t, third)
	third.Return()
	single := lease(t, p, roomy)
	if single.Path() != g.Path() {
		t.Errorf("%s was followed by %s", g.Path(), single.Path())
	}
	c = startChild(t)
	add(t, single, c)
	if answer := c.ask("fill", 250); answer != "250 false" {
		t.Errorf("without a bound: %q", answer)
	}
	c.kill()
	if _, err := single.ForksRefused(); !errors.Is(err, ErrUnsupported) {
		t.Errorf("ForksRefused without a bound: %v", err)
	}
	single.Return()
	if _, err := g.ForksRefused(); !errors.Is(err, ErrReturned) {
		t.Errorf("ForksRefused after Return: %v", err)
	}
	if _, err := g.Usage(); !errors.Is(err, ErrReturned) {
		t.Errorf("Usage after Return: %v", err)
	}
	if g.CountsProcesses() {
		t.Error("a returned group counts")
	}
}

// Dead processes of a large tree have memory for a while. Their group is then neither leased
// nor discarded.
func TestTreeRestsUntilItsMemoryIsFreed(t *testing.T) {
	p := openTrees(t)
	g := leaseTree(t, p, roomy, 1000)
	c := startChild(t)
	add(t, g, c)
	if answer := c.ask("fill", 250); answer != "250 false" {
		t.Fatalf("%q", answer)
	}
	c.kill()
	n := g.node
	g.Return()
	if !n.charged() {
		t.Skip("this kernel frees it at once")
	}
	if n.restUntil.IsZero() {
		t.Error("it does not rest")
	}
	second := leaseTree(t, p, 64*mib, 5)
	if second.Path() == g.Path() {
		t.Error("the next guest would have paid")
	}
	waitFreed(t, &Group{node: n})
	n.restUntil = time.Now().Add(-time.Second)
	if third := lease(t, p, 64*mib); third.Path() != g.Path() {
		t.Errorf("it was thrown away: %s was followed by %s", g.Path(), third.Path())
	}
}

// Zombies count in a group that looks empty.
func TestZombiesAreNotInherited(t *testing.T) {
	p := openTrees(t)
	g := leaseTree(t, p, 64*mib, 50)
	c := startChild(t)
	add(t, g, c)
	if err := c.cmd.Process.Kill(); err != nil { // not reaped
		t.Fatal(err)
	}
	waitUntilEmpty(t, g)
	if n := countTasks(t, g); n == 0 {
		t.Skip("this kernel does not count zombies")
	}
	g.Return()
	second := leaseTree(t, p, 64*mib, 50)
	if second.Path() == g.Path() {
		t.Error("a group with a zombie in it was leased again")
	}
	c.wait()
	second.Return()
}

func TestPeakMemory(t *testing.T) {
	p := openTrees(t)
	if !canReset(p.version) {
		t.Skip("this kernel has no peak that can be reset")
	}
	for _, touched := range []int64{24 * mib, 6 * mib} { // the second is not the first
		g := leaseTree(t, p, 64*mib, 50)
		c := startChild(t)
		add(t, g, c)
		c.must("touch", touched)
		c.kill()
		u, err := g.Usage()
		if err != nil {
			t.Fatal(err)
		}
		if u.PeakMemory < touched || u.PeakMemory > touched+12*mib {
			t.Errorf("%d MiB touched, a peak of %d KiB", touched/mib, u.PeakMemory>>10)
		}
		if (u.CPU > 0) != (p.version == 2) {
			t.Errorf("CPU = %v on v%d", u.CPU, p.version)
		}
		g.Return()
	}
	g := lease(t, p, 64*mib)
	if u, err := g.Usage(); err != nil || u != (Usage{}) {
		t.Errorf("a lease that is not measured: %+v, %v", u, err)
	}
}

func canReset(version int) bool {
	var name unix.Utsname
	if version == 1 {
		return true
	}
	var major, minor int
	if unix.Uname(&name) != nil {
		return false
	}
	_, err := fmt.Sscanf(unix.ByteSliceToString(name.Release[:]), "%d.%d", &major, &minor)
	return err == nil && (major > 6 || major == 6 && minor >= 12)
}

func TestHammerTrees(t *testing.T) {
	const workers, rounds = 8, 6
	f := testParents(t)
	p := openIn(t, f)
	var all sync.WaitGroup
	for i := range workers {
		c := startChild(t)
		all.Go(func() {
			for round := range rounds {
				limits := Limits{Memory: roomy, Processes: (i + round) % 3 * 20} // 0, 20, 40
				g, err := p.Lease(limits)
				if err != nil {
					t.Error(err)
					return
				}
				if g.CountsProcesses() != (limits.Processes > 0) {
					t.Errorf("%+v: CountsProcesses = %v", limits, g.CountsProcesses())
				}
				if limits.Processes > 0 {
					if n, err := g.ForksRefused(); n != 0 || err != nil {
						t.Errorf("ForksRefused = %d, %v", n, err)
					}
				}
				if round < rounds-1 {
					g.Return()
					continue
				}
				if err := g.Add(c.pid()); err != nil {
					t.Error(err)
				}
				answer := c.ask("fill", 100)
				if full := strings.HasSuffix(answer, " true"); full != (limits.Processes > 0) {
					t.Errorf("%+v: %q", limits, answer)
				}
				c.kill()
				g.Return()
			}
		})
	}
	all.Wait()
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	for _, parent := range []string{f.Parent, f.ProcessParent} {
		if left := groupsIn(t, parent); len(left) != 0 {
			t.Errorf("left in %s: %v", parent, left)
		}
	}
}
