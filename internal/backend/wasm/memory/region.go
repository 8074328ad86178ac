package memory

// Region is a range of addresses.
type Region struct {
	// Bytes are all of them, more than the guest has grown to.
	Bytes []byte

	// mapped says that the system gave it, and not Go. It cannot grow then.
	mapped bool
	image  frozen // of which it is a copy
	length uint64 // of the image
}

// newRegion reserves addresses. Memory comes when they are touched. A host that has no
// addresses left gives memory of Go's.
func newRegion(size uint64) *Region {
	if bytes, err := reserve(size); err == nil {
		return &Region{Bytes: bytes, mapped: true}
	}
	return &Region{}
}

// Grow makes sure that there is room, and says whether there is.
func (r *Region) Grow(size uint64) bool {
	if size <= uint64(len(r.Bytes)) {
		return true
	}
	if r.mapped {
		return false
	}
	grown := make([]byte, size)
	copy(grown, r.Bytes)
	r.Bytes = grown
	return true
}

func (r *Region) unmap() {
	if r.mapped {
		release(r.Bytes)
	}
	r.Bytes, r.mapped = nil, false
}
