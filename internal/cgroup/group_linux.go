package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// files are the names of the same files in the two versions.
type files struct{ limit, swap, usage, events, reclaim, join string }

var (
	filesV1 = files{
		limit: "memory.limit_in_bytes", swap: "memory.memsw.limit_in_bytes",
		usage: "memory.usage_in_bytes", events: "memory.oom_control", reclaim: "memory.force_empty",
		join: "tasks",
	}
	filesV2 = files{
		limit: "memory.max", swap: "memory.swap.max",
		usage: "memory.current", events: "memory.events", reclaim: "memory.reclaim",
	}
)

// A node is one directory, which outlives its leases. Files that are used for every worker
// stay open.
type node struct {
	dir     string
	version int
	files
	procs, max, usageFD, eventsFD int
	joinFD                        int  // v1: to which a process writes to join, or -1
	swapOn                        bool // v1: memory.memsw.* exists
	limitNow                      int64
	// spoiled nodes are removed and not leased again: the content of their files is
	// unknown or cannot be reset.
	spoiled bool
	// tree is nil until a lease for a tree of processes needs it.
	tree *tree
	// restUntil is set if dead processes of a tree still have memory.
	restUntil time.Time
}

func newNode(dir string, version int) (n *node, err error) {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, err
	}
	n = &node{dir: dir, version: version, files: filesV1, procs: -1, max: -1, usageFD: -1, eventsFD: -1, joinFD: -1}
	if version == 2 {
		n.files = filesV2
	}
	defer func() {
		if err != nil {
			n.closeFiles()
			err = errors.Join(err, remove(dir))
			n = nil
		}
	}()
	for _, f := range []struct {
		fd    *int
		name  string
		flags int
	}{
		{&n.procs, "cgroup.procs", unix.O_WRONLY}, {&n.max, n.limit, unix.O_WRONLY},
		{&n.usageFD, n.usage, unix.O_RDONLY}, {&n.eventsFD, n.events, unix.O_RDONLY}, {&n.joinFD, n.join, unix.O_WRONLY},
	} {
		if f.name == "" {
			continue
		}
		if *f.fd, err = open(n.path(f.name), f.flags); err != nil {
			return n, err
		}
	}
	if version == 2 {
		return n, n.prepareV2()
	}
	return n, n.prepareV1()
}

func (n *node) path(name string) string { return n.dir + "/" + name }

func (n *node) prepareV1() error {
	n.swapOn = unix.Access(n.path(n.swap), unix.F_OK) == nil
	if !n.swapOn {
		// Without swap accounting, a memory limit would only move the guest to swap,
		// so turn swapping off for it.
		if err := write(n.path("memory.swappiness"), "0"); err != nil {
			return err
		}
	}
	// It is inherited from the parent. If it is on, a guest at its limit blocks
	// forever instead of being killed.
	if off, err := field(n.path(n.events), "oom_kill_disable"); err == nil && off != 0 {
		return write(n.path(n.events), "0")
	}
	return nil
}

