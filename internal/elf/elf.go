// Package elf reads the part of a program or library that the loader uses: program
// headers, the dynamic segment that they point to, and a few strings. See elf(5).
//
// debug/elf reads all section headers, which a program does not need and which take five
// times as long, and it is not made for hostile files. Here all sizes are bounded, and
// Read terminates for any file.
package elf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
)

// Magic is the first bytes of an ELF file.
const Magic = "\x7fELF"

const (
	maxTable  = 64 << 10 // size of program headers or dynamic entries
	maxText   = 4 << 10  // length of a string
	maxTexts  = 256      // number of strings of each kind
	maxLoaded = 1 << 40  // size of a segment, so that sums do not overflow

	ptLoad, ptDynamic, ptInterp             = 1, 2, 3
	dtNeeded, dtStrings, dtRPath, dtRunPath = 1, 5, 15, 29
)

// File is what the loader needs to know.
type File struct {
	Machine uint16   // EM_X86_64 and so on
	Native  bool     // 64-bit, little-endian
	Loader  string   // PT_INTERP
	Needed  []string // DT_NEEDED
	Runpath []string // DT_RUNPATH, else DT_RPATH, unexpanded
	Loaded  uint64   // bytes of the file that are loaded into memory
}

// Read returns everything that it can read, and the first error. It continues after an
// error, because a loader may accept files that are not quite valid.
func Read(at io.ReaderAt) (File, error) {
	r := reader{at: at, order: binary.LittleEndian}
	header := r.bytes(0, 64)
	if len(header) < 52 || string(header[:4]) != Magic {
		return File{}, errors.New("no ELF header")
	}
	if r.wide = header[4] != 1; r.wide && len(header) < 64 {
		return File{}, errors.New("the header is truncated")
	}
	if header[5] == 2 {
		r.order = binary.BigEndian
	}
	f := File{Machine: r.order.Uint16(header[18:]), Native: header[4] == 2 && header[5] == 1}
	table := r.word(header[r.pick(32, 28):])
	size := int(r.order.Uint16(header[r.pick(54, 42):]))
	count := r.order.Uint16(header[r.pick(56, 44):])
	if size != r.pick(56, 32) {
		return f, errors.New("the program headers have an unknown size")
	}
	var dynamic segment
	for entry := r.bytes(table, uint64(count)*uint64(size)); len(entry) >= size; entry = entry[size:] {
		s := segment{r.word(entry[r.pick(8, 4):]), r.word(entry[r.pick(16, 8):]), r.word(entry[r.pick(32, 16):])}
		switch r.order.Uint32(entry) {
		case ptLoad:
			r.loads = append(r.loads, s)
			f.Loaded += min(s.size, maxLoaded)
		case ptInterp:
			f.Loader = r.text(s.offset)
		case ptDynamic:
			dynamic = s
		}
	}
	r.dynamic(dynamic, &f)
	return f, r.err
}

// segment is a part of the file and its address in memory.
type segment struct{ offset, address, size uint64 }

type reader struct {
	at    io.ReaderAt
	order binary.ByteOrder
	wide  bool // 64 bits
	loads []segment
	err   error // the first one
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// bytes returns a part of the file, as far as it exists.
func (r *reader) bytes(offset, size uint64) []byte {
	if offset > 1<<62 {
		return nil
	}
	data := make([]byte, min(size, maxTable))
	n, err := r.at.ReadAt(data, int64(offset))
	if err != nil && !errors.Is(err, io.EOF) {
		r.fail(err)
	}
	return data[:n]
}

func (r *reader) text(offset uint64) string {
	for _, size := range []uint64{128, maxText} { // most are short
		if text, _, ended := bytes.Cut(r.bytes(offset, size), []byte{0}); ended {
			return string(text)
		}
	}
	r.fail(errors.New("a string is not terminated"))
	return ""
}

// word reads an address or offset.
func (r *reader) word(b []byte) uint64 {
	if r.wide {
		return r.order.Uint64(b)
	}
	return uint64(r.order.Uint32(b))
}

// pick returns the offset or size of a field for 64 or 32 bits.
func (r *reader) pick(wide, narrow int) int {
	if r.wide {
		return wide
	}
	return narrow
}

func (r *reader) dynamic(s segment, f *File) {
	var texts uint64
	offsets := map[uint64][]uint64{}
	size := r.pick(16, 8)
	for entry := r.bytes(s.offset, s.size); len(entry) >= size; entry = entry[size:] {
		switch tag, value := r.word(entry), r.word(entry[size/2:]); tag {
		case dtStrings:
			texts = r.offsetOf(value)
		case dtNeeded, dtRPath, dtRunPath:
			offsets[tag] = append(offsets[tag], value)
		}
	}
	read := func(tag uint64) (all []string) {
		if len(offsets[tag]) > maxTexts {
			r.fail(errors.New("too many strings"))
		}
		for _, o := range offsets[tag][:min(len(offsets[tag]), maxTexts)] {
			all = append(all, r.text(texts+o))
		}
		return all
	}
	f.Needed = read(dtNeeded)
	if f.Runpath = read(dtRunPath); len(f.Runpath) == 0 {
		f.Runpath = read(dtRPath)
	}
}

// offsetOf returns the offset in the file of an address in memory.
func (r *reader) offsetOf(address uint64) uint64 {
	for _, s := range r.loads {
		if address >= s.address && address-s.address < s.size {
			return address - s.address + s.offset
		}
	}
	return 0
}
