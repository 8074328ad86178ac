package cgroup

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"
)

// counting manages the groups that count processes: on v2 the pool's own groups, on v1
// groups of the same names in the hierarchy of the pids controller. They are created by
// the first lease that needs them, because most pools have workers that cannot fork.
type counting struct {
	features Features
	pool     string // the directory of the pool's memory groups

	mu    sync.Mutex
	dir   string // the directory of the counting groups; "" until they are needed
	lock  int    // the lock of dir, if it is not the pool's directory; else -1
	ended bool
}

// apart reports whether memory and processes are in two hierarchies.
func (c *counting) apart() bool { return c.features.ProcessParent != c.features.Parent }

// begin returns the directory of the counting groups, which the first successful call
// creates.
func (c *counting) begin() (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.ended:
		return "", ErrClosed
	case c.dir != "":
		return c.dir, nil
	case c.apart():
		Sweep(c.features.ProcessParent)
		dir, lock, err := makeOwned(c.features.ProcessParent, filepath.Base(c.pool))
		if err != nil {
			return "", err
		}
		c.dir, c.lock = dir, lock
		return dir, nil
	}
	if c.features.Version == 2 {
		for _, dir := range []string{c.features.Parent, c.pool} {
			if err := handOut("pids", dir); err != nil {
				return "", err
			}
		}
	}
	c.dir = c.pool
	return c.dir, nil
}

// grow adds to a node what a tree of processes needs.
func (c *counting) grow(n *node) error {
	if n.tree != nil {
		return nil
	}
	t := &tree{peak: -1, join: -1}
	if c.features.CountsProcesses() {
		parent, err := c.begin()
		if err != nil {
			return fmt.Errorf("cgroup: count processes: %w", err)
		}
		t.dir, t.apart = parent+"/"+filepath.Base(n.dir), c.apart()
		if t.apart {
			if err := os.Mkdir(t.dir, 0o755); err != nil {
				return fmt.Errorf("cgroup: count processes: %w", err)
			}
			// If a process cannot join by itself, Add moves it.
			if fd, err := open(t.path(filesV1.join), unix.O_WRONLY); err == nil {
				t.join = fd
			}
		}
	}
	t.openPeak(n)
	n.tree = t
	return nil
}

// end prevents new counting groups, and returns the directories that the pool has to
// remove in addition to its own.
func (c *counting) end() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	if c.lock < 0 {
		return nil
	}
	return []string{c.dir}
}

func (c *counting) unlock() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lock >= 0 {
		unix.Close(c.lock)
		c.lock = -1
	}
}
