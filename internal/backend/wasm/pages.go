package wasm

import "bytes"

// pageSize is that of copies. Where the system's own are larger, several change at once.
const pageSize = 4096

var zeros [pageSize]byte

func isZero(page []byte) bool { return bytes.Equal(page, zeros[:len(page)]) }

// differing gives the pages of a memory that are not those of an image, behind which
// there are zeros.
func differing(memory, image []byte) []pages {
	var found []pages
	for at := 0; at < len(memory); at += pageSize {
		page := memory[at:min(at+pageSize, len(memory))]
		was := zeros[:len(page)]
		if at+len(page) <= len(image) {
			was = image[at : at+len(page)]
		}
		if bytes.Equal(page, was) {
			continue
		}
		if n := len(found); n > 0 && found[n-1].at+found[n-1].length == uint64(at) {
			found[n-1].length += uint64(len(page))
			continue
		}
		found = append(found, pages{uint64(at), uint64(len(page))})
	}
	return found
}
