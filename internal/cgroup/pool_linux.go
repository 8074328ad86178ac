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
	// idleMax bounds what a burst of workers leaves behind: 5 descriptors each on
	// v1 and 4 on v2; for a tree one more, and another where processes are counted
	// in a hierarchy of their own. A process may have 1,024 on many hosts, and a
	// Runner has two pools. As many as it runs at once by default.
	idleMax = 64
	// drainMax is how long Close waits for processes that are being killed.
	drainMax = 2 * time.Second
	// retryStuck bounds what a Return spends on the groups of others.
	retryStuck = 4
	// restTime is how long a group rests before it is leased again. The
	// kernel frees what belonged to a process (some 90 KiB of stack and
	// tables) 15 to 30 ms after its death.
	restTime = 100 * time.Millisecond
)

// A Pool owns one parent group and leases the groups in it.
type Pool struct {
	dir      string
	version  int
	drain    time.Duration // drainMax, but for tests
	counting counting

	mu     sync.Mutex
	lock   int // descriptor that says the owner lives; -1 when closed for good
	closed bool
	made   int
	idle   []*node
	leased map[*Group]bool
	stuck  []string // directories that could not be removed yet
}

// Open makes the pool's parent group, after removing those of owners who died
// without doing so.
func Open(f Features) (*Pool, error) {
	if !f.Usable() {
		return nil, fmt.Errorf("%w: %s", ErrUnsupported, f.Reason)
	}
	// Whoever left groups that count processes left one of these too, so the
	// other hierarchy is looked at for a reason only.
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

// handOut turns a v2 controller on for the groups in dir. It stays on: by the
// time of Close others may count on it.
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

// Path is the pool's own directory.
func (p *Pool) Path() string { return p.dir }

// Lease gives a clean group with these limits, made or used again. On a host
// that does not count processes (Features.ProcessReason) the group works
// without, and Group.CountsProcesses says so; where Features promised it and
// it fails, so does Lease.
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

// prepare sets the limits and notes the counters that a lease starts from.
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

// take prefers the group returned last: its kernel structures are warm. One
// that rests is passed over.
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

// discard removes a group, now or when it can be.
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

// Close ends all leases and removes all groups. It waits, not for long, for
// workers that are being killed; where one stays, the error names it, and Close
// may be called again. The next Open on this host after this process's end
// removes what is left.
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

// pidsBelow are the processes in the groups of a pool, each once.
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

// waitExit waits until one of the processes is dead, in either version and
// without asking over and over: v1 has no event for a group that has become
// empty, but a process has one for its end. False means that there was nothing
// to wait for, or that the time is over.
func waitExit(pids []int, timeout time.Duration) bool {
	for _, pid := range pids {
		if pid == 0 {
			continue // In a pid namespace that we cannot see.
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

// makeOwned makes a pool's group and locks it. The lock ends with the process,
// however that ends, and is seen in every pid namespace.
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
		// Somebody in another pid namespace, where our pid means nothing, may
		// have swept the group before it was locked. The name is random, so
		// nobody but us makes it anew.
		if unix.Access(dir, unix.F_OK) == nil {
			return dir, lock, nil
		}
		unix.Close(lock)
	}
	return "", -1, fmt.Errorf("cgroup: groups made in %s are removed by somebody else", parent)
}
