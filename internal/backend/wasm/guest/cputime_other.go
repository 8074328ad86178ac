//go:build !linux

package guest

import "time"

// cpuTime measures the CPU time of a guest. On systems without a readable clock for threads,
// it is the time in which the guest was not waiting.
type cpuTime struct{}

func (*cpuTime) begin()                                   {}
func (*cpuTime) used(elapsed time.Duration) time.Duration { return elapsed }
func (*cpuTime) end()                                     {}
