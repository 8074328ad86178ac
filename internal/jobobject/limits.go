package jobobject

import "time"

// Limits hold for all processes of a job together. All are set: there is no "no limit".
type Limits struct {
	Memory    uint64        // bytes that are committed, which is more than those in use
	CPU       time.Duration // CPU time
	Processes uint32        // alive at once
}

// Usage is what a job used until it was asked.
type Usage struct {
	CPU    time.Duration
	Memory uint64 // the most that was committed at once
	// Processes is how many there are now.
	Processes int
}

// Notices are what the kernel said while a job ran.
type Notices struct {
	Memory    bool // an allocation was refused
	CPU       bool // the time was used up
	Processes bool // a process too many was not started
}

// The kernel's messages about jobs, as in winnt.h.
const (
	endOfJobTime       = 1
	endOfProcessTime   = 2
	activeProcessLimit = 3
	processMemoryLimit = 9
	jobMemoryLimit     = 10
)

func (n *Notices) hear(message uint32) {
	switch message {
	case endOfJobTime, endOfProcessTime:
		n.CPU = true
	case activeProcessLimit:
		n.Processes = true
	case processMemoryLimit, jobMemoryLimit:
		n.Memory = true
	}
}

// quotaExceeded is how the kernel ends the processes of a job whose time is used up
// (ERROR_NOT_ENOUGH_QUOTA). A guest can end itself so, too.
const quotaExceeded = 1816

// Ending is how a program ended. It concludes nothing but what the kernel knows.
type Ending struct {
	ExitCode uint32
	Notices  Notices
	Usage    Usage
}

// OutOfTime says whether the kernel ended the job for its CPU time. An exit code
// alone is the guest's word, so the time must have been used, too. The kernel looks now
// and then, and counts without what it does itself.
func (e Ending) OutOfTime(l Limits) bool {
	return e.Notices.CPU || e.ExitCode == quotaExceeded && e.Usage.CPU >= l.CPU
}
