package rootfs

import "sync/atomic"

// EntryCost is the cost of a new file, directory or link, in addition to its size: empty ones
// fill a disk too.
const EntryCost = 4096

// quota bounds what a guest may add to all its mounts. Callers of take and give hold
// Set.changing; readers of used do not.
type quota struct {
	budget int64
	used   atomic.Int64
}

// take charges n, and reports whether the quota allows it.
func (q *quota) take(n int64) bool {
	used := q.used.Load()
	if n > q.budget-used {
		return false
	}
	q.used.Store(used + n)
	return true
}

// give releases n, down to zero: removing files of others must give no credit for later.
func (q *quota) give(n int64) { q.used.Store(max(0, q.used.Load()-n)) }
