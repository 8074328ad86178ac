package cgroup

import (
	"errors"
	"io/fs"
	"time"
)

var (
	// ErrUnsupported is what Open, ForksRefused where nobody counts, and
	// OOMKills on old kernels return when the host cannot do what is asked.
	ErrUnsupported = errors.New("cgroup: not supported on this host")
	// ErrReturned is what a Group's methods return after Return: its directory may
	// already hold another worker.
	ErrReturned = errors.New("cgroup: the group has been returned")
	// ErrClosed is what Lease returns after Close.
	ErrClosed = errors.New("cgroup: the pool is closed")
)

// Limits are the limits of a lease.
type Limits struct {
	// Memory is in bytes, at least a page.
	Memory int64
	// Processes says that the lease is for a tree of processes, and how many
	// tasks may be in it at once: threads count, and so do zombies that their
	// parent has not reaped. Such a lease is measured too (Group.Usage). 0
	// is for a worker that cannot fork: nothing is counted, measured or paid.
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
	// Handed reports whether this very group was left to this program, and not one above
	// it to a manager that made this one.
	Handed func(dir string) bool
}
