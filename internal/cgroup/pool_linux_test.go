package cgroup

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const mib = 1 << 20

// oomKilled reports whether a count means one kill: v2 counts the victim and then its group.
func oomKilled(p *Pool, n int) bool { return n == 1 || n == 2 && p.version == 2 }

func TestOOMKill(t *testing.T) {
	for _, command := range []string{"touch", "share"} {
		t.Run(command, func(t *testing.T) {
			p := openPool(t)
			g := lease(t, p, 32*mib)
			c := startChild(t)
			add(t, g, c)
			if answer := c.ask(command, 64*mib); answer != "" {
				t.Fatalf("64 MiB fitted into 32: %q", answer)
			}
			if sig := c.wait(); sig != syscall.SIGKILL {
				t.Errorf("ended by %v, want SIGKILL", sig)
			}
			if n := kills(t, g); !oomKilled(p, n) {
				t.Errorf("OOMKills = %d, want 1", n)
			}
			g.Return()
		})
	}
}

func TestPlainKillIsNoOOMKill(t *testing.T) {
	p := openPool(t)
	g := lease(t, p, 32*mib)
	c := startChild(t)
	add(t, g, c)
	c.must("touch", 4*mib)
	c.kill()
	if n := kills(t, g); n != 0 {
		t.Errorf("OOMKills = %d, want 0", n)
	}
}

// A process can join the group through an inherited descriptor.
func TestJoin(t *testing.T) {
	p := openPool(t)
	g := lease(t, p, 32*mib)
	if len(g.JoinFDs()) == 0 {
		t.Skip("there is no way to join on v2")
	}
	fd, err := unix.Dup(g.JoinFDs()[0])
	if err != nil {
		t.Fatal(err)
	}
	join := os.NewFile(uintptr(fd), "join")
	defer join.Close()
	cmd := exec.Command("/bin/sh", "-c", "printf 0 >&3 && echo joined && read line")
	cmd.ExtraFiles = []*os.File{join}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "joined\n" {
		t.Errorf("%q %v", line, err)
	}
	if all, err := pids(g.Path()); err != nil || len(all) != 1 || all[0] != cmd.Process.Pid {
		t.Errorf("the group has %v, not %d (%v)", all, cmd.Process.Pid, err)
	}
	in.Close()
	_ = cmd.Wait() // read fails at the end of its input
}

func TestReuseStartsClean(t *testing.T) {
	p := openPool(t)
	g := lease(t, p, 32*mib)
	c := startChild(t)
	add(t, g, c)
	c.ask("touch", 64*mib)
	c.wait()
	if n := kills(t, g); !oomKilled(p, n) {
		t.Fatalf("OOMKills = %d, want 1", n)
	}
	g.Return()

	second := lease(t, p, 64*mib)
	if second.Path() != g.Path() {
		t.Errorf("%s was followed by %s", g.Path(), second.Path())
	}
	if n := kills(t, second); n != 0 {
		t.Errorf("OOMKills = %d before anything ran", n)
	}
	// The limit is new too.
	c = startChild(t)
	add(t, second, c)
	c.must("touch", 48*mib)
	c.kill()
	if n := kills(t, second); n != 0 {
		t.Errorf("OOMKills = %d", n)
	}
	// The first lease must not affect the second one's group.
	for name, err := range map[string]error{"Add": g.Add(os.Getpid()), "SetLimit": g.SetLimit(mib)} {
		if !errors.Is(err, ErrReturned) {
			t.Errorf("%s after Return: %v", name, err)
		}
	}
	second.Return()
	second.Return()
}

// A group whose only process was reaped is leased again without a check.
func TestReturnEmpty(t *testing.T) {
	p := openPool(t)
	g := lease(t, p, 64*mib)
	c := startChild(t)
	add(t, g, c)
	c.kill()
	g.ReturnEmpty()
	g.ReturnEmpty() // twice is once
	second := lease(t, p, 64*mib)
	defer second.Return()
	if second.Path() != g.Path() {
		t.Errorf("%s was followed by %s", g.Path(), second.Path())
	}
	if err := g.SetLimit(mib); !errors.Is(err, ErrReturned) {
		t.Errorf("SetLimit after ReturnEmpty: %v", err)
	}
}

