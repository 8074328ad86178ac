package zygote

import "golang.org/x/sys/unix"

// stepAside moves a worker that is done to the CPU that its Runner is about to leave, so
// that it dies there. Freeing its memory and namespaces takes longer than most runs.
// Otherwise it would die on the CPU where it ran, and that is often where the caller is
// woken next, who would then wait for all of that.
//
// The worker keeps its normal share of CPU time, so that it also dies under load. If it
// cannot be moved, it dies where it is.
func stepAside(pid int) {
	cpu, err := currentCPU()
	if err != nil || setBatch(pid) != nil {
		return
	}
	var here unix.CPUSet
	here.Set(cpu)
	_ = unix.SchedSetaffinity(pid, &here)
}
