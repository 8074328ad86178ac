package cgroup

import (
	"errors"
	"io/fs"
)

var (
	// ErrUnsupported is what Open, and OOMKills on old kernels,
	// return when the host cannot do what is asked.
	ErrUnsupported = errors.New("cgroup: not supported on this host")
	// ErrReturned is what a Group's methods return after Return: by then its
	// directory may already hold somebody else's worker.
	ErrReturned = errors.New("cgroup: the group has been returned")
	// ErrClosed is what Lease returns after Close.
	ErrClosed = errors.New("cgroup: the pool is closed")
)

// Features is what a host gives: where memory groups may be made, or why not.
type Features struct {
	// Version is that of the hierarchy which has the memory controller: 1 or
	// 2, also when it may not be used; 0 when no hierarchy has it.
	Version int
	// Parent is the directory in which groups may be made; empty if nowhere.
	Parent string
	// Reason says why Parent is empty, Remedy what the operator can do.
	Reason, Remedy string
}

// Usable tells whether Open has a chance.
func (f Features) Usable() bool { return f.Parent != "" }

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
}
