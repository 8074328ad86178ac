package wasm

import "sync"

// image is a memory at some moment: that of an interpreter that has started, as a rule.
// Any number of guests begin with it, each with its own copy, of which the system makes
// only the pages that the guest changes.
type image struct {
	length  uint64 // of the memory
	base    uint64 // of it, the interpreter's own: what is more counts as the guest's
	reserve uint64 // how much a guest may have at most
	// hot are the pages that guests change first.
	hot []pages

	mu     sync.Mutex
	frozen frozen
	idle   []*region // whose guests are gone
	users  int       // who made it, and the guests that have copies
}

// pages are some of a memory, in bytes.
type pages struct{ at, length uint64 }

// idleRegions is how many are kept: to take a mapping away stops all threads of the
// process, and to make its pages new does not.
const idleRegions = 64

// newImage freezes a memory. Guests may grow it to reserve.
func newImage(memory []byte, base, reserve uint64) (*image, error) {
	i := &image{length: uint64(len(memory)), base: base, reserve: max(reserve, uint64(len(memory))), users: 1}
	var err error
	if i.frozen, err = freeze(memory); err != nil {
		return nil, err
	}
	return i, nil
}

// hold is for one more who uses the image, and closes it in the end.
func (i *image) hold() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.users++
}

// region gives a copy of the image. Only who has the image, or a copy, may ask.
func (i *image) region() (*region, error) {
	i.mu.Lock()
	i.users++
	if n := len(i.idle); n > 0 {
		r := i.idle[n-1]
		i.idle = i.idle[:n-1]
		i.mu.Unlock()
		return r, nil
	}
	i.mu.Unlock()
	r, err := i.frozen.mapped(i.reserve)
	if err != nil {
		i.close()
	}
	return r, err
}

// give takes a region back.
func (i *image) give(r *region) {
	kept := r.renew() == nil
	i.mu.Lock()
	if kept = kept && len(i.idle) < idleRegions; kept {
		i.idle = append(i.idle, r)
	}
	i.mu.Unlock()
	if !kept {
		r.unmap()
	}
	i.close()
}

// close is for each who used the image. The last one lets go of it.
func (i *image) close() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.users--; i.users > 0 {
		return
	}
	for _, r := range i.idle {
		r.unmap()
	}
	i.idle = nil
	i.frozen.close()
}
