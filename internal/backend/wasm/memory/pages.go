package memory

import "bytes"

// Pages are adjacent pages of a memory, in bytes.
type Pages struct{ At, Length uint64 }

// pageSize is the unit of comparison. Where the system's pages are larger, several change at
// once.
const pageSize = 4096

var zeros [pageSize]byte

func isZero(page []byte) bool { return bytes.Equal(page, zeros[:len(page)]) }

// Differing returns the pages of a memory that differ from an image, which is followed by
// zeros.
func Differing(memory, image []byte) []Pages {
	var found []Pages
	for at := 0; at < len(memory); at += pageSize {
		page := memory[at:min(at+pageSize, len(memory))]
		was := zeros[:len(page)]
		if at+len(page) <= len(image) {
			was = image[at : at+len(page)]
		}
		if !bytes.Equal(page, was) {
			found = appendPage(found, uint64(at), uint64(len(page)))
		}
	}
	return found
}

// appendPage adds a page and merges it with the last ones if it follows them.
func appendPage(found []Pages, at, length uint64) []Pages {
	if n := len(found); n > 0 && found[n-1].At+found[n-1].Length == at {
		found[n-1].Length += length
		return found
	}
	return append(found, Pages{at, length})
}
