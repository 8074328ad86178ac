// Package launch starts a process behind the walls of macOS or Windows and reports how it
// ended. The portable backend uses it.
//
//	system   walls                                            file
//	macOS    a Seatbelt profile, limits of a process          launch_darwin.go
//	Windows  a job, a token, an AppContainer                  launch_windows.go
//
// Linux has other backends and no launcher. The common part (the guest's protocol, clocks,
// output, the verdict) is in internal/backend/portable, whose tests use a launcher without
// walls.
package launch

import (
	"net"
	"os"
	"time"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Launcher starts processes behind the walls of one system. It is safe for concurrent use.
type Launcher interface {
	// Walls reports the walls of a process with this access. Its error is
	// run.Unsupported if this system cannot grant the access.
	Walls(Access) (map[policy.Wall]policy.WallStatus, error)
	// System returns the directories of the host's programs.
	System() System
	// ChannelName returns the process's name for the channel of an order.
	ChannelName(*os.File) string
	// Start starts a process behind the walls. If a wall fails, it returns an error and
	// nothing runs. The caller closes the files of the order.
	Start(Order) (Process, error)
}

// Access is what a process may access. The zero value is only the system's libraries, which
// every program needs to start.
type Access struct {
	// Read lists files and directories that it may read. Paths are absolute and
	// without symbolic links.
	Read []string
	// Write lists those that it may change and read.
	Write []string
	// Programs allows starting every program that it may read. It is set for commands,
	// not for scripts.
	Programs bool
	// Proxy is a port on 127.0.0.1 that it may connect to; 0 for none.
	Proxy int
	// AnyNetwork allows the host's network without restriction.
	AnyNetwork bool
}

// System is the part of the host that every process may read.
type System struct {
	// Directories contain programs and libraries.
	Directories []string
	// Path is the PATH of a command, unless its request sets one.
	Path []string
}

// Order describes a process to start.
type Order struct {
	// Program is an absolute path. Args begin with the program's name.
	Program string
	Args    []string
	// Env is its whole environment.
	Env []string
	// Dir is its working directory.
	Dir string
	// Stdin, Stdout and Stderr are the process's ends of pipes.
	Stdin, Stdout, Stderr *os.File
	// Channel is the writing end of another pipe, or nil. The process has it by the name
	// that [Launcher.ChannelName] returns. No other descriptor or handle is inherited.
	Channel *os.File

	Access Access
	// Limits has every field set. The launcher enforces those that its system
	// supports. The caller always watches clocks, output and Usage.
	Limits policy.Limits
}

// Process is a process and all processes that it starts.
type Process interface {
	// Kill ends all of them. It may be called at any time, concurrently and more than
	// once.
	Kill()
	// Usage returns what all of them have used so far, as far as the system reports it.
	Usage() Usage
	// Wait returns when the first process has ended and the others are killed. It must
	// be called once.
	Wait() (Exit, error)
}

// Networked is a process in a network of its own.
type Networked interface {
	Process
	// Network returns what the process connects to at egress.GuestAddress, or nil.
	Network() net.Listener
}

// Usage is the resource use of processes.
type Usage struct {
	CPUTime time.Duration
	// Memory is the peak of the observed sums over all processes.
	Memory policy.Bytes
	// Processes is how many there are.
	Processes int
}

// Exit says how the first process ended.
type Exit struct {
	// Code is its exit code, or -1 if it did not exit by itself.
	Code int
	// Signal names the signal that ended it ("SIGSEGV"), or on Windows the exception
	// ("ACCESS_VIOLATION"); empty if it exited.
	Signal string
	// Limit is the limit at which the system ended it, or refused it something; empty
	// if the system reports none. It is never guessed.
	Limit Limit
	Usage Usage
	// Violations are those that the launcher observed.
	Violations []run.Violation
}

// Limit names a limit that the operating system enforces.
type Limit string

// The limits.
const (
	LimitMemory    Limit = "memory"
	LimitCPUTime   Limit = "cpu_time"
	LimitProcesses Limit = "processes"
)
