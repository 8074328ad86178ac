package confine

import (
	"sync"

	"golang.org/x/sys/unix"
)

// Process is a program behind its walls, with its control socket.
type Process struct {
	Pid int
	// Control is our end of a SOCK_SEQPACKET pair; the program has the other
	// as ControlFD.
	Control int

	program *program

	mu     sync.Mutex // guards against a signal to a pid that was reaped
	reaped bool
	ended  chan struct{}
	status unix.WaitStatus
	usage  unix.Rusage
}

// Kill ends the process at once, if it is still there.
func (p *Process) Kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		_ = unix.Kill(p.Pid, unix.SIGKILL) // ESRCH: it is a zombie
	}
}

// Failure reads the first message on Control, if it is the report of a wall
// that could not be put up.
func (p *Process) Failure(message []byte) (*SetupError, bool) { return p.program.failure(message) }

// Wait returns when the process is gone.
func (p *Process) Wait() (unix.WaitStatus, unix.Rusage) {
	<-p.ended
	return p.status, p.usage
}

func (p *Process) reap() {
	for unix.Waitid(unix.P_PID, p.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reaped = true
	for {
		if _, err := unix.Wait4(p.Pid, &p.status, 0, &p.usage); err != unix.EINTR {
			close(p.ended)
			return
		}
	}
}
