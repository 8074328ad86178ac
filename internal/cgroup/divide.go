package cgroup

import (
	"path"
	"slices"
	"strconv"
)

// subgroup is the group that a program moves to when it divides its own: the name that
// the shipped unit gives to DelegateSubgroup=, for managers that know that setting.
const subgroup = "main"

// Divisible returns the group that this process should leave so that it can be divided
// among guests, or "": on v2, a group with its own processes cannot limit the memory of
// groups below it. It only returns a group that was handed to this program, and only
// while this process is alone in it: other processes are not ours to move, and one that
// stays would keep the group from being divided.
func Divisible(h Host, pid int) string {
	if _, v1 := ownGroup(h.Cgroup, "memory"); v1 {
		return "" // on v1, groups may have processes and children
	}
	own, ok := ownGroup(h.Cgroup, "")
	if !ok {
		return ""
	}
	m, reason, _ := h.visible(own, "memory", func(m mount) bool { return m.fstype == "cgroup2" })
	if reason != "" || !h.Handed(m.dir) {
		return ""
	}
	for _, name := range []string{"", "cgroup.procs", "cgroup.subtree_control"} {
		if h.Writable(path.Join(m.dir, name)) != nil {
			return ""
		}
	}
	// The root of the hierarchy has no type, and needs no division.
	if !slices.Equal(h.words(m.dir, "cgroup.type"), []string{"domain"}) ||
		!slices.Contains(h.words(m.dir, "cgroup.controllers"), "memory") ||
		!slices.Equal(h.words(m.dir, "cgroup.procs"), []string{strconv.Itoa(pid)}) {
		return ""
	}
	return m.dir
}
