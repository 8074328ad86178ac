package notify

import (
	"sync"

	"github.com/cordon-sandbox/cordon/run"
)

// Hammering is how many denials a guest may cause before it is killed: far above what a
// library's retries cause, far below what a loop does.
const Hammering = 10_000

// Denials counts the denied calls of a guest. The zero value is ready to use.
type Denials struct {
	mu    sync.Mutex
	seen  []run.Violation
	total int
}

// maxViolations bounds the report; further ones are only counted.
const maxViolations = 32

// Add counts one violation, and returns the total.
func (d *Denials) Add(v run.Violation) (total int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.total++
	for i := range d.seen {
		if d.seen[i].Op == v.Op && d.seen[i].Detail == v.Detail && d.seen[i].Module == v.Module {
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

// Miss counts a call that failed and is not a violation, and returns the total: a guest
// that only makes such calls keeps the host just as busy.
func (d *Denials) Miss() (total int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.total++
	return d.total
}

// Take returns the violations and forgets them; the total stays.
func (d *Denials) Take() []run.Violation {
	d.mu.Lock()
	defer d.mu.Unlock()
	seen := d.seen
	d.seen = nil
	return seen
}
