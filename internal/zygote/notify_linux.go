package zygote

import (
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/seccomp"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// The zygote and all of its workers share one filter, installed once: a
// filter costs 0.4 ms to install and nothing to inherit. What only the zygote
// may do is decided here, by who asks: the kernel stops the caller and tells
// us its pid, which it cannot choose.
var zygoteMay = []string{"clone", "fork", "vfork", "unshare", "mount"}

// hammering is how many denials a guest may collect before it is ended: far
// above what a library's retries make, far below what a loop makes.
const hammering = 10_000

// answer answers one question of the kernel, and says whether more may come.
func (z *Zygote) answer(ready unix.PollFd, allowed []int) bool {
	if ready.Revents&unix.POLLIN == 0 {
		return false // no process has the filter any more
	}
	fd := int(ready.Fd)
	if q, err := nextNotification(fd); err == nil { // or the caller died while it waited
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

func (z *Zygote) decide(fd int, q notification, allowed []int) {
	w := z.guestOf(q.pid)
	if w == nil && q.pid == z.process.Pid && slices.Contains(allowed, q.nr) {
		_ = letContinue(fd, q.id) // ENOENT: it died meanwhile
		return
	}
	// The pid was looked up after the question came: it must still be the
	// same process that waits for the answer.
	if !stillValid(fd, q.id) {
		return
	}
	switch {
	case w == nil:
		_ = refuse(fd, q.id, unix.EPERM)
	case seccomp.IsThread(q.nr, q.args):
		w.decideThread(fd, q)
	default:
		w.deny(fd, q, unix.EPERM, run.Violation{Wall: policy.WallSeccomp})
	}
}

// decideThread counts live threads. The flags are in a register and cannot
// change while we think.
func (w *Worker) decideThread(fd int, q notification) {
	live, err := threadCount(w.PID)
	if err == nil && w.clones.allow(q.pid, live, w.threadLimit(), time.Now()) {
		_ = letContinue(fd, q.id)
		return
	}
	w.deny(fd, q, unix.EAGAIN, run.Violation{
		Wall: policy.WallRlimit, Op: "thread", Detail: "more than " + strconv.Itoa(w.threadLimit()) + " threads",
		Hint: "raise limits.threads in the policy, or use fewer threads",
	})
}

func (w *Worker) deny(fd int, q notification, errno unix.Errno, v run.Violation) {
	if v.Op == "" {
		v.Op, v.Detail = seccomp.Describe(q.nr, q.args)
		v.Hint = seccomp.Hint(v.Op)
	}
	total := w.denials.add(v)
	_ = refuse(fd, q.id, errno)
	if total == hammering {
		w.Kill(KilledHammering)
	}
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

// denials counts what a guest tried.
type denials struct {
	mu    sync.Mutex
	seen  []run.Violation
	total int
}

// maxViolations bounds the report; the rest is only counted.
const maxViolations = 32

func (d *denials) add(v run.Violation) (total int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.total++
	for i := range d.seen {
		if d.seen[i].Op == v.Op && d.seen[i].Detail == v.Detail {
			d.seen[i].Count++
			return d.total
		}
	}
	if len(d.seen) < maxViolations {
		v.Count = 1
		d.seen = append(d.seen, v)
	}
	return d.total
}

// take gives what was seen, and forgets it; the total stays.
func (d *denials) take() []run.Violation {
	d.mu.Lock()
	defer d.mu.Unlock()
	seen := d.seen
	d.seen = nil
	return seen
}
