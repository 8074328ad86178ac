package interpreter

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/cordon-sandbox/cordon/internal/elf"
)

const machineX86, machineARM, machineRISCV, machinePPC = 62, 183, 243, 21

// triplets are Debian's names for library directories.
var triplets = map[uint16]string{
	machineX86: "x86_64-linux-gnu", machineARM: "aarch64-linux-gnu",
	machineRISCV: "riscv64-linux-gnu", machinePPC: "powerpc64le-linux-gnu",
}

// elfReader returns a function that reads the loader's part of ELF files in fsys.
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
			return object{}, errors.New("does not support reading at an offset")
		}
		// $ORIGIN is the directory of the real file: the kernel and the loader both
		// resolve the program's name.
		return readObject(at, path.Dir(real))
	}
}

func readObject(at io.ReaderAt, origin string) (object, error) {
	f, err := elf.Read(at)
	if err == nil && !f.Native {
		err = errors.New("not a 64-bit little-endian file")
	}
	return object{
		loader: f.Loader, needed: f.Needed, runpath: expandRunpath(f.Runpath, origin), triplet: triplets[f.Machine],
	}, err
}

// expandRunpath splits search paths and replaces $ORIGIN. It drops entries that are then
// not absolute, because they depend on the working directory.
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
