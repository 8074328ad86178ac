package confine

import (
	"sync"

	"golang.org/x/sys/unix"
)

// Process is a program behind its walls, with its control socket.
type Process struct {
	Pid int
	Init

	mu     sync.Mutex // prevents a signal to a reaped pid
	reaped bool
	ended  chan struct{}
	status unix.WaitStatus
	usage  unix.Rusage
}

// Kill ends the process and everything that it started, if it still exists. An init without
// a pid namespace must end its processes itself, once it has an order.
func (p *Process) Kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	signal := unix.SIGKILL
	if p.late != nil && p.ordered.Load() {
		signal = unix.SIGUSR1
	}
	if !p.reaped {
		_ = unix.Kill(p.Pid, signal) // ESRCH: it is a zombie
	}
}

// Wait returns when the process has ended.
func (p *Process) Wait() (unix.WaitStatus, unix.Rusage) {
	<-p.ended
	return p.status, p.usage
}

// reap waits for the process, whose Pid the starting goroutine may not have set yet.
func (p *Process) reap(pid int) {
	for unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reaped = true
	for {
		if _, err := unix.Wait4(pid, &p.status, 0, &p.usage); err != unix.EINTR {
			close(p.ended)
			return
		}
	}
}
