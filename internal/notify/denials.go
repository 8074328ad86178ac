package notify

import (
	"sync"

	"github.com/cordon-sandbox/cordon/run"
)

// Hammering is how many denials a guest may collect before it is ended: far
// above what a library's retries make, far below what a loop makes.
const Hammering = 10_000

// Denials counts what a guest tried. The zero value is ready for use.
type Denials struct {
	mu    sync.Mutex
	seen  []run.Violation
	total int
}

// maxViolations bounds the report; the rest is only counted.
const maxViolations = 32

// Add counts one more, and says how many there were.
func (d *Denials) Add(v run.Violation) (total int) {
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

// Miss counts a call that came to nothing and is no violation, and says how many calls
// did so far: a guest that makes nothing else keeps the host busy just as well.
func (d *Denials) Miss() (total int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.total++
	return d.total
}

// Take gives what was seen, and forgets it; the total stays.
func (d *Denials) Take() []run.Violation {
	d.mu.Lock()
	defer d.mu.Unlock()
	seen := d.seen
	d.seen = nil
	return seen
}
