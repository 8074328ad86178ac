package command

import (
	"bytes"
	"encoding/binary"
	"io"
)

// The loader's part of an ELF file is read and nothing else: program headers
// and the dynamic segment. Section headers need not be there for a program to
// run, and debug/elf, which reads them, is not made for hostile files. All
// sizes are bounded, and what makes no sense is left out. See elf(5).
const (
	elfMagic     = "\x7fELF"
	elfTableMost = 64 << 10
	elfNeedMost  = 256
	elfNameMost  = 256

	ptLoad, ptDynamic   = 1, 2
	dtNeeded, dtStrings = 1, 5
)

// linkage is what the loader would do.
type linkage struct {
	needed []string
	loaded uint64 // bytes of the file that come into memory
}

type elfReader struct {
	at    io.ReaderAt
	order binary.ByteOrder
	wide  bool // 64 bits
	loads []segment
}

type segment struct{ offset, address, size uint64 }

func (r elfReader) bytes(offset, size uint64) []byte {
	if offset > 1<<62 {
		return nil
	}
	data := make([]byte, min(size, elfTableMost))
	n, _ := r.at.ReadAt(data, int64(offset)) // what is there is enough
	return data[:n]
}

// word reads an address or offset.
func (r elfReader) word(b []byte) uint64 {
	if r.wide {
		return r.order.Uint64(b)
	}
	return uint64(r.order.Uint32(b))
}

// pick gives the offset of a field for 64 and for 32 bits.
func (r elfReader) pick(wide, narrow int) int {
	if r.wide {
		return wide
	}
	return narrow
}

func readLinkage(at io.ReaderAt) linkage {
	r := elfReader{at: at, order: binary.LittleEndian, wide: true}
	header := r.bytes(0, 64)
	if len(header) < 52 || string(header[:4]) != elfMagic {
		return linkage{}
	}
	if r.wide = header[4] != 1; r.wide && len(header) < 64 {
		return linkage{}
	}
	if header[5] == 2 {
		r.order = binary.BigEndian
	}
	table := r.word(header[r.pick(32, 28):])
	size := int(r.order.Uint16(header[r.pick(54, 42):]))
	count := r.order.Uint16(header[r.pick(56, 44):])
	if size != r.pick(56, 32) {
		return linkage{}
	}
	var l linkage
	var dynamic segment
	for entry := r.bytes(table, uint64(count)*uint64(size)); len(entry) >= size; entry = entry[size:] {
		s := segment{r.word(entry[r.pick(8, 4):]), r.word(entry[r.pick(16, 8):]), r.word(entry[r.pick(32, 16):])}
		switch r.order.Uint32(entry) {
		case ptLoad:
			r.loads = append(r.loads, s)
			l.loaded += min(s.size, 1<<40)
		case ptDynamic:
			dynamic = s
		}
	}
	l.needed = r.needed(dynamic)
	return l
}

func (r elfReader) needed(dynamic segment) (names []string) {
	var texts uint64
	var offsets []uint64
	size := r.pick(16, 8)
	for entry := r.bytes(dynamic.offset, dynamic.size); len(entry) >= size; entry = entry[size:] {
		switch value := r.word(entry[size/2:]); r.word(entry) {
		case dtNeeded:
			offsets = append(offsets, value)
		case dtStrings:
			texts = r.offsetOf(value)
		}
	}
	for _, o := range offsets[:min(len(offsets), elfNeedMost)] {
		if text, _, ended := bytes.Cut(r.bytes(texts+o, elfNameMost), []byte{0}); ended {
			names = append(names, string(text))
		}
	}
	return names
}

// offsetOf finds in the file what will be at an address in memory.
func (r elfReader) offsetOf(address uint64) uint64 {
	for _, s := range r.loads {
		if address >= s.address && address-s.address < s.size {
			return address - s.address + s.offset
		}
	}
	return 0
}
