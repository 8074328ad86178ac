package memory

import "sync"

// Image is a frozen memory, usually that of an interpreter that has started. Any number of
// guests start with a copy of it. The system copies only the pages that a guest changes.
type Image struct {
	// Length is the size of the memory.
	Length uint64
	// Base is the part that belongs to the interpreter. The rest counts as the guest's.
	Base uint64
	// Hot lists the pages that every guest changes.
	Hot []Pages

	reserve uint64 // the maximum size of a guest's copy

	mu     sync.Mutex
	frozen frozen
	idle   []*Region // regions without a guest
	users  int       // the maker, and guests with copies
}

// idleRegions is how many regions are kept for reuse. Unmapping stops all threads of the
// process; renewing pages does not.
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

// Hold adds a user of the image. Each user calls Close.
func (i *Image) Hold() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.users++
}

// Copy returns a region with the image's content, to be given back with Return. The caller
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