func TestMemoryLeftBehindIsNotInherited(t *testing.T) {
	p := openPool(t)
	g := lease(t, p, 32*mib)
	c := startChild(t)
	add(t, g, c)
	c.must("share", 8*mib)
	// Keep the guest's tmpfs file open after its death, as a leaked mount would.
	held, err := os.Open(fmt.Sprintf("/proc/%d/fd/%s", c.pid(), memfdOf(t, c.pid())))
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	c.kill()
	g.Return()
	if second := lease(t, p, 32*mib); second.Path() == g.Path() {
		t.Error("a group with 8 MiB of somebody else's memory was leased again")
	}
}

func memfdOf(t *testing.T, pid int) string {
	t.Helper()
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if link, _ := os.Readlink(dir + "/" + e.Name()); strings.HasPrefix(link, "/memfd:share") {
			return e.Name()
		}
	}
	t.Fatal("the child has no memfd")
	return ""
}

func TestSetLimit(t *testing.T) {
	p := openPool(t)
	g := lease(t, p, 64*mib)
	for _, limit := range []int64{16 * mib, 16 * mib, 128 * mib, 32 * mib} {
		if err := g.SetLimit(limit); err != nil {
			t.Fatal(err)
		}
		if got, err := number(read(g.node.path(g.node.limit))); err != nil || got != limit {
			t.Errorf("limit = %d, %v, want %d", got, err, limit)
		}
		if g.node.swapOn {
			if got, err := number(read(g.node.path(g.node.swap))); err != nil || got != limit {
				t.Errorf("limit with swap = %d, %v, want %d", got, err, limit)
			}
		}
	}
	c := startChild(t)
	add(t, g, c)
	if answer := c.ask("touch", 64*mib); answer != "" {
		t.Errorf("the narrowed limit did not hold: %q", answer)
	}
	// Zero must neither mean "no limit" nor kill at once.
	for _, limit := range []int64{0, -1, 4095} {
		if g.SetLimit(limit) == nil {
			t.Errorf("a limit of %d was accepted", limit)
		}
		if _, err := p.Lease(Limits{Memory: limit}); err == nil {
			t.Errorf("a lease with limit %d was given", limit)
		}
	}
}

func TestAddRefuses(t *testing.T) {
	g := lease(t, openPool(t), 64*mib)
	for _, pid := range []int{0, -1} {
		if g.Add(pid) == nil {
			t.Errorf("Add(%d) was accepted", pid)
		}
	}
	c := startChild(t)
	c.kill()
	if err := g.Add(c.pid()); !errors.Is(err, unix.ESRCH) {
		t.Errorf("Add of a dead process: %v, want ESRCH", err)
	}
}

