package interpreter

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"
)

// Of an ELF file the loader's part is read and nothing else: the program
// headers, the dynamic segment they point to, and a few texts. debug/elf reads
// all sections, which takes five times as long for a dozen files at each start.
// See elf(5).
const (
	elfHeader, elfProgram, elfDynamic = 64, 56, 16 // sizes of the structures for 64 bits
	elfMost                           = 64 << 10   // of program headers or dynamic entries
	elfText                           = 4 << 10    // the longest text

	ptLoad, ptDynamic, ptInterp                      = 1, 2, 3
	dtNeeded, dtStrings, dtRPath, dtRunPath          = 1, 5, 15, 29
	machineX86, machineARM, machineRISCV, machinePPC = 62, 183, 243, 21
)

// triplets are Debian's names of the folders of libraries.
var triplets = map[uint16]string{
	machineX86: "x86_64-linux-gnu", machineARM: "aarch64-linux-gnu",
	machineRISCV: "riscv64-linux-gnu", machinePPC: "powerpc64le-linux-gnu",
}

// elfReader reads the loader's part of the ELF files in fsys.
func elfReader(fsys fs.FS) func(string) (object, error) {
	return func(name string) (object, error) {
		real, _, err := resolve(fsys, name)
		if err != nil {
			return object{}, err
		}
		f, err := fsys.Open(inFS(real))
		if err != nil {
			return object{}, err
		}
		defer f.Close()
		at, ok := f.(io.ReaderAt)
		if !ok {
			return object{}, errors.New("cannot be read in parts")
		}
		// $ORIGIN is the folder of the real file: the kernel and the loader
		// both resolve the program's own name.
		return readObject(at, path.Dir(real))
	}
}

// segment is a part of the file and its place in memory.
type segment struct{ kind, offset, address, size uint64 }

func readObject(at io.ReaderAt, origin string) (object, error) {
	r := elfFile{at: at}
	header := r.read(0, elfHeader)
	if len(header) < elfHeader || string(header[:4]) != "\x7fELF" {
		return object{}, errors.New("no ELF header")
	}
	if header[4] != 2 || header[5] != 1 {
		return object{}, errors.New("built for a machine that does not have 64 bits, little end first")
	}
	o := object{triplet: triplets[binary.LittleEndian.Uint16(header[18:])]}
	var dynamic segment
	for _, s := range r.segments(header) {
		switch s.kind {
		case ptInterp:
			o.loader = r.text(s.offset)
		case ptDynamic:
			dynamic = s
		}
	}
	// A file without a dynamic segment has none of these.
	var rpath, runpath []string
	strings, entries := r.dynamic(dynamic)
	for _, e := range entries {
		switch e.tag {
		case dtNeeded:
			o.needed = append(o.needed, r.text(strings+e.value))
		case dtRunPath:
			runpath = append(runpath, r.text(strings+e.value))
		case dtRPath:
			rpath = append(rpath, r.text(strings+e.value))
		}
	}
	if len(runpath) == 0 {
		runpath = rpath
	}
	o.runpath = expandRunpath(runpath, origin)
	return o, r.err
}

// elfFile remembers the first error; after it everything is empty.
type elfFile struct {
	at    io.ReaderAt
	loads []segment
	err   error
}

// read gives what is there of a part of the file.
func (r *elfFile) read(offset, size uint64) []byte {
	if r.err != nil || offset > 1<<62 {
		return nil
	}
	data := make([]byte, min(size, elfMost))
	n, err := r.at.ReadAt(data, int64(offset))
	if err != nil && !errors.Is(err, io.EOF) {
		r.err = err
	}
	return data[:n]
}

func (r *elfFile) text(offset uint64) string {
	for _, size := range []uint64{128, elfText} { // most are short
		if text, _, ended := bytes.Cut(r.read(offset, size), []byte{0}); ended {
			return string(text)
		}
	}
	if r.err == nil {
		r.err = errors.New("a text in it does not end")
	}
	return ""
}

func (r *elfFile) segments(header []byte) (all []segment) {
	le := binary.LittleEndian
	offset, size, count := le.Uint64(header[32:]), le.Uint16(header[54:]), le.Uint16(header[56:])
	if size != elfProgram {
		r.err = errors.New("its program headers are not of the known size")
		return nil
	}
	for table := r.read(offset, uint64(count)*elfProgram); len(table) >= elfProgram; table = table[elfProgram:] {
		s := segment{uint64(le.Uint32(table)), le.Uint64(table[8:]), le.Uint64(table[16:]), le.Uint64(table[32:])}
		if s.kind == ptLoad {
			r.loads = append(r.loads, s)
		}
		all = append(all, s)
	}
	return all
}

type dynamicEntry struct{ tag, value uint64 }

// dynamic gives the entries, and where in the file their texts begin.
func (r *elfFile) dynamic(s segment) (texts uint64, all []dynamicEntry) {
	le := binary.LittleEndian
	for table := r.read(s.offset, s.size); len(table) >= elfDynamic; table = table[elfDynamic:] {
		e := dynamicEntry{le.Uint64(table), le.Uint64(table[8:])}
		if e.tag == dtStrings {
			texts = r.offsetOf(e.value)
		}
		all = append(all, e)
	}
	return texts, all
}

// offsetOf finds in the file what will be at an address in memory.
func (r *elfFile) offsetOf(address uint64) uint64 {
	for _, s := range r.loads {
		if address >= s.address && address-s.address < s.size {
			return address - s.address + s.offset
		}
	}
	return 0
}

// expandRunpath splits search paths and replaces $ORIGIN. Entries that are not
// absolute afterwards mean the working folder; they are dropped.
func expandRunpath(paths []string, origin string) []string {
	var dirs []string
	for _, list := range paths {
		for dir := range strings.SplitSeq(list, ":") {
			dir = strings.NewReplacer("${ORIGIN}", origin, "$ORIGIN", origin).Replace(dir)
			if path.IsAbs(dir) {
				dirs = append(dirs, path.Clean(dir))
			}
		}
	}
	return dirs
}
