//go:build !linux

package tuning

// Yield does nothing: only on Linux are there loops that poll.
func Yield() {}
