package memory

import (
	"encoding/binary"
	"fmt"
	"os"
)

// Changed returns the pages of a region that differ from its image. The kernel reports them:
// they are no longer pages of the file.
func (r *Region) Changed(size uint64) ([]Pages, error) {
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
	var found []Pages
	for i := range len(entries) / 8 {
		entry := binary.LittleEndian.Uint64(entries[i*8:])
		if entry&(present|swapped) != 0 && entry&ofFile == 0 {
			found = appendPage(found, uint64(i)*system, system)
		}
	}
	return found, nil
}
