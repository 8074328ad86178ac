package zygote

import (
	"bytes"
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

const magicSize = 4

// Program is a Python program of cordon's that runs in the guest's interpreter.
type Program struct {
	Name   string
	Source func() string
	// Lines keeps the tables of lines and columns, a quarter of the bytecode. Guests can
	// see frames of the bootstrap in tracebacks, but none of the language rules.
	Lines bool
}

// The programs. Every interpreter runs the bootstrap; those for restricted scripts also
// run the language rules.
var (
	Bootstrap = Program{"zygote", func() string { return systemPart + script.Source() + workerPart + hookPart + serverPart }, true}
	Rules     = Program{"language", language.Source, false}
)

// BytecodeName returns the file name of the bytecode for a minor version.
func (p Program) BytecodeName(version [2]int) string {
	return fmt.Sprintf("python/%s-%d.%d.code", p.Name, version[0], version[1])
}

// bytecode returns the magic number and the code for a version, or nil if the binary has
// no bytecode of this source for it. The interpreter compares the magic number with its
// own, and compiles the source if they differ.
func (p Program) bytecode(version [2]int, source string) []byte {
	file, err := compiled.ReadFile(p.BytecodeName(version))
	if err != nil {
		return nil
	}
	digest := sha256.Sum256([]byte(source))
	if len(file) < sha256.Size+magicSize || !bytes.Equal(file[:sha256.Size], digest[:]) {
		return nil
	}
	return file[sha256.Size:]
}

// packetSize bounds a message. The default buffer of a socket is 208 KiB, and the
// language rules are longer. See read_program in python/server.py.
const packetSize = 128 << 10

// messages returns the program as the interpreter reads it: the bytecode, then the source.
// Each is split into packets, and ends with a packet that is shorter than packetSize and
// not empty, because an empty one would look like the end of the stream.
func (p Program) messages(config Config) [][]byte {
	source := p.Source()
	var code []byte
	if !config.Untuned.Has(tuning.Bytecode) {
		code = p.bytecode(config.Interpreter.Version, source)
	}
	return append(packets(append(code, 0)), packets([]byte(source))...)
}

func packets(data []byte) [][]byte {
	if len(data)%packetSize == 0 {
		data = append(data, '\n') // has no meaning at the end of either
	}
	return slices.Collect(slices.Chunk(data, packetSize))
}

// loader is the interpreter's -c argument. It reads two messages from the control socket,
// the bytecode and the source of the bootstrap, which fit into one packet each.
const loader = `
import marshal, posix, sys
code, source = posix.read(1020, 1 << 18), posix.read(1020, 1 << 18)
m = sys.modules["_frozen_importlib_external"].MAGIC_NUMBER
exec(marshal.loads(code[4:]) if code[:4] == m else compile(source, "<cordon>", "exec"))
`
