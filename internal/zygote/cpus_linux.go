package zygote

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// holdToCPUs makes the kernel run the guest only on as many CPUs as its limit allows. The
// guest must have one thread, whose mask the others inherit; only the first call has an
// effect. The filter lets no guest change its mask. See RATIONALE.md, "How is a guest held
// to its CPUs?"
func (w *Worker) holdToCPUs() error {
	h := &w.held
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.done {
		return nil
	}
	if closed(w.exited) {
		return unix.ESRCH // its pid may be another process's by now
	}
	// Ours may change while we run.
	usable, err := affinity(os.Getpid())
	if err != nil {
		return fmt.Errorf("the CPUs of this process: %w", err)
	}
	if limit := w.limits.Load().CPUs; limit < len(usable) {
		h.cpus = w.zygote.config.CPUs.take(usable, max(1, limit))
		var mask unix.CPUSet
		for _, cpu := range h.cpus {
			mask.Set(cpu)
		}
		// Root without CAP_SYS_NICE may not do this to another user's process, see
		// confine.Make, which reports it.
		if err := unix.SchedSetaffinity(w.PID, &mask); err != nil && !errors.Is(err, unix.EPERM) {
			w.zygote.config.CPUs.giveBack(h.cpus)
			h.cpus = nil
			return fmt.Errorf("CPUs of the guest: %w", err)
		}
	}
	h.done = true
	return nil
}

// affinity returns the CPUs that a process may use.
func affinity(pid int) (cpus []int, err error) {
	var mask unix.CPUSet
	if err := unix.SchedGetaffinity(pid, &mask); err != nil {
		return nil, err
	}
	for cpu := range len(mask) * 64 {
		if mask.IsSet(cpu) {
			cpus = append(cpus, cpu)
		}
	}
	return cpus, nil
}
