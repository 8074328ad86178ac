package interpreter

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"
)

// triplets are Debian's names of the folders of libraries.
var triplets = map[elf.Machine]string{
	elf.EM_X86_64:  "x86_64-linux-gnu",
	elf.EM_AARCH64: "aarch64-linux-gnu",
	elf.EM_386:     "i386-linux-gnu",
	elf.EM_ARM:     "arm-linux-gnueabihf",
	elf.EM_RISCV:   "riscv64-linux-gnu",
	elf.EM_PPC64:   "powerpc64le-linux-gnu",
	elf.EM_S390:    "s390x-linux-gnu",
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

func readObject(at io.ReaderAt, origin string) (object, error) {
	f, err := elf.NewFile(at)
	if err != nil {
		return object{}, err
	}
	o := object{triplet: triplets[f.Machine]}
	for _, p := range f.Progs {
		if p.Type != elf.PT_INTERP || p.Filesz > 4<<10 {
			continue
		}
		text := make([]byte, p.Filesz)
		if _, err := p.ReadAt(text, 0); err != nil {
			return object{}, err
		}
		o.loader = string(bytes.TrimRight(text, "\x00"))
	}
	// A file without a dynamic section has none of these.
	o.needed, _ = f.DynString(elf.DT_NEEDED)
	paths, _ := f.DynString(elf.DT_RUNPATH)
	if len(paths) == 0 {
		paths, _ = f.DynString(elf.DT_RPATH)
	}
	o.runpath = expandRunpath(paths, origin)
	return o, nil
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

// The loader's index, /etc/ld.so.cache, as glibc has written it since 2.2 (alone
// since 2.32; before, behind an older table, which is why we look for the mark):
//
//	mark[20] count[4] strings[4] flags[4] extension[4] zero[12]
//	count × { flags[4] name[4] path[4] os[4] hwcap[8] }
//
// name and path are offsets from the mark to texts that end in NUL.
const (
	cacheMark   = "glibc-ld.so.cache1.1"
	cacheHeader = 48
	cacheEntry  = 24
)

// parseCache gives the first path of each name; the loader prefers the first
// as well, as far as the processor allows. Rubbish gives an empty index.
func parseCache(data []byte) map[string]string {
	index := map[string]string{}
	start := bytes.Index(data, []byte(cacheMark))
	if start < 0 || len(data)-start < cacheHeader {
		return index
	}
	data = data[start:]
	order := binary.NativeEndian
	text := func(offset uint32) string {
		if uint64(offset) >= uint64(len(data)) {
			return ""
		}
		s, _, ok := bytes.Cut(data[offset:], []byte{0})
		if !ok {
			return ""
		}
		return string(s)
	}
	count := int(min(order.Uint32(data[len(cacheMark):]), uint32((len(data)-cacheHeader)/cacheEntry)))
	for n := range count {
		entry := data[cacheHeader+n*cacheEntry:]
		name, where := text(order.Uint32(entry[4:])), text(order.Uint32(entry[8:]))
		if name != "" && path.IsAbs(where) && index[name] == "" {
			index[name] = where
		}
	}
	return index
}
