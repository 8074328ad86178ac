package zygote

import (
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/hints"
	"github.com/cordon-sandbox/cordon/internal/notify"
	"github.com/cordon-sandbox/cordon/internal/seccomp"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// The zygote and all its workers share one filter, installed once: installing a filter
// takes 0.4 ms, inheriting one takes nothing. What only the zygote may do is decided here
// by the caller's pid. The kernel stops the caller and reports its pid, which it cannot
// choose.
var zygoteMay = []string{"clone", "fork", "vfork", "unshare", "mount"}

// answer answers one question of the kernel, and reports whether more may come.
func (z *Zygote) answer(ready unix.PollFd, allowed []int) bool {
	if ready.Revents&unix.POLLIN == 0 {
		return false // no process with the filter is left
	}
	fd := int(ready.Fd)
	if q, err := notify.Next(fd); err == nil { // an error means that the caller died
		z.decide(fd, q, allowed)
	}
	return true
}

func numbers(names []string) []int {
	var known []int
	for _, name := range names {
		if nr, ok := seccomp.Number(name); ok {
			known = append(known, nr)
		}
	}
	return known
}

func (z *Zygote) decide(fd int, q notify.Question, allowed []int) {
	w := z.guestOf(q.PID)
	if w == nil && q.PID == z.process.Pid && slices.Contains(allowed, q.NR) {
		q.Continue(fd)
		return
	}
	// The pid was looked up after the question arrived. The process that waits for the
	// answer must still be the same.
	if !q.Waits(fd) {
		if w != nil {
			w.countMissed() // a signal interrupted it, or it died
		}
		return
	}
	switch {
	case w == nil && z.addsOwnFilter(q):
		q.Continue(fd)
	case w == nil:
		q.Refuse(fd, unix.EPERM)
	case seccomp.IsThread(q.NR, q.Args) && !seccomp.ThreadFails(runtime.GOARCH, q.Args):
		w.decideThread(fd, q)
	case w.decideNetwork(fd, q):
	default:
		w.deny(fd, q, unix.EPERM, seccomp.Violation(seccomp.Script, q.NR, q.Args))
	}
}

// addsOwnFilter reports whether an unsealed worker installs the filter that contains its
// pid. The kernel only adds filters and never removes one, so the program, which is in
// the worker's memory, does not matter. No worker may get a listener (flags).
func (z *Zygote) addsOwnFilter(q notify.Question) bool {
	return q.NR == unix.SYS_SECCOMP && z.config.Plan.Exposure().Signals &&
		q.Args[0] == unix.SECCOMP_SET_MODE_FILTER && q.Args[1] == 0
}

// decideThread counts live threads. The flags are in a register, so they cannot change
// before the answer. A guest is held to its CPUs before its first thread exists; all others
// inherit that.
func (w *Worker) decideThread(fd int, q notify.Question) {
	live, err := threadCount(w.PID)
	if err == nil {
		err = w.holdToCPUs()
	}
	if err == nil && w.clones.allow(q.PID, live, w.threadLimit(), time.Now()) {
		q.Continue(fd)
		return
	}
	w.deny(fd, q, unix.EAGAIN, hints.Give(run.Violation{
		Wall: policy.WallRlimit, Op: "thread", Detail: "more than " + strconv.Itoa(w.threadLimit()) + " threads",
	}, run.HintRaiseLimit, hints.Data{"limit": "threads", "unit": "threads"}))
}

func (w *Worker) deny(fd int, q notify.Question, errno unix.Errno, v run.Violation) {
	w.Report(v) // before the answer, which may let the guest end
	q.Refuse(fd, errno)
}

// reservations are threads that were allowed and may not exist yet. A thread creates one
// other at a time: when it asks again, the thread it was granted before exists.
type reservations struct {
	mu      sync.Mutex
	granted map[int]time.Time // by the thread that asked
}

// grantLasts is far longer than a clone takes. A reservation expires only after the new
// thread is counted.
const grantLasts = 50 * time.Millisecond

// allow decides whether a thread may create another besides the live ones, and makes a
// reservation for it.
func (r *reservations) allow(tid, live, limit int, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for other, at := range r.granted {
		if other == tid || now.Sub(at) > grantLasts {
			delete(r.granted, other)
		}
	}
	if live+len(r.granted) >= limit {
		return false
	}
	if r.granted == nil {
		r.granted = map[int]time.Time{}
	}
	r.granted[tid] = now
	return true
}

// guestOf finds the worker that a thread belongs to.
func (z *Zygote) guestOf(tid int) *Worker {
	z.mu.Lock()
	w := z.sealed[tid]
	z.mu.Unlock()
	if w != nil || tid == z.process.Pid {
		return w
	}
	status, err := statusOf(tid)
	if err != nil {
		return nil
	}
	tgid, err := strconv.Atoi(status.field("Tgid"))
	if err != nil {
		return nil
	}
	z.mu.Lock()
	defer z.mu.Unlock()
	return z.sealed[tgid]
}
