// Package memory gives guests of WebAssembly their memory: one range of addresses each,
// empty or a copy of an image, with a limit.
package memory

import "github.com/tetratelabs/wazero/experimental"

// Page is what memories grow by, and Max is what their addresses reach.
const (
	Page = 64 << 10
	Max  = 1 << 32
)

// Memory is that of one guest. Its addresses are reserved at the beginning, up to the
// limit, so that growing moves nothing.
type Memory struct {
	// Limit is how large it may grow.
	Limit uint64
	// Size is how large it is.
	Size uint64
	// Refused says that the guest asked for more than it may have.
	Refused bool
	// Region has the bytes; nil before the guest begins and after Free.
	Region *Region

	image *Image // of which the region is a copy; nil if it began empty
}

// FromImage gives a memory in a region of an image. Limit is its present size.
func FromImage(image *Image, region *Region, limit uint64) Memory {
	return Memory{Limit: limit, Region: region, image: image}
}

var (
	_ experimental.MemoryAllocator = (*Memory)(nil)
	_ experimental.LinearMemory    = (*Memory)(nil)
)

// Allocate implements experimental.MemoryAllocator. It is called once, with what the
// module declares.
func (m *Memory) Allocate(_, most uint64) experimental.LinearMemory {
	if m.Region == nil {
		m.Limit = min(m.Limit, most)
		m.Region = newRegion(m.Limit)
	}
	return m
}

// Reallocate implements experimental.LinearMemory: it gives the memory in its new size.
// The size that a module begins with was checked against the limit before, so that only
// growing is refused.
func (m *Memory) Reallocate(size uint64) []byte {
	if size > m.Limit || !m.Region.Grow(size) {
		m.Refused = true
		return nil
	}
	m.Size = size
	return m.Region.Bytes[:size:size]
}

// Free implements experimental.LinearMemory.
func (m *Memory) Free() {
	switch {
	case m.Region == nil:
	case m.image != nil:
		m.image.Return(m.Region)
	default:
		m.Region.unmap()
	}
	m.Region = nil
}
