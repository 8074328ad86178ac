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
	// ErrReturned is what a Group's methods return after Return: by then its
	// directory may already hold somebody else's worker.
	ErrReturned = errors.New("cgroup: the group has been returned")
	// ErrClosed is what Lease returns after Close.
	ErrClosed = errors.New("cgroup: the pool is closed")
)

// Limits are what a lease bounds.
type Limits struct {
	// Memory is in bytes, and a page at least.
	Memory int64
	// Processes says that the lease is for a tree of processes, and how many
	// tasks may be in it at once: threads count, and so do zombies that their
	// parent has not reaped. Such a lease is measured too (Group.Usage). 0
	// is for a worker that cannot fork: nothing is counted, measured or paid.
	Processes int
}

// Usage is what the group of a tree has used since Lease.
type Usage struct {
	// PeakMemory is the most at one time, in bytes; 0 when it is not known.
	PeakMemory int64
	// CPU is the CPU time of all processes, the dead included; 0 when it
	// is not known (v1 counts it in another hierarchy).
	CPU time.Duration
}

// Features is what a host gives: where memory groups may be made, or why not.
type Features struct {
	// Version is that of the hierarchy which has the memory controller: 1 or
	// 2, also when it may not be used; 0 when no hierarchy has it.
	Version int
	// Parent is the directory in which groups may be made; empty if nowhere.
	Parent string
	// Reason says why Parent is empty, Remedy what the operator can do.
	Reason, Remedy string

	// ProcessParent is the directory in which groups that count processes may
	// be made. On v2 it is Parent; on v1, as a rule, it lies in a hierarchy of
	// its own. Empty if nowhere, or if Parent is.
	ProcessParent string
	// ProcessReason says why processes are not counted where memory is, and
	// ProcessRemedy what the operator can do.
	ProcessReason, ProcessRemedy string
}

// Usable tells whether Open has a chance.
func (f Features) Usable() bool { return f.Parent != "" }

// CountsProcesses tells whether Limits.Processes will hold.
func (f Features) CountsProcesses() bool { return f.Usable() && f.ProcessParent != "" }

// Host is all that Detect looks at, so that it can be shown hosts that do not
// exist.
type Host struct {
	// Cgroup and Mountinfo are the contents of the two files in /proc/self.
	Cgroup, Mountinfo string
	// FS is the file system, rooted at "/".
	FS fs.FS
	// Writable asks the kernel whether this process may write to a path: mode
	// bits alone know nothing of capabilities and read-only mounts.
	Writable func(path string) error
	// Delegated tells whether whoever manages the cgroup tree has left this
	// group to us, so that we may change what it hands to its children. Root
	// could write everywhere; that is not the same.
	Delegated func(dir string) bool
	// Handed tells whether this very group was left to this program, and not one
	// above it to a manager that made this one.
	Handed func(dir string) bool
}
