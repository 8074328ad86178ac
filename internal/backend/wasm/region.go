package wasm

// region is a piece of addresses.
type region struct {
	bytes []byte
	// mapped says that it is not Go's. It is as large as it will ever be then.
	mapped bool
	image  frozen // of which it is a copy
	length uint64 // of the image
}

// newRegion reserves addresses, and takes no memory: that comes when it is touched. A
// host that has none left gives memory of Go's.
func newRegion(size uint64) *region {
	if bytes, err := reserve(size); err == nil {
		return &region{bytes: bytes, mapped: true}
	}
	return &region{}
}

// grow makes sure that there is room.
func (r *region) grow(size uint64) bool {
	if size <= uint64(len(r.bytes)) {
		return true
	}
	if r.mapped {
		return false
	}
	grown := make([]byte, size)
	copy(grown, r.bytes)
	r.bytes = grown
	return true
}

func (r *region) unmap() {
	if r.mapped {
		release(r.bytes)
	}
	r.bytes, r.mapped = nil, false
}
