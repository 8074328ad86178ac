package wasm

import "sync"

// image is a memory at some moment: that of an interpreter that has started, as a rule.
// Any number of guests begin with it, each with its own copy, of which the system makes
// only the pages that the guest changes.
type image struct {
	length  uint64 // of the memory
	reserve uint64 // how much a guest may have at most
	frozen
	// hot are the pages that guests change first; see warm.
	hot []pages

	mu   sync.Mutex
	idle []*region // whose guests are gone
	gone bool
}

// pages are some of a memory, in bytes.
type pages struct{ at, length uint64 }

// idleRegions is how many are kept: to take a mapping away stops all threads of the
// process, and to make its pages new does not.
const idleRegions = 64

// newImage freezes a memory. Guests may grow it to reserve.
func newImage(memory []byte, reserve uint64) (*image, error) {
	i := &image{length: uint64(len(memory)), reserve: max(reserve, uint64(len(memory)))}
	var err error
	if i.frozen, err = freeze(memory); err != nil {
		return nil, err
	}
	return i, nil
}

// region gives a copy of the image.
func (i *image) region() (*region, error) {
	i.mu.Lock()
	if n := len(i.idle); n > 0 {
		r := i.idle[n-1]
		i.idle = i.idle[:n-1]
		i.mu.Unlock()
		return r, nil
	}
	i.mu.Unlock()
	return i.frozen.mapped(i.reserve)
}

// give takes a region back.
func (i *image) give(r *region) {
	if r.renew() == nil {
		i.mu.Lock()
		if !i.gone && len(i.idle) < idleRegions {
			i.idle = append(i.idle, r)
			i.mu.Unlock()
			return
		}
		i.mu.Unlock()
	}
	r.unmap()
}

// close lets go of the image. Guests that have copies keep them.
func (i *image) close() {
	i.mu.Lock()
	idle := i.idle
	i.idle, i.gone = nil, true
	i.mu.Unlock()
	for _, r := range idle {
		r.unmap()
	}
	i.frozen.close()
}
