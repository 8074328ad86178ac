package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// A tree has the additional state of a node for a tree of processes. All but two of its files
// are opened for each use: a tree takes milliseconds to start anyway, and descriptors are
// saved for the many workers.
type tree struct {
	dir   string // where its processes are counted; "" if they are not
	apart bool   // dir is in another hierarchy than the node
	// maxNow is the value of pids.max: 0 for "max".
	maxNow int
	// peak stays open: since 6.12 each descriptor of memory.peak has its own peak,
	// which starts when it is reset. -1 if there is none.
	peak int
	// join is like joinFD of the node, in the other hierarchy; -1 if there is none or
	// processes cannot join by themselves.
	join int
}

func (t *tree) path(name string) string { return t.dir + "/" + name }

func (t *tree) openPeak(n *node) {
	name := n.path("memory.max_usage_in_bytes")
	if n.version == 2 {
		name = n.path("memory.peak") // since 5.19
	}
	var err error
	if t.peak, err = open(name, unix.O_RDWR); err == nil {
		return
	}
	// Between 5.19 and 6.12 it can only be read.
	if t.peak, err = open(name, unix.O_RDONLY); err != nil {
		t.peak = -1
	}
}

func (t *tree) closeFiles() {
	if t == nil {
		return
	}
	for _, fd := range []*int{&t.peak, &t.join} {
		if *fd >= 0 {
			unix.Close(*fd)
			*fd = -1
		}
	}
}

// vacant reports whether no task is counted in the group. A group with zombies looks empty
// and can be removed, but zombies are counted until they are reaped.
func (t *tree) vacant() bool {
	if t == nil || t.dir == "" {
		return true
	}
	count, err := number(read(t.path("pids.current")))
	return err == nil && count == 0
}

// empty reports whether the directory in the other hierarchy has no process. After a failed
// Add it can have one that the node's directory does not have.
func (t *tree) empty(used bool) bool {
	if !used || !t.apart {
		return true
	}
	left, err := pids(t.dir)
	return err == nil && len(left) == 0
}

// lift removes the limit for a lease without one. In a separate hierarchy that is not
// necessary, because processes are not added to it.
func (t *tree) lift() error {
	if t == nil || t.dir == "" || t.apart {
		return nil
	}
	return t.setMax(0)
}

func (t *tree) setMax(processes int) error {
	if processes == t.maxNow {
		return nil
	}
	value := "max"
	if processes > 0 {
		value = strconv.Itoa(processes)
	}
	if err := write(t.path("pids.max"), value); err != nil {
		return fmt.Errorf("cgroup: limit the processes of %s to %s: %w", t.dir, value, err)
	}
	t.maxNow = processes
	return nil
}

// refused returns the kernel's count of refused forks since the group was created.
func (t *tree) refused() (int64, error) {
	if t.dir == "" {
		return 0, fmt.Errorf("%w: processes are not counted", ErrUnsupported)
	}
	count, err := field(t.path("pids.events"), "max")
	if errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("%w: refused forks are counted since Linux 4.8", ErrUnsupported)
	}
	return count, err
}

// treeStart has the counters at the start of a lease of a tree.
type treeStart struct {
	refused int64
	// peak is the old peak, which must be exceeded for the lease's own peak to be
	// known; 0 if the kernel has reset it.
	peak int64
	cpu  time.Duration
}

func (n *node) beginTree(processes int) (*treeStart, error) {
	s := &treeStart{}
	if n.tree.dir != "" {
		if err := n.tree.setMax(processes); err != nil {
			return nil, err
		}
		var err error
		if s.refused, err = n.tree.refused(); err != nil && !errors.Is(err, ErrUnsupported) {
			return nil, fmt.Errorf("cgroup: reset the counters of %s: %w", n.tree.dir, err)
		}
	}
	if n.tree.peak >= 0 && writeFD(n.tree.peak, "0") != nil {
		s.peak, _ = number(readFD(n.tree.peak))
	}
	s.cpu = n.cpu()
	return s, nil
}

// cpu returns the CPU time since the group was created, 0 if unknown. v2 counts it in every
// group, with or without the cpu controller.
func (n *node) cpu() time.Duration {
	if n.version != 2 {
		return 0
	}
	used, err := field(n.path("cpu.stat"), "usage_usec")
	if err != nil {
		return 0
	}
	return time.Duration(used) * time.Microsecond
}

// CountsProcesses reports whether Limits.Processes is enforced in this group.
func (g *Group) CountsProcesses() bool {
	n, release, err := g.hold()
	if err != nil {
		return false
	}
	defer release()
	return g.start != nil && n.tree.dir != ""
}

// ForksRefused returns how many forks and threads the kernel has refused in the group since
// Lease. A positive count is the evidence that the limit was reached, with one exception:
// v1, and v2 before 6.11, also count refusals of a group above.
func (g *Group) ForksRefused() (int, error) {
	n, release, err := g.hold()
	if err != nil {
		return 0, err
	}
	defer release()
	if g.start == nil {
		return 0, fmt.Errorf("%w: the lease has no limit of processes", ErrUnsupported)
	}
	now, err := n.tree.refused()
	return int(now - g.start.refused), err
}

// Usage returns what a lease with Limits.Processes has used so far. Values that the host does
// not count are 0; the only error is that the group was returned.
func (g *Group) Usage() (Usage, error) {
	n, release, err := g.hold()
	if err != nil || g.start == nil {
		if err == nil {
			release()
		}
		return Usage{}, err
	}
	defer release()
	var u Usage
	if n.tree.peak >= 0 {
		if peak, err := number(readFD(n.tree.peak)); err == nil && peak > g.start.peak {
			u.PeakMemory = peak
		}
	}
	u.CPU = max(0, n.cpu()-g.start.cpu)
	return u, nil
}
