package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// killPause is how long Kill waits for the first of those it has killed
	// before it looks for others.
	killPause = 10 * time.Millisecond
	// killBatch bounds the descriptors in use.
	killBatch = 64
)

// Kill ends all processes in the group, and returns when there are none, or
// with an error after two seconds. It is a backstop: whoever started the tree
// ends it by its pid namespace or its process group. After it no process may be
// added; the counters can be read, and the group returned.
func (g *Group) Kill() error {
	n, release, err := g.hold()
	if err != nil {
		return err
	}
	defer release()
	dirs := []string{n.dir}
	if g.start != nil {
		dirs = n.dirs()
	}
	kill := func() error { return killListed(dirs) }
	if n.version == 2 && unix.Access(n.path("cgroup.kill"), unix.F_OK) == nil { // since 5.14
		// No fork escapes the kernel. Those whom half an Add has left in a
		// hierarchy of its own do, so they are looked for as well.
		kill = func() error { return errors.Join(write(n.path("cgroup.kill"), "1"), killListed(dirs[1:])) }
	} else if err := g.stopForks(n); err != nil {
		return err
	}
	if err := killUntilEmpty(dirs, kill, g.pool.drain); err != nil {
		n.spoiled = true
		return fmt.Errorf("cgroup: kill the processes of %s: %w", n.dir, err)
	}
	return nil
}

// stopForks keeps a fork bomb from being faster than a loop that kills one
// after the other. The forks that fail from now on are no evidence against the
// guest, so the count so far is kept.
func (g *Group) stopForks(n *node) error {
	if g.start == nil || n.tree.dir == "" || g.start.final != nil {
		return nil
	}
	count, err := n.tree.refused()
	if err == nil {
		g.start.final = &count
	}
	if err := n.tree.freeze(); err != nil {
		return fmt.Errorf("cgroup: kill the processes of %s: %w", n.dir, err)
	}
	return nil
}

func killUntilEmpty(dirs []string, kill func() error, limit time.Duration) error {
	deadline := time.Now().Add(limit)
	for {
		var left []int
		for _, dir := range dirs {
			some, err := pids(dir)
			if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, unix.ENODEV) {
				return err
			}
			left = append(left, some...)
		}
		if len(left) == 0 {
			return nil
		}
		killed := kill()
		if time.Now().After(deadline) {
			return errors.Join(fmt.Errorf("processes %v are left", left), killed)
		}
		if !waitExit(left, killPause) {
			time.Sleep(time.Millisecond)
		}
	}
}

// killListed kills the processes that are in the groups. Between the list and
// the signal a pid may have become somebody else's, so a process is held by a
// descriptor and must be in the list still.
func killListed(dirs []string) error {
	var failed error
	for _, dir := range dirs {
		all, err := pids(dir)
		if err != nil {
			failed = errors.Join(failed, err)
		}
		for some := range slices.Chunk(all, killBatch) {
			failed = errors.Join(failed, killThose(dir, some))
		}
	}
	return failed
}

func killThose(dir string, some []int) (failed error) {
	held := map[int]int{}
	for _, pid := range some {
		if pid == 0 {
			continue // In a pid namespace that we cannot see.
		}
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			if !errors.Is(err, unix.ESRCH) {
				failed = errors.Join(failed, fmt.Errorf("process %d: %w", pid, err))
			}
			continue
		}
		defer unix.Close(fd)
		held[pid] = fd
	}
	still, err := pids(dir)
	if err != nil {
		return errors.Join(failed, err)
	}
	for _, pid := range still {
		fd, ok := held[pid]
		if !ok {
			continue
		}
		if err := unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0); err != nil && !errors.Is(err, unix.ESRCH) {
			failed = errors.Join(failed, fmt.Errorf("process %d: %w", pid, err))
		}
	}
	return failed
}
