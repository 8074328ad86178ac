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

// The programs are compiled ahead for each minor version, whose bytecode never
// changes: compiling them takes longer than the rest of a start. See RATIONALE.md,
// "Why does the binary carry bytecode?"
//
//	┌───────────────────────────┬───────────────────┬────────────────────────┐
//	│ SHA-256 of the source: 32 │ magic number: 4   │ marshalled code object │
//	└───────────────────────────┴───────────────────┴────────────────────────┘
//
//go:embed python/*.code
var compiled embed.FS

const magicSize = 4

// Program is Python that runs in the interpreter.
type Program struct {
	Name   string
	Source func() string
	// Lines says that the bytecode keeps its tables of lines and columns, a fourth of
	// its size: the frames of the bootstrap can be seen by guests, those of the rules
	// cannot.
	Lines bool
}

// Programs that are compiled ahead: every interpreter runs the bootstrap, and those
// for restricted scripts the language rules as well.
var (
	Bootstrap = Program{"zygote", func() string { return systemPart + script.Source() + workerPart + hookPart + serverPart }, true}
	Rules     = Program{"language", language.Source, false}
)

// BytecodeName is the file of one minor version.
func (p Program) BytecodeName(version [2]int) string {
	return fmt.Sprintf("python/%s-%d.%d.code", p.Name, version[0], version[1])
}

// bytecode gives the magic number and the code for a version, or nothing when
// there is none, or only one of another source. The interpreter compares the
// magic number with its own and falls back on the source.
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

// packetSize bounds a message: the usual limit of a socket's buffer is 208 KiB, and
// the language rules are longer. See read_program in python/server.py.
const packetSize = 128 << 10

// messages are the program as the interpreter reads it: its bytecode and its source,
// each in packets, of which the last is a short one. An empty packet would look like
// our end.
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
		data = append(data, '\n') // at the end of both it means nothing
	}
	return slices.Collect(slices.Chunk(data, packetSize))
}

// loader is what the interpreter is started with. Two messages are waiting on
// the control socket: the bytecode, and the source, which are one packet each.
const loader = `
import marshal, posix, sys
code, source = posix.read(1020, 1 << 18), posix.read(1020, 1 << 18)
m = sys.modules["_frozen_importlib_external"].MAGIC_NUMBER
exec(marshal.loads(code[4:]) if code[:4] == m else compile(source, "<cordon>", "exec"))
`