func TestReturnedGroupInUseIsNotLeasedAgain(t *testing.T) {
	p := openPool(t)
	g := lease(t, p, 64*mib)
	c := startChild(t)
	add(t, g, c)
	g.Return()
	second := lease(t, p, 64*mib)
	if second.Path() == g.Path() {
		t.Fatal("a group with a process in it was leased again")
	}
	c.kill()
	// It is removed when the next group is discarded.
	second.node.spoiled = true
	second.Return()
	if left := groupsIn(t, p.Path()); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

func TestCloseLeavesNothing(t *testing.T) {
	f := testParent(t)
	p, err := Open(f)
	if err != nil {
		t.Fatal(err)
	}
	returned, held := lease(t, p, 64*mib), lease(t, p, 64*mib)
	inUse := startChild(t)
	add(t, held, inUse)
	returned.Return()
	// Killed but not reaped: Close finds a process that is ending.
	if err := inUse.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if left := groupsIn(t, f.Parent); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
	if err := held.Add(os.Getpid()); !errors.Is(err, ErrReturned) {
		t.Errorf("Add after Close: %v", err)
	}
	if _, err := p.Lease(Limits{Memory: 64 * mib}); !errors.Is(err, ErrClosed) {
		t.Errorf("Lease after Close: %v", err)
	}
	if err := p.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
}

func TestCloseIsBoundedAndMayBeRepeated(t *testing.T) {
	p := openPool(t)
	p.drain = 20 * time.Millisecond
	c := startChild(t)
	add(t, lease(t, p, 64*mib), c)
	err := p.Close()
	if !errors.Is(err, unix.EBUSY) || !strings.Contains(err.Error(), fmt.Sprint(c.pid())) {
		t.Fatalf("Close with a live process: %v, want EBUSY and its pid", err)
	}
	c.kill()
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

func TestFilesAreClosed(t *testing.T) {
	p := openPool(t)
	before := openFiles(t)
	var groups []*Group
	for range 20 {
		groups = append(groups, lease(t, p, 64*mib))
	}
	if each := (openFiles(t) - before) / len(groups); each > 5 {
		t.Errorf("%d descriptors per group", each)
	}
	for _, g := range groups[:10] {
		g.Return()
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if after := openFiles(t); after >= before {
		t.Errorf("%d descriptors open before the pool was used and %d after Close", before, after)
	}
}

// A group, and the pool after a burst of commands, keep few descriptors open: a Runner may have
// only 1,024.
func TestIdleGroupsKeepFewFiles(t *testing.T) {
	p := openTrees(t)
	before := openFiles(t)
	g := lease(t, p, 64*mib)
	plain := openFiles(t) - before
	g.ReturnEmpty()
	leaseTree(t, p, 64*mib, 8) // opens the descriptors that all groups share
	pool := openFiles(t) - before
	var groups []*Group
	for range 100 {
		groups = append(groups, leaseTree(t, p, 64*mib, 8))
	}
	tree := (openFiles(t) - before - pool) / len(groups)
	want, wantTree := 5, 6
	if p.version == 2 {
		want, wantTree = 4, 5
	}
	if p.counting.apart() {
		wantTree++
	}
	if plain != want || tree != wantTree {
		t.Errorf("%d descriptors for a group, %d with a tree; want %d and %d", plain, tree, want, wantTree)
	}
	for _, g := range groups {
		g.ReturnEmpty()
	}
	if kept := openFiles(t) - before - pool; kept > 1024/2 {
		t.Errorf("%d descriptors are kept after a burst", kept)
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

func TestHammerLease(t *testing.T) {
	const workers, rounds = 50, 4
	p := openPool(t)
	children := make([]*child, workers)
	for i := range children {
		children[i] = startChild(t)
	}
	var mu sync.Mutex
	inUse := map[string]bool{}
	mark := func(path string, on bool) {
		mu.Lock()
		defer mu.Unlock()
		if on && inUse[path] {
			t.Errorf("%s is leased twice", path)
		}
		inUse[path] = on
	}
	var all sync.WaitGroup
	for i, c := range children {
		all.Go(func() {
			for round := range rounds {
				g, err := p.Lease(Limits{Memory: int64(16+i) * mib})
				if err != nil {
					t.Error(err)
					return
				}
				mark(g.Path(), true)
				if err := g.SetLimit(int64(8+round) * mib); err != nil {
					t.Error(err)
				}
				if round == rounds-1 {
					if err := g.Add(c.pid()); err != nil {
						t.Error(err)
					}
					if i%2 == 0 {
						c.ask("touch", 32*mib)
					}
					c.kill()
					if n, err := g.OOMKills(); err != nil || oomKilled(p, n) != (i%2 == 0) {
						t.Errorf("worker %d: OOMKills = %d, %v", i, n, err)
					}
				}
				mark(g.Path(), false)
				g.Return()
			}
		})
	}
	all.Wait()
	if made := len(groupsIn(t, p.Path())); made > workers {
		t.Errorf("%d groups for %d workers", made, workers)
	}
}

func TestHammerCloseDuringLeases(t *testing.T) {
	f := testParent(t)
	p, err := Open(f)
	if err != nil {
		t.Fatal(err)
	}
	var first, all sync.WaitGroup
	for range 16 {
		first.Add(1)
		all.Go(func() {
			g, err := p.Lease(Limits{Memory: 64 * mib})
			if err != nil {
				t.Error(err)
			}
			first.Done()
			for err == nil {
				g.Return()
				// Fails at the end: the pool is closed, or its directory removed.
				g, err = p.Lease(Limits{Memory: 64 * mib})
			}
		})
	}
	first.Wait()
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	all.Wait()
	if left := groupsIn(t, f.Parent); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}
