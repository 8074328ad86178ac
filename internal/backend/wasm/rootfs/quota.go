package rootfs

import "sync/atomic"

// EntryCost is what a new file, directory or link counts, whatever is in it: empty
// ones fill a disk too.
const EntryCost = 4096

// quota is what a guest may add to all its mounts. Whoever takes and gives holds
// Set.changing; the reader of used does not.
type quota struct {
	budget int64
	used   atomic.Int64
}

// take says whether there is room for n more, and uses it.
func (q *quota) take(n int64) bool {
	used := q.used.Load()
	if n > q.budget-used {
		return false
	}
	q.used.Store(used + n)
	return true
}

// give takes back. It ends at zero: what a guest removes of others' files must
// not become a budget for later.
func (q *quota) give(n int64) { q.used.Store(max(0, q.used.Load()-n)) }
