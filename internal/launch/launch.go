// Package launch is the seam between the portable backend and the systems that have
// other walls than Linux: it starts one process behind them, and tells how it ended.
//
//	system   walls                                            file
//	macOS    a Seatbelt profile, limits of a process          launch_darwin.go
//	Windows  a job, a token, an AppContainer                  launch_windows.go
//
// Linux has walls and a path of its own, and no launcher. What all of them have in
// common (the guest's protocol, clocks, output, judgement) is in
// internal/backend/portable, and is tested there with a launcher without walls.
package launch

import (
	"os"
	"time"

	"github.com/cordon-sandbox/cordon/policy"
)

// Launcher puts up the walls of one system. It is safe for concurrent use.
type Launcher interface {
	// Walls says which stand around a process that has this access: "enforced", with
	// details, or "missing: why". It fails with a reason (run.Unsupported) if such
	// access cannot be given here at all.
	Walls(Access) (map[policy.Wall]string, error)
	// System says where the host keeps its own programs.
	System() System
	// Start starts a process behind them. What cannot be put up is an error, and
	// nothing runs then. The order's files stay the caller's to close.
	Start(Order) (Process, error)
}

// Access is what a process may reach. The zero value is next to nothing: the system's
// own libraries, which no program starts without.
type Access struct {
	// Read lists files and directories, absolute and without symbolic links.
	Read []string
	// Write lists those that may be changed, and read.
	Write []string
	// Programs lets it start others, from all that it may read: a command may, a
	// script may not.
	Programs bool
	// Proxy is a port on 127.0.0.1 that it may connect to; 0 for none.
	Proxy int
	// AnyNetwork lets it use the host's network as it likes.
	AnyNetwork bool
}

// System is what every process may read of the host.
type System struct {
	// Directories have its programs and libraries.
	Directories []string
	// Path is where a command looks for programs, unless its request says.
	Path []string
}

// Order is one process to be started.
type Order struct {
	// Program is an absolute path; Args begin with the program's own name.
	Program string
	Args    []string
	// Env is all of its environment.
	Env []string
	// Dir is where it starts.
	Dir string
	// Stdin, Stdout and Stderr are its ends of pipes.
	Stdin, Stdout, Stderr *os.File
	// Channel is the end of one more pipe, to write to; nil for none. On Unix the
	// process has it as descriptor 3, on Windows under the same handle value as
	// here, which [ChannelName] gives. No other descriptor or handle is inherited.
	Channel *os.File

	Access Access
	// Limits are complete. The launcher enforces those that its system can; the
	// caller watches clocks, output and what Usage says, whatever it does.
	Limits policy.Limits
}

// Process is a process with all that it starts.
type Process interface {
	// Kill ends all of them. It may be called at any time, by anybody, more than once.
	Kill()
	// Usage is what all of them have used so far, as far as the system tells.
	Usage() Usage
	// Wait returns when the first process has ended; what it left behind is killed
	// by then. It is called once.
	Wait() (Exit, error)
}

// Usage is what processes have used.
type Usage struct {
	CPUTime time.Duration
	// Memory is the most that was seen at a time, of all of them together.
	Memory policy.Bytes
	// Processes is how many there are.
	Processes int
}

// Exit is how the first process ended.
type Exit struct {
	// Code is its exit code, or -1 if it was ended by something else.
	Code int
	// Signal names what ended it instead: "SIGSEGV", or on Windows the exception,
	// such as "ACCESS_VIOLATION"; empty for an exit code.
	Signal string
	// Limit is the limit by which the system has ended it, or has refused it
	// something; empty if it does not say so. It is evidence, not a guess.
	Limit Limit
	Usage Usage
}

// Limit names a limit that the system itself enforces.
type Limit string

// The limits.
const (
	LimitMemory    Limit = "memory"
	LimitCPUTime   Limit = "cpu_time"
	LimitProcesses Limit = "processes"
)
