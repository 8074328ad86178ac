package wasm

import "github.com/tetratelabs/wazero/experimental"

// memory is a guest's own. It is one piece of addresses from the beginning, as large as
// it may become, so that growing moves nothing.
type memory struct {
	limit  uint64
	image  *image // what lies there at the beginning; nil for zeros
	region *region
	size   uint64
	// refused says that the guest wanted more than it may have.
	refused bool
}

var (
	_ experimental.MemoryAllocator = (*memory)(nil)
	_ experimental.LinearMemory    = (*memory)(nil)
)

// Allocate is called once, with what the module says of itself.
func (m *memory) Allocate(_, most uint64) experimental.LinearMemory {
	if m.region == nil {
		m.limit = min(m.limit, most)
		m.region = newRegion(m.limit)
	}
	return m
}

// Reallocate gives the memory in its new size. The least that a module needs was found
// to be within the limit before, so that only growing is refused.
func (m *memory) Reallocate(size uint64) []byte {
	if size > m.limit || !m.region.grow(size) {
		m.refused = true
		return nil
	}
	m.size = size
	return m.region.bytes[:size:size]
}

// Free gives it back.
func (m *memory) Free() {
	switch {
	case m.region == nil:
	case m.image != nil:
		m.image.give(m.region)
	default:
		m.region.unmap()
	}
	m.region = nil
}
