package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// idleMax bounds the idle groups after a burst of workers. Each has 5 descriptors
	// on v1 and 4 on v2; a tree has one more, and another if processes are counted in a
	// separate hierarchy. On many hosts a process may have 1,024, and a Runner has two
	// pools. It is the default number of concurrent runs.
	idleMax = 64
	// drainMax is how long Close waits for processes that are being killed.
	drainMax = 2 * time.Second
	// retryStuck bounds how many stuck groups a Return tries to remove.
	retryStuck = 4
	// restTime is how long a group is not leased after a tree. The kernel frees the
	// memory of a process (about 90 KiB of stack and page tables) 15 to 30 ms after its
	// death.
	restTime = 100 * time.Millisecond
)

// A Pool owns one parent group and leases the groups in it.
type Pool struct {
	dir      string
	version  int
	drain    time.Duration // drainMax, except in tests
	counting counting

	mu     sync.Mutex
	lock   int // descriptor whose lock shows that the owner lives; -1 after Close
	closed bool
	made   int
	idle   []*node
	leased map[*Group]bool
	stuck  []string // directories that could not be removed yet
}

// Open creates the pool's parent group. It first removes the groups of dead owners.
func Open(f Features) (*Pool, error) {
	if !f.Usable() {
		return nil, fmt.Errorf("%w: %s", ErrUnsupported, f.Reason)
	}
	// A dead owner of counting groups also left memory groups, so the other hierarchy
	// is swept only if some were found here.
	if Sweep(f.Parent) > 0 && f.CountsProcesses() {
		Sweep(f.ProcessParent)
	}
	if f.Version == 2 {
		if err := handOut("memory", f.Parent); err != nil {
			return nil, err
		}
	}
	name, err := ownName()
	if err != nil {
		return nil, err
	}
	dir, lock, err := makeOwned(f.Parent, name)
	if err != nil {
		return nil, err
	}
	p := &Pool{dir: dir, version: f.Version, drain: drainMax, lock: lock, leased: map[*Group]bool{}}
	p.counting = counting{features: f, pool: dir, lock: -1}
	if f.Version == 2 {
		if err := handOut("memory", dir); err != nil {
			return nil, errors.Join(err, p.Close())
		}
	}
	return p, nil
}

// handOut turns a v2 controller on for the groups in dir. It stays on after Close, because
// others may use it by then.
func handOut(controller, dir string) error {
	control := dir + "/cgroup.subtree_control"
	b, err := read(control)
	if err != nil {
		return err
	}
	if slices.Contains(strings.Fields(string(b)), controller) {
		return nil
	}
	return write(control, "+"+controller)
}

// Path returns the pool's directory.
func (p *Pool) Path() string { return p.dir }

// Lease returns a clean group with these limits, new or reused. On a host that does not count
// processes (Features.ProcessReason) the group works without, and Group.CountsProcesses is
// false. If counting should work according to Features but fails, Lease fails.
func (p *Pool) Lease(l Limits) (*Group, error) {
	if l.Processes < 0 {
		return nil, fmt.Errorf("cgroup: a limit of %d processes", l.Processes)
	}
	for {
		n, fresh, err := p.take()
		if err != nil {
			return nil, err
		}
		if !fresh && !(n.clean() && (l.Processes == 0 || n.tree.vacant())) {
			p.discard(n)
			continue
		}
		g, err := p.prepare(n, l)
		if err != nil {
			p.discard(n)
			return nil, err
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.closed {
			n.closeFiles() // Close removes the directory.
			return nil, ErrClosed
		}
		p.leased[g] = true
		return g, nil
	}
}

// prepare sets the limits and reads the counters at the start of a lease.
func (p *Pool) prepare(n *node, l Limits) (*Group, error) {
	if err := n.setLimit(l.Memory); err != nil {
		return nil, err
	}
	kills, err := n.begin()
	if err != nil {
		return nil, fmt.Errorf("cgroup: reset the counters of %s: %w", n.dir, err)
	}
	g := &Group{pool: p, dir: n.dir, kills: kills, node: n}
	if l.Processes == 0 {
		return g, n.tree.lift()
	}
	if err := p.counting.grow(n); err != nil {
		return nil, err
	}
	g.start, err = n.beginTree(l.Processes)
	return g, err
}

// take prefers the group that was returned last, whose kernel structures are in the cache. It
// skips groups that rest.
func (p *Pool) take() (n *node, fresh bool, err error) {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, false, ErrClosed
	}
	for i, n := range slices.Backward(p.idle) {
		if n.rested() {
			p.idle = slices.Delete(p.idle, i, i+1)
			p.mu.Unlock()
			return n, false, nil
		}
	}
	p.made++
	dir := fmt.Sprintf("%s/w%d", p.dir, p.made)
	p.mu.Unlock()
	n, err = newNode(dir, p.version)
	if err != nil {
		err = fmt.Errorf("cgroup: make a group: %w", err)
	}
	return n, true, err
}

