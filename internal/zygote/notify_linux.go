package zygote

import (
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/notify"
	"github.com/cordon-sandbox/cordon/internal/seccomp"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// The zygote and all of its workers share one filter, installed once: a
// filter costs 0.4 ms to install and nothing to inherit. What only the zygote
// may do is decided here, by who asks: the kernel stops the caller and tells
// us its pid, which it cannot choose.
var zygoteMay = []string{"clone", "fork", "vfork", "unshare", "mount"}

// answer answers one question of the kernel, and says whether more may come.
func (z *Zygote) answer(ready unix.PollFd, allowed []int) bool {
	if ready.Revents&unix.POLLIN == 0 {
		return false // no process has the filter any more
	}
	fd := int(ready.Fd)
	if q, err := notify.Next(fd); err == nil { // or the caller died while it waited
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
	// The pid was looked up after the question came: it must still be the
	// same process that waits for the answer.
	if !q.Waits(fd) {
		if w != nil {
			w.miss() // a signal has interrupted it, or it has died
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
		w.deny(fd, q, unix.EPERM, run.Violation{Wall: policy.WallSeccomp})
	}
}

// addsOwnFilter says that a worker which is not sealed yet installs the filter that knows
// its pid. The kernel adds filters and never takes one away, so that the program itself,
// which is in memory, does not matter; a listener (flags) nobody may have.
func (z *Zygote) addsOwnFilter(q notify.Question) bool {
	return q.NR == unix.SYS_SECCOMP && z.config.Plan.Exposure().Signals &&
		q.Args[0] == unix.SECCOMP_SET_MODE_FILTER && q.Args[1] == 0
}

// decideThread counts live threads. The flags are in a register and cannot
// change while we think.
func (w *Worker) decideThread(fd int, q notify.Question) {
	live, err := threadCount(w.PID)
	if err == nil && w.clones.allow(q.PID, live, w.threadLimit(), time.Now()) {
		q.Continue(fd)
		return
	}
	w.deny(fd, q, unix.EAGAIN, run.Violation{
		Wall: policy.WallRlimit, Op: "thread", Detail: "more than " + strconv.Itoa(w.threadLimit()) + " threads",
		Hint: "raise limits.threads in the policy, or use fewer threads",
	})
}

func (w *Worker) deny(fd int, q notify.Question, errno unix.Errno, v run.Violation) {
	if v.Op == "" {
		v.Op, v.Detail = seccomp.Describe(q.NR, q.Args)
		v.Hint = seccomp.Hint(seccomp.Script, v.Op)
	}
	w.Report(v) // first: with its answer the guest may end
	q.Refuse(fd, errno)
}

// reservations are threads that were allowed and may not exist yet. A thread
// makes one other at a time: what it was granted before is there when it asks
// again.
type reservations struct {
	mu      sync.Mutex
	granted map[int]time.Time // by the thread that asked
}

// grantLasts is far longer than a clone takes, so that a reservation is given
// up only after the new thread has long been counted.
const grantLasts = 50 * time.Millisecond

// allow decides whether a thread may make another beside the live ones, and
// reserves its place.
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

// guestOf finds the worker to which a thread belongs.
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
