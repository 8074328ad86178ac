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

// Divide moves this process into a group below its own, where a service manager has left
// the own one to it and to nobody else. A pool is then made beside it. It is for programs
// whose process is theirs, and for their start: a library does not move its host.
//
// undo puts the process back, as well as that still can be done, when all pools are
// closed. Where nothing was moved it does nothing.
func Divide() (undo func(), err error) {
	undo = func() {}
	host, err := thisHost()
	if err != nil {
		return undo, nil // Probe says so
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
	// Another program of ours may have come first: then both are in it.
	if err := os.Mkdir(below, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	// "0" is the writer, with all its threads: no other process can be meant.
	if err := write(path.Join(below, "cgroup.procs"), "0"); err != nil {
		return errors.Join(err, remove(below))
	}
	return nil
}

// unite undoes divide. A group that still has others below it is left as it is: they
// count on its controllers. So is one that a process joins meanwhile: the kernel refuses
// what would be wrong then, and the manager removes the whole of it in the end.
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
	// The kernel takes nobody in while a controller is on.
	var off []string
	for _, controller := range strings.Fields(string(b)) {
		off = append(off, "-"+controller)
	}
	if len(off) > 0 && write(path.Join(dir, "cgroup.subtree_control"), strings.Join(off, " ")) != nil {
		return
	}
	if write(path.Join(dir, "cgroup.procs"), "0") == nil {
		_ = remove(path.Join(dir, subgroup)) // or somebody else is in it
	}
}

// handed says that this very group was left to us. systemd marks such groups (since
// version 251 for everybody to read). Before, a group of our user's in one of another's
// shows it: below a user's own manager all groups are the user's, and its to change.
func handed(dir string) bool {
	if marked(dir) {
		return true
	}
	var own, above unix.Stat_t
	return os.Geteuid() != 0 && unix.Stat(dir, &own) == nil && unix.Stat(path.Dir(dir), &above) == nil &&
		int(own.Uid) == os.Geteuid() && own.Uid != above.Uid
}
