package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

// Divide moves this process into a group below its own, if a service manager has left the
// group to this process alone. A pool is then created beside it. Only programs may call it,
// at their start: a library must not move its host process.
//
// After all pools are closed, undo moves the process back, as far as possible. It does
// nothing if nothing was moved.
func Divide() (undo func(), err error) {
	undo = func() {}
	host, err := thisHost()
	if err != nil {
		return undo, nil // Probe reports the reason
	}
	dir := Divisible(host, os.Getpid())
	if dir == "" {
		return undo, nil
	}
	if err := divide(dir); err != nil {
		return undo, fmt.Errorf("cgroup: leave %s, so that it can be divided: %w", dir, err)
	}
	return func() { unite(dir) }, nil
}

func divide(dir string) error {
	below := path.Join(dir, subgroup)
	// Another cordon may have created it; then both are in it.
	if err := os.Mkdir(below, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	// "0" means the writing process with all its threads.
	if err := write(path.Join(below, "cgroup.procs"), "0"); err != nil {
		return errors.Join(err, remove(below))
	}
	return nil
}

// unite undoes divide. It does not change a group that still has children, which need its
// controllers. If a process joins in the meantime, the kernel refuses the change, and the
// service manager removes the whole group later.
func unite(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if e.IsDir() && e.Name() != subgroup {
			return
		}
	}
	b, err := read(path.Join(dir, "cgroup.subtree_control"))
	if err != nil {
		return
	}
	// The kernel moves no process into a group that has a controller turned on.
	var off []string
	for _, controller := range strings.Fields(string(b)) {
		off = append(off, "-"+controller)
	}
	if len(off) > 0 && write(path.Join(dir, "cgroup.subtree_control"), strings.Join(off, " ")) != nil {
		return
	}
	if write(path.Join(dir, "cgroup.procs"), "0") == nil {
		_ = remove(path.Join(dir, subgroup)) // fails if another process is in it
	}
}

// handed reports whether this group itself was left to us. systemd marks such groups
// (readable for all users since version 251). Older versions do not; there, a group of our
// user inside a group of another user shows it. Below a user's own service manager, all
// groups belong to the user and are the manager's to change.
func handed(dir string) bool {
	if marked(dir) {
		return true
	}
	var own, above unix.Stat_t
	return os.Geteuid() != 0 && unix.Stat(dir, &own) == nil && unix.Stat(path.Dir(dir), &above) == nil &&
		int(own.Uid) == os.Geteuid() && own.Uid != above.Uid
}
