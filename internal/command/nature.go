package command

import (
	"errors"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/cordon-sandbox/cordon/internal/elf"
)

const (
	// readMost is how much of a file is searched. A larger one is refused, as
	// nobody can say what is in it.
	readMost = 1 << 30
	// readSystemMost is enough for the system's directories, into which no guest
	// writes: names and copies are known there anyhow, and reading all of a
	// large program from a disk takes longer than starting it.
	readSystemMost = 8 << 20
	// readTotal is how much is read for one Check. Wrappers may name a thousand
	// files, and one with holes costs its maker nothing.
	readTotal = 2 * readMost
	// frontMost is the size in memory of a program that does nothing but call
	// the interpreter in its library.
	frontMost = 256 << 10
)

// format is what the kernel makes of a file.
type format int

const (
	unknown format = iota // execve says ENOEXEC, and execvp would call sh
	program               // ELF, or Mach-O
	script                // #!
	secret                // may be executed but not read
)

// nature is what a file is, by its contents alone.
type nature struct {
	format format
	inside
	library string // by which the kind is known
	script  shebang
	large   bool // more than is read
}

// nature reads a file once for each Check, also one that is too fresh to be
// remembered for longer.
func (v *view) nature(f file) nature {
	n, ok := v.natures[f.real]
	if !ok {
		n = nature{format: secret}
		if v.read += min(f.info.Size(), f.most()); v.read <= readTotal {
			n = natureOf(f.real, f.most())
		}
		v.natures[f.real] = n
	}
	return n
}

// natureOf reads a file, or remembers it.
func natureOf(name string, most int64) nature {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return nature{} // opening a FIFO would wait for its writer
	}
	id, known := identify(info)
	key := cacheKey{id, most}
	if known {
		if n, ok := remembered.get(key); ok {
			return n
		}
	}
	f, err := os.OpenFile(name, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nature{format: secret}
	}
	defer f.Close()
	// It may have been exchanged since: what was opened counts.
	info, err = f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nature{}
	}
	n := readNature(f, info.Size(), most)
	if now, ok := identify(info); known && ok && now == id && now.settled() {
		remembered.put(key, n)
	}
	return n
}

// isProgram says whether a system's kernel takes a file for a program, by how it begins:
// ELF, and on macOS Mach-O, for one processor or for several.
func isProgram(system, head string) bool {
	if system != "darwin" {
		return strings.HasPrefix(head, elf.Magic)
	}
	return slices.ContainsFunc([]string{"\xcf\xfa\xed\xfe", "\xca\xfe\xba\xbe", "\xca\xfe\xba\xbf"}, func(magic string) bool {
		return strings.HasPrefix(head, magic)
	})
}

func readNature(f io.ReaderAt, size, most int64) nature {
	head := make([]byte, scriptMost)
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nature{format: secret}
	}
	head = head[:n]
	switch {
	case strings.HasPrefix(string(head), "#!"):
		sh, ok := readShebang(head)
		if !ok {
			return nature{}
		}
		return nature{format: script, script: sh}
	case !isProgram(runtime.GOOS, string(head)):
		return nature{}
	}
	out := nature{format: program, large: size > readMost}
	if out.large && most == readMost {
		return out
	}
	// What is wrong with a file is the loader's concern; what is right counts.
	linked, _ := elf.Read(f)
	for _, needed := range linked.Needed {
		for _, lib := range libraries {
			if linked.Loaded <= frontMost && strings.HasPrefix(needed, lib.prefix) {
				out.kind, out.library = lib.kind, needed
				return out
			}
		}
	}
	found, err := search().read(f, most)
	if err != nil {
		out.format = secret
		return out
	}
	out.inside = signatureOf(found)
	return out
}
