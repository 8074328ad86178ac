package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// A tree is what a node has in addition when it is for a tree of processes. Its
// files are opened for each use, but for two: a tree takes milliseconds to
// start, and descriptors are for the many workers that do not.
type tree struct {
	dir   string // where its processes are counted; "" on hosts that do not
	apart bool   // dir is not the node's own, but one in another hierarchy
	// maxNow is what pids.max holds: 0 for "max".
	maxNow int
	// peak stays open: since 6.12 each descriptor of memory.peak has a peak
	// of its own, which begins where it was reset. -1 where there is none.
	peak int
	// join is as joinFD of the node, in the other hierarchy; -1 where there is
	// none, or no way to put oneself there.
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

// vacant tells whether the next guest would have all the processes it may
// have. A group can be removed and looks empty while it has zombies, but they
// are counted until their parent has collected them.
func (t *tree) vacant() bool {
	if t == nil || t.dir == "" {
		return true
	}
	count, err := number(read(t.path("pids.current")))
	return err == nil && count == 0
}

// empty tells whether the directory in the other hierarchy has no process. It
// can have one that the node's own has not, after half an Add.
func (t *tree) empty(used bool) bool {
	if !used || !t.apart {
		return true
	}
	left, err := pids(t.dir)
	return err == nil && len(left) == 0
}

// lift takes the bound away for a lease that has none. In a hierarchy of its
// own it binds nobody who is not put there.
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

// refused is the kernel's count of forks since the group was made.
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

// treeStart is what a lease of a tree starts from.
type treeStart struct {
	refused int64
	// peak is what has to be passed for the lease's own peak to be known; 0
	// where the kernel has begun anew.
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

// cpu is the CPU time since the group was made, 0 when unknown. v2 counts
// it in every group, with and without the cpu controller.
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

// CountsProcesses tells whether Limits.Processes holds in this group.
func (g *Group) CountsProcesses() bool {
	n, release, err := g.hold()
	if err != nil {
		return false
	}
	defer release()
	return g.start != nil && n.tree.dir != ""
}

// ForksRefused counts the forks, and the threads, that the kernel has refused
// in the group since Lease. More than none is the evidence that it was full,
// with an exception: v1, and v2 before 6.11, count here as well what a group
// above has refused.
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

// Usage tells what a lease with Limits.Processes has used so far. What the host
// does not count is 0; the error says only that the group was returned.
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
