package zygote

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/confine"
	"github.com/cordon-sandbox/cordon/policy"
)

// rlimit is a resource limit of a guest, soft and hard.
type rlimit struct {
	resource int
	value    uint64
}

// under returns the limit where the host's own hard limit may be lower: that one stays, also
// if we could raise it.
func (l rlimit) under(hard uint64) *unix.Rlimit {
	value := min(l.value, hard)
	return &unix.Rlimit{Cur: value, Max: value}
}

// rlimits returns the limits of a guest. Their order does not depend on the limits.
func rlimits(p confine.Plan, own Baseline, l policy.Limits) []rlimit {
	if !p.Rlimits {
		return nil
	}
	seconds := (l.CPUTime + time.Second - 1) / time.Second
	limits := []rlimit{
		// The Runner's clock is exact and acts first. This limit works if the Runner is
		// stopped.
		{unix.RLIMIT_CPU, uint64(seconds) + 2},
		{unix.RLIMIT_NOFILE, uint64(l.OpenFiles)},
		{unix.RLIMIT_FSIZE, uint64(l.Scratch)},
		// RLIMIT_DATA counts writable private memory. Reserved address space that is
		// not used does not count.
		{unix.RLIMIT_DATA, uint64(own.Data + l.Memory)},
	}
	if !p.Cgroup {
		// Shared mappings do not count as data. Where no cgroup counts them, the
		// address space must be limited.
		limits = append(limits, rlimit{unix.RLIMIT_AS, uint64(own.AddressSpace + l.Memory)})
	}
	return limits
}

// resources lists what a worker limits, as the worker gets it when it starts.
func resources(p confine.Plan) []any {
	list := []any{}
	for _, limit := range rlimits(p, Baseline{}, policy.Limits{}) {
		list = append(list, limit.resource)
	}
	return list
}

// appendLimits lowers the limits of a worker to those of its guest, for good: without
// capabilities it cannot raise them again. It appends what the worker reads before its
// start frame: a zero byte, or a one and the values, which the worker then sets itself. A
// system call from here takes less than the same call in Python, where nothing of the code
// for it is in the CPU's caches.
func (w *Worker) appendLimits(dst []byte, l policy.Limits) ([]byte, error) {
	z := w.zygote
	limits := rlimits(z.config.Plan, z.Baseline, l)
	if !z.limitsItself.Load() {
		switch err := w.setLimits(limits); {
		case err == nil:
			return append(dst, 0), nil
		case errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES):
			z.limitsItself.Store(true) // another user's process, or a security module
		default:
			return nil, err
		}
	}
	dst = append(dst, 1)
	for _, limit := range limits {
		dst = binary.LittleEndian.AppendUint64(dst, limit.value)
	}
	return dst, nil
}

func (w *Worker) setLimits(limits []rlimit) error {
	if len(limits) == 0 {
		return nil
	}
	if closed(w.exited) {
		return unix.ESRCH // its pid may be another process's by now
	}
	for i, limit := range limits {
		if err := unix.Prlimit(w.PID, limit.resource, limit.under(w.zygote.inherited[i]), nil); err != nil {
			return fmt.Errorf("limits of the guest: %w", err)
		}
	}
	return nil
}

// inherit reads the hard limits that the zygote's workers begin with. If we may not read
// them, we may not set them either.
func (z *Zygote) inherit() error {
	for _, limit := range rlimits(z.config.Plan, Baseline{}, policy.Limits{}) {
		var own unix.Rlimit
		switch err := unix.Prlimit(z.process.Pid, limit.resource, nil, &own); {
		case errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES):
			z.limitsItself.Store(true)
			return nil
		case err != nil:
			return fmt.Errorf("limits of the fork server: %w", err)
		}
		z.inherited = append(z.inherited, own.Max)
	}
	return nil
}
