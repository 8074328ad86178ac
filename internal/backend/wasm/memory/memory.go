// Package memory provides the memory of WebAssembly guests: a range of addresses for each,
// empty or a copy of an image, with a limit.
package memory

import "github.com/tetratelabs/wazero/experimental"

// Page is the unit of growth, and Max the largest possible memory.
const (
	Page = 64 << 10
	Max  = 1 << 32
)

// Memory is the memory of one guest. All addresses up to the limit are reserved at the start,
// so that growing moves nothing.
type Memory struct {
	// Limit is its maximum size.
	Limit uint64
	// Size is its current size.
	Size uint64
	// Refused reports that the guest tried to grow it beyond the limit.
	Refused bool
	// Region has the bytes; nil before the guest starts and after Free.
	Region *Region

	image *Image // the region is a copy of it; nil if it started empty
}

// FromImage returns a memory in a region of an image. Limit is its current size.
func FromImage(image *Image, region *Region, limit uint64) Memory {
	return Memory{Limit: limit, Region: region, image: image}
}

var (
	_ experimental.MemoryAllocator = (*Memory)(nil)
	_ experimental.LinearMemory    = (*Memory)(nil)
)

// Allocate implements experimental.MemoryAllocator. It is called once, with the sizes that
// the module declares.
func (m *Memory) Allocate(_, most uint64) experimental.LinearMemory {
	if m.Region == nil {
		m.Limit = min(m.Limit, most)
		m.Region = newRegion(m.Limit)
	}
	return m
}

// Reallocate implements experimental.LinearMemory: it returns the memory in its new size. The
// initial size of a module was checked before, so that only growing can be refused.
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
