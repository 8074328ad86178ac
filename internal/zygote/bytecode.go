package zygote

import (
	"crypto/sha256"
	"embed"
	"fmt"
	"slices"

	"github.com/cordon-sandbox/cordon/internal/language"
	"github.com/cordon-sandbox/cordon/internal/script"
	"github.com/cordon-sandbox/cordon/internal/tuning"
)

//go:generate go run github.com/cordon-sandbox/cordon/internal/zygote/gen

// The programs are compiled ahead of time for each minor version of CPython, because
// compiling them takes longer than the rest of a start. The bytecode format does not
// change within a minor version. See RATIONALE.md, "Why does the binary carry bytecode?"
//
//	┌───────────────────────────┬───────────────────┬────────────────────────┐
//	│ SHA-256 of the source: 32 │ magic number: 4   │ marshalled code object │
//	└───────────────────────────┴───────────────────┴────────────────────────┘
//
//go:embed python/*.code
var compiled embed.FS

// Program is a Python program of cordon's that runs in the guest's interpreter.
type Program struct {
	Name   string
	Source func() []byte
	// Halves says that the source has two halves, see halves. The bytecode of the second is
	// a constant next to the first.
	Halves bool
	// Lines keeps the tables of lines and columns, a quarter of the bytecode. Guests can
	// see frames of the bootstrap in tracebacks, but none of the language rules.
	Lines bool
}

// The programs. Every interpreter runs the bootstrap; those for restricted scripts also
// run the language rules.
var (
	Bootstrap = Program{Name: "zygote", Source: halves, Halves: true, Lines: true}
	Rules     = Program{Name: "language", Source: func() []byte { return []byte(language.Source()) }}
)

// halves returns what every interpreter runs, a NUL, and what is loaded when it is needed.
func halves() []byte {
	return []byte(systemPart + script.First() + workerPart + startPart + "\x00" +
		script.Late() + threadsPart + script.Hooks() + script.Sessions() + serverPart)
}

// BytecodeName returns the file name of the bytecode for a minor version.
func (p Program) BytecodeName(version [2]int) string {
	return fmt.Sprintf("python/%s-%d.%d.code", p.Name, version[0], version[1])
}

// bytecode returns the magic number and the code for a version, or nothing if the binary
// has none for it. A test makes sure that it is of this source.
func (p Program) bytecode(version [2]int) []byte {
	file, err := compiled.ReadFile(p.BytecodeName(version))
	if err != nil || len(file) < sha256.Size {
		return nil
	}
	return file[sha256.Size:]
}

// packetSize bounds a message. The default buffer of a socket is 208 KiB, and the
// language rules are longer. See read_program in python/start.py.
const packetSize = 128 << 10

// messages returns the program as the interpreter reads it: the bytecode, then the source.
func (p Program) messages(config Config) [][]byte {
	var code []byte
	if !config.Untuned.Has(tuning.Bytecode) {
		code = p.bytecode(config.Interpreter.Version)
	}
	return append(packets(code), packets(p.Source())...)
}

// packets splits data into packets. The last one is shorter than packetSize and not
// empty, because an empty one would look like the end of the stream.
func packets(data []byte) [][]byte {
	if len(data)%packetSize == 0 {
		data = append(data, '\n') // has no meaning at the end of bytecode or source
	}
	return slices.Collect(slices.Chunk(data, packetSize))
}

// loader is the interpreter's -c argument. It reads two messages from the control socket,
// the bytecode and the source of the bootstrap, which fit into one packet each.
const loader = `
import marshal, posix, sys
code, source = posix.read(1020, 1 << 18), posix.read(1020, 1 << 18)
if code[:4] == sys.modules["_frozen_importlib_external"].MAGIC_NUMBER:
    code, late = marshal.loads(memoryview(code)[4:])
else:
    code, late = (compile(half, "<cordon>", "exec") for half in source.split(b"\0"))
    late = marshal.dumps(late)
exec(code)
`