func (n *node) prepareV2() error {
	// Kernels without swap, or older than 4.19, lack these files.
	for name, value := range map[string]string{n.swap: "0", "memory.oom.group": "1"} {
		if err := write(n.path(name), value); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (n *node) closeFiles() {
	for _, fd := range []*int{&n.procs, &n.max, &n.usageFD, &n.eventsFD, &n.joinFD} {
		if *fd >= 0 {
			unix.Close(*fd)
			*fd = -1
		}
	}
	n.tree.closeFiles()
}

// dirs returns all directories of the node.
func (n *node) dirs() []string {
	if n.tree != nil && n.tree.apart {
		return []string{n.dir, n.tree.dir}
	}
	return []string{n.dir}
}

// leftover is how much may stay charged to a group that is leased again. It is not zero,
// because the kernel charges in batches of 64 pages per processor and releases them late.
const leftover = 1 << 20

// charged reports whether too much memory is left for the next lease.
func (n *node) charged() bool {
	left, err := number(readFD(n.usageFD))
	return err != nil || left > leftover
}

// rested reports whether the node can be cleaned. Before, it would be discarded because of
// memory that is about to be freed.
func (n *node) rested() bool {
	return n.restUntil.IsZero() || time.Now().After(n.restUntil)
}

// clean prepares a used node for the next worker, and reports whether it succeeded.
func (n *node) clean() bool {
	left, err := number(readFD(n.usageFD))
	if err == nil && left > leftover {
		// Reclaim the page cache of files that the last guest has read. Memory that
		// cannot be reclaimed, such as a tmpfs that is still in use, would count
		// against the next guest.
		amount := "0"
		if n.version == 2 {
			amount = strconv.FormatInt(left, 10)
		}
		// v2 returns EAGAIN if it reclaimed less; the usage that is read next decides.
		_ = write(n.path(n.reclaim), amount)
		left, err = number(readFD(n.usageFD))
	}
	return err == nil && left <= leftover
}

// kills returns the kernel's count since the group was created.
func (n *node) kills() (int64, error) {
	b, err := readFD(n.eventsFD)
	if err != nil {
		return 0, err
	}
	return fieldOf(b, n.path(n.events), "oom_kill")
}

// begin reads the counter at the start of a lease.
func (n *node) begin() (kills int64, err error) {
	kills, err = n.kills()
	if errors.Is(err, ErrUnsupported) {
		err = nil // OOMKills returns it.
	}
	return kills, err
}

func (n *node) setLimit(bytes int64) error {
	if bytes < int64(os.Getpagesize()) {
		return fmt.Errorf("cgroup: a memory limit of %d bytes is less than a page", bytes)
	}
	if bytes == n.limitNow {
		return nil
	}
	value := strconv.FormatInt(bytes, 10)
	// v1 requires that the limit of memory never exceeds that of memory and swap, so
	// the order depends on the direction. Equal limits mean no swap.
	steps := []func() error{func() error { return writeFD(n.max, value) }}
	if n.swapOn {
		steps = append(steps, func() error { return write(n.path(n.swap), value) })
		if n.limitNow != 0 && bytes > n.limitNow {
			steps[0], steps[1] = steps[1], steps[0]
		}
	}
	for _, step := range steps {
		if err := step(); err != nil {
			n.spoiled = true
			return fmt.Errorf("cgroup: limit the memory of %s to %d bytes: %w", n.dir, bytes, err)
		}
	}
	n.limitNow = bytes
	return nil
}

// A Group is the lease of one group for one worker. Its methods may be called
// from several goroutines, and Return more than once.
type Group struct {
	pool  *Pool
	dir   string
	kills int64
	start *treeStart // nil unless for a tree of processes

	mu   sync.Mutex // held during a call: Return must not close files in use
	node *node      // nil after Return
}

// hold returns the node and blocks Return until release is called.
func (g *Group) hold() (n *node, release func(), err error) {
	g.mu.Lock()
	if g.node == nil {
		g.mu.Unlock()
		return nil, nil, ErrReturned
	}
	return g.node, g.mu.Unlock, nil
}

// Path returns the group's directory. On v2 a descriptor of it can be used as
// SysProcAttr.CgroupFD to start a process in the group.
func (g *Group) Path() string { return g.dir }

// Add moves a process with all its threads into the group. Its later children and only the
// memory that it touches later are charged to the group. Call it before the worker is
// needed: it usually takes 20 µs, but up to 12 ms on a busy machine. If it fails, the
// process may be in one of two hierarchies: end it before Return.
func (g *Group) Add(pid int) error {
	n, release, err := g.hold()
	if err != nil {
		return err
	}
	defer release()
	if pid <= 0 {
		// To the kernel, 0 means the writing process, the Runner.
		return fmt.Errorf("cgroup: %d is not a process", pid)
	}
	if g.start != nil && n.tree.apart {
		if err := write(n.tree.path("cgroup.procs"), strconv.Itoa(pid)); err != nil {
			return fmt.Errorf("cgroup: count process %d: %w", pid, err)
		}
	}
	if err := writeFD(n.procs, strconv.Itoa(pid)); err != nil {
		return fmt.Errorf("cgroup: add process %d to %s: %w", pid, n.dir, err)
	}
	return nil
}

// SetLimit changes the memory limit, and costs nothing if it is the current one. If the
// limit is below the worker's current use, v1 returns EBUSY and v2 kills the worker.
func (g *Group) SetLimit(bytes int64) error {
	n, release, err := g.hold()
	if err != nil {
		return err
	}
	defer release()
	return n.setLimit(bytes)
}

// OOMKills returns how many times the kernel killed for lack of memory in the group since
// Lease. A positive count is the evidence, and is set before the worker's death is visible.
// It is not the number of processes: v2 counts the victim and then its group
// (memory.oom.group). v1 kills one process of a tree, and the caller must end the others.
func (g *Group) OOMKills() (int, error) {
	n, release, err := g.hold()
	if err != nil {
		return 0, err
	}
	defer release()
	kills, err := n.kills()
	return int(kills - g.kills), err
}

// JoinFDs returns descriptors to which a process writes "0" to join the group, none where
// that is not possible, as on v2. Joining takes no global lock, while Add waits for all
// processors and blocks every fork of the machine. The group owns the descriptors: pass them
// on, do not close them.
func (g *Group) JoinFDs() []int {
	n, release, err := g.hold()
	if err != nil {
		return nil
	}
	defer release()
	fds := []int{n.joinFD}
	if g.start != nil && n.tree.apart {
		fds = append(fds, n.tree.join)
	}
	if slices.Contains(fds, -1) {
		return nil
	}
	return fds
}

// Return gives the group back after its worker is dead. A group that still has a process is
// not leased again, and is removed after the process has ended.
func (g *Group) Return() { g.giveBack(false) }

// ReturnEmpty is Return for a group whose only process was reaped. It skips the check for
// processes, which takes as long as all the rest.
func (g *Group) ReturnEmpty() { g.giveBack(true) }

func (g *Group) giveBack(empty bool) {
	g.mu.Lock()
	n := g.node
	g.node = nil
	g.mu.Unlock()
	if n != nil {
		g.pool.takeBack(g, n, empty)
	}
}