func (p *Pool) takeBack(g *Group, n *node, empty bool) {
	if !empty {
		empty = n.tree.empty(g.start != nil)
		if empty {
			left, err := pids(n.dir)
			empty = err == nil && len(left) == 0
		}
	}
	n.restUntil = time.Time{}
	if g.start != nil && n.charged() {
		n.restUntil = time.Now().Add(restTime)
	}
	p.mu.Lock()
	delete(p.leased, g)
	if empty && !n.spoiled && !p.closed && len(p.idle) < idleMax {
		p.idle = append(p.idle, n)
		p.mu.Unlock()
		return
	}
	p.mu.Unlock()
	p.discard(n)
}

// discard removes a group, now or as soon as possible.
func (p *Pool) discard(n *node) {
	n.closeFiles()
	p.mu.Lock()
	k := min(retryStuck, len(p.stuck))
	dirs := append(n.dirs(), p.stuck[:k]...)
	p.stuck = slices.Delete(p.stuck, 0, k)
	p.mu.Unlock()
	dirs = slices.DeleteFunc(dirs, func(dir string) bool { return remove(dir) == nil })
	p.mu.Lock()
	p.stuck = append(p.stuck, dirs...)
	p.mu.Unlock()
}

// Close ends all leases and removes all groups. It waits a short time for workers that are
// being killed. If one stays, the error names it, and Close may be called again. The next
// Open on this host after this process has ended removes the rest.
func (p *Pool) Close() error {
	p.mu.Lock()
	p.closed = true
	if p.lock < 0 {
		p.mu.Unlock()
		return nil
	}
	idle, leased := p.idle, p.leased
	p.idle, p.leased, p.stuck = nil, map[*Group]bool{}, nil
	p.mu.Unlock()
	for _, n := range idle {
		n.closeFiles()
	}
	for g := range leased {
		g.Return()
	}

	dirs := append(p.counting.end(), p.dir)
	deadline := time.Now().Add(p.drain)
	pause := time.Millisecond
	for {
		var err error
		for _, dir := range dirs {
			err = errors.Join(err, removeTree(dir))
		}
		if err == nil {
			break
		}
		if left := time.Until(deadline); left <= 0 {
			return fmt.Errorf("cgroup: close: %w (processes %v)", err, pidsBelow(dirs))
		} else if !waitExit(pidsBelow(dirs), left) {
			time.Sleep(min(pause, left))
			pause = min(2*pause, 50*time.Millisecond)
		}
	}
	p.counting.unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lock >= 0 {
		unix.Close(p.lock)
		p.lock = -1
	}
	return nil
}

// pidsBelow returns the processes in the groups of a pool, each once.
func pidsBelow(dirs []string) (all []int) {
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			if e.IsDir() {
				some, _ := pids(dir + "/" + e.Name())
				all = append(all, some...)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// waitExit waits until one of the processes is dead, without polling. It works in both
// versions: v1 has no event for an empty group, but a pidfd has one for the end of a process.
// It returns false if there was nothing to wait for or the time is over.
func waitExit(pids []int, timeout time.Duration) bool {
	for _, pid := range pids {
		if pid == 0 {
			continue // Not visible in our pid namespace.
		}
		fd, err := unix.PidfdOpen(pid, 0)
		if errors.Is(err, unix.ESRCH) {
			return true
		}
		if err != nil {
			continue
		}
		defer unix.Close(fd)
		n, err := again(func() (int, error) {
			return unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(timeout.Milliseconds())+1)
		})
		return err == nil && n > 0
	}
	return false
}

// makeOwned creates a pool's group and locks it. The lock always ends with the process, and
// is visible in every pid namespace.
func makeOwned(parent, name string) (dir string, lock int, err error) {
	dir = parent + "/" + name
	for range 8 {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return "", -1, fmt.Errorf("cgroup: make the pool's group: %w", err)
		}
		lock, err = open(dir, unix.O_RDONLY|unix.O_DIRECTORY)
		if errors.Is(err, fs.ErrNotExist) {
			continue // Swept, see below.
		}
		if err != nil {
			return "", -1, errors.Join(err, remove(dir))
		}
		_, err = again(func() (int, error) { return 0, unix.Flock(lock, unix.LOCK_EX) })
		if err != nil {
			unix.Close(lock)
			return "", -1, errors.Join(fmt.Errorf("cgroup: lock %s: %w", dir, err), remove(dir))
		}
		// A cordon in another pid namespace, where our pid is unknown, may have swept
		// the group before it was locked. The name is random, so only we create it.
		if unix.Access(dir, unix.F_OK) == nil {
			return dir, lock, nil
		}
		unix.Close(lock)
	}
	return "", -1, fmt.Errorf("cgroup: another process removes the groups in %s", parent)
}
