package wasm

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// processor measures how much of it a guest uses: what its thread does, to which it is
// bound meanwhile.
type processor struct{ before time.Duration }

func (p *processor) begin() {
	runtime.LockOSThread()
	p.before = threadTime()
}

// used gives the time since begin.
func (p *processor) used(time.Duration) time.Duration { return threadTime() - p.before }

func (p *processor) end() { runtime.UnlockOSThread() }

func threadTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
