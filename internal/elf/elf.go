// Package elf reads the loader's part of a program or library: program headers,
// the dynamic segment that they point to, and a few texts. See elf(5).
//
// debug/elf reads all section headers, which need not be there for a program to
// run and take five times as long, and it is not made for hostile files. Here
// all sizes are bounded, and Read ends whatever is in the file.
package elf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
)

// Magic is how an ELF file begins.
const Magic = "\x7fELF"

const (
	tableMost  = 64 << 10 // of program headers or dynamic entries
	textMost   = 4 << 10  // the longest text
	textsMost  = 256      // of each kind
	loadedMost = 1 << 40  // in one segment: sums of them must not wrap around

	ptLoad, ptDynamic, ptInterp             = 1, 2, 3
	dtNeeded, dtStrings, dtRPath, dtRunPath = 1, 5, 15, 29
)

// File is what the loader would do.
type File struct {
	Machine uint16   // EM_X86_64 and so on
	Native  bool     // 64 bits, little end first
	Loader  string   // PT_INTERP
	Needed  []string // DT_NEEDED
	Runpath []string // DT_RUNPATH, else DT_RPATH, as it is written
	Loaded  uint64   // bytes of the file that come into memory
}

// Read gives what can be read, and the first thing that is wrong. A loader may
// be content with less than we are: what stands behind a mistake is given too.
func Read(at io.ReaderAt) (File, error) {
	r := reader{at: at, order: binary.LittleEndian}
	header := r.bytes(0, 64)
	if len(header) < 52 || string(header[:4]) != Magic {
		return File{}, errors.New("no ELF header")
	}
	if r.wide = header[4] != 1; r.wide && len(header) < 64 {
		return File{}, errors.New("its header is cut off")
	}
	if header[5] == 2 {
		r.order = binary.BigEndian
	}
	f := File{Machine: r.order.Uint16(header[18:]), Native: header[4] == 2 && header[5] == 1}
	table := r.word(header[r.pick(32, 28):])
	size := int(r.order.Uint16(header[r.pick(54, 42):]))
	count := r.order.Uint16(header[r.pick(56, 44):])
	if size != r.pick(56, 32) {
		return f, errors.New("its program headers are not of the known size")
	}
	var dynamic segment
	for entry := r.bytes(table, uint64(count)*uint64(size)); len(entry) >= size; entry = entry[size:] {
		s := segment{r.word(entry[r.pick(8, 4):]), r.word(entry[r.pick(16, 8):]), r.word(entry[r.pick(32, 16):])}
		switch r.order.Uint32(entry) {
		case ptLoad:
			r.loads = append(r.loads, s)
			f.Loaded += min(s.size, loadedMost)
		case ptInterp:
			f.Loader = r.text(s.offset)
		case ptDynamic:
			dynamic = s
		}
	}
	r.dynamic(dynamic, &f)
	return f, r.err
}

// segment is a part of the file and its place in memory.
type segment struct{ offset, address, size uint64 }

type reader struct {
	at    io.ReaderAt
	order binary.ByteOrder
	wide  bool // 64 bits
	loads []segment
	err   error // the first
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// bytes gives what is there of a part of the file.
func (r *reader) bytes(offset, size uint64) []byte {
	if offset > 1<<62 {
		return nil
	}
	data := make([]byte, min(size, tableMost))
	n, err := r.at.ReadAt(data, int64(offset))
	if err != nil && !errors.Is(err, io.EOF) {
		r.fail(err)
	}
	return data[:n]
}

func (r *reader) text(offset uint64) string {
	for _, size := range []uint64{128, textMost} { // most are short
		if text, _, ended := bytes.Cut(r.bytes(offset, size), []byte{0}); ended {
			return string(text)
		}
	}
	r.fail(errors.New("a text in it does not end"))
	return ""
}

// word reads an address or offset.
func (r *reader) word(b []byte) uint64 {
	if r.wide {
		return r.order.Uint64(b)
	}
	return uint64(r.order.Uint32(b))
}

// pick gives the offset or the size of a field for 64 and for 32 bits.
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
		if len(offsets[tag]) > textsMost {
			r.fail(errors.New("it has too many texts"))
		}
		for _, o := range offsets[tag][:min(len(offsets[tag]), textsMost)] {
			all = append(all, r.text(texts+o))
		}
		return all
	}
	f.Needed = read(dtNeeded)
	if f.Runpath = read(dtRunPath); len(f.Runpath) == 0 {
		f.Runpath = read(dtRPath)
	}
}

// offsetOf finds in the file what will be at an address in memory.
func (r *reader) offsetOf(address uint64) uint64 {
	for _, s := range r.loads {
		if address >= s.address && address-s.address < s.size {
			return address - s.address + s.offset
		}
	}
	return 0
}
