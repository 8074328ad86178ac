package zygote

import "golang.org/x/sys/unix"

// stepAside has a worker that is done die on the processor that its Runner is about to
// leave, and not before. Its death takes longer than most runs: memory and namespaces go
// with it. It would die where it ran, and that is often where whoever waits for the answer
// is woken next, and then waits for all of that.
//
// It gets the share of any other process, so that it dies under load, too. One that cannot
// be told dies where it likes.
func stepAside(pid int) {
	cpu, err := currentCPU()
	if err != nil || setBatch(pid) != nil {
		return
	}
	var here unix.CPUSet
	here.Set(cpu)
	_ = unix.SchedSetaffinity(pid, &here)
}
