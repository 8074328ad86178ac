package cgroup

import (
	"errors"
	"io/fs"
	"time"
)

var (
	// ErrUnsupported is returned by Open, by ForksRefused if processes are not
	// counted, and by OOMKills on old kernels.
	ErrUnsupported = errors.New("cgroup: not supported on this host")
	// ErrReturned is returned by a Group's methods after Return, when its directory
	// may already have another worker.
	ErrReturned = errors.New("cgroup: the group has been returned")
	// ErrClosed is returned by Lease after Close.
	ErrClosed = errors.New("cgroup: the pool is closed")
)

// Limits are the limits of a lease.
type Limits struct {
	// Memory is in bytes, at least a page.
	Memory int64
	// Processes is the maximum number of tasks in a tree of processes. Threads
	// count, and so do zombies. A lease with it also has a Group.Usage. 0 is for a
	// worker that cannot fork: nothing is counted or measured, which saves time.
	Processes int
}

// Usage is what a tree's group has used since Lease.
type Usage struct {
	// PeakMemory is in bytes; 0 if unknown.
	PeakMemory int64
	// CPU is the CPU time of all processes, including dead ones; 0 if unknown (v1 counts
	// it in another hierarchy).
	CPU time.Duration
}

// Features says where memory groups may be made, or why not.
type Features struct {
	// Version is that of the hierarchy with the memory controller: 1 or 2, even if it may
	// not be used; 0 if no hierarchy has it.
	Version int
	// Parent is the directory in which groups may be made, or empty.
	Parent string
	// Reason says why Parent is empty, Remedy what the operator can do.
	Reason, Remedy string

	// ProcessParent is the directory in which groups that count processes may be made. On
	// v2 it is Parent; on v1 it is usually in a hierarchy of its own. Empty if there is
	// none, or if Parent is empty.
	ProcessParent string
	// ProcessReason says why processes are not counted, and ProcessRemedy what the
	// operator can do.
	ProcessReason, ProcessRemedy string
}

// Usable reports whether Open can succeed.
func (f Features) Usable() bool { return f.Parent != "" }

// CountsProcesses reports whether Limits.Processes is enforced.
func (f Features) CountsProcesses() bool { return f.Usable() && f.ProcessParent != "" }

// Host is everything that Detect reads, so that tests can pass hosts that do not exist.
type Host struct {
	// Cgroup and Mountinfo are the contents of the two files in /proc/self.
	Cgroup, Mountinfo string
	// FS is the file system, rooted at "/".
	FS fs.FS
	// Writable asks the kernel whether this process may write to a path: mode bits do not
	// show capabilities and read-only mounts.
	Writable func(path string) error
	// Delegated reports whether the manager of the cgroup tree has left this group to us,
	// so that we may change which controllers its children get. Being root and able to
	// write is not enough.
	Delegated func(dir string) bool
	// Handed reports whether this group itself was left to this program, not one above
	// it to a manager that made this one.
	Handed func(dir string) bool
}
