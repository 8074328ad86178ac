package memory

// Region is a range of addresses.
type Region struct {
	// Bytes is the whole range, larger than the guest's current size.
	Bytes []byte

	// mapped says that the memory is from the system, not from Go. It cannot grow.
	mapped bool
	image  frozen // the region is a copy of it
	length uint64 // of the image
}

// newRegion reserves addresses. The system allocates memory when they are touched. If it has
// no addresses left, the region is memory of Go.
func newRegion(size uint64) *Region {
	if bytes, err := reserve(size); err == nil {
		return &Region{Bytes: bytes, mapped: true}
	}
	return &Region{}
}

// Grow makes room for size bytes, and reports whether it succeeded.
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
