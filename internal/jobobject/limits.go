package jobobject

import "time"

// Limits bound all processes of a job together. All must be set: there is no "no limit".
type Limits struct {
	Memory    uint64        // committed bytes, which are more than those in use
	CPU       time.Duration // CPU time
	Processes uint32        // alive at once
}

// Usage is what a job has used so far.
type Usage struct {
	CPU    time.Duration
	Memory uint64 // the peak of committed bytes
	// Processes is how many there are now.
	Processes int
}

// Notices are the kernel's reports about a job.
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

// quotaExceeded is the exit code with which the kernel ends the processes of a job whose time is
// used up (ERROR_NOT_ENOUGH_QUOTA). A guest can use it too.
const quotaExceeded = 1816

// Ending says how a program ended, from what the kernel reports.
type Ending struct {
	ExitCode uint32
	Notices  Notices
	Usage    Usage
}

// OutOfTime reports whether the kernel ended the job for its CPU time. A guest can choose the
// exit code, so the time must have been used too. The kernel checks only from time to time, and
// does not count its own time.
func (e Ending) OutOfTime(l Limits) bool {
	return e.Notices.CPU || e.ExitCode == quotaExceeded && e.Usage.CPU >= l.CPU
}
