package wasm

import (
	"encoding/binary"
	"fmt"
	"os"
)

// changed gives the pages of a region that are its own and not the image's. The kernel
// knows: they are no pages of a file any more.
func (r *region) changed(size uint64) ([]pages, error) {
	f, err := os.Open("/proc/self/pagemap")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	system := uint64(os.Getpagesize())
	entries := make([]byte, (size+system-1)/system*8)
	if _, err := f.ReadAt(entries, int64(r.address()/uintptr(system)*8)); err != nil {
		return nil, fmt.Errorf("pagemap: %w", err)
	}
	const present, swapped, ofFile = 1 << 63, 1 << 62, 1 << 61
	var found []pages
	for i := range len(entries) / 8 {
		entry := binary.LittleEndian.Uint64(entries[i*8:])
		if entry&(present|swapped) == 0 || entry&ofFile != 0 {
			continue
		}
		at := uint64(i) * system
		if n := len(found); n > 0 && found[n-1].at+found[n-1].length == at {
			found[n-1].length += system
			continue
		}
		found = append(found, pages{at, system})
	}
	return found, nil
}
