package guest

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// cpuTime measures the CPU time of a guest: that of its thread, to which it is locked.
type cpuTime struct{ before time.Duration }

func (p *cpuTime) begin() {
	runtime.LockOSThread()
	p.before = threadTime()
}

// used returns the time since begin.
func (p *cpuTime) used(time.Duration) time.Duration { return threadTime() - p.before }

func (p *cpuTime) end() { runtime.UnlockOSThread() }

func threadTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
