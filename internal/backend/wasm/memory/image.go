package memory

import "sync"

// Image is the content of a memory at one moment: as a rule, that of an interpreter that
// has started. Any number of guests begin with it. Each has a copy, of which the system
// makes only the pages that the guest changes.
type Image struct {
	// Length is the size of the memory.
	Length uint64
	// Base is how much of it belongs to the interpreter. The rest counts as the guest's.
	Base uint64
	// Hot are the pages that guests change first.
	Hot []Pages

	reserve uint64 // how much a guest may have at most

	mu     sync.Mutex
	frozen frozen
	idle   []*Region // their guests are gone
	users  int       // the maker, and guests that have copies
}

// idleRegions is how many regions are kept for reuse: unmapping stops all threads of the
// process, and renewing pages does not.
const idleRegions = 64

// NewImage freezes a memory. Guests may grow their copies to reserve.
func NewImage(memory []byte, base, reserve uint64) (*Image, error) {
	i := &Image{Length: uint64(len(memory)), Base: base, reserve: max(reserve, uint64(len(memory))), users: 1}
	var err error
	if i.frozen, err = freeze(memory); err != nil {
		return nil, err
	}
	return i, nil
}

// Hold adds a user of the image, which calls Close in the end.
func (i *Image) Hold() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.users++
}

// Copy gives a region with the image's content, which goes back by Return. The caller
// must be a user of the image.
func (i *Image) Copy() (*Region, error) {
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
		i.Close()
	}
	return r, err
}

// Return takes a region back.
func (i *Image) Return(r *Region) {
	kept := r.renew() == nil
	i.mu.Lock()
	if kept = kept && len(i.idle) < idleRegions; kept {
		i.idle = append(i.idle, r)
	}
	i.mu.Unlock()
	if !kept {
		r.unmap()
	}
	i.Close()
}

// Close ends one use of the image. The last one frees it.
func (i *Image) Close() {
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
