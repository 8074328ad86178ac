//go:build !linux

package wasm

import "time"

// processor measures how much of it a guest uses. Where threads have no clock that can
// be asked, it is the time in which it was not waiting.
type processor struct{}

func (*processor) begin()                                   {}
func (*processor) used(elapsed time.Duration) time.Duration { return elapsed }
func (*processor) end()                                     {}
