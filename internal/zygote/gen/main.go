// Command gen compiles the bootstrap and the language rules, one file of each for each
// minor version of CPython that it finds. Go generate runs it in internal/zygote. The
// files of versions that are not installed stay, and a test fails if they are of another
// source.
//
// The output is the same on every run and for every release of a minor version, so that
// anybody can check the committed files.
package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/cordon-sandbox/cordon/internal/interpreter"
	"github.com/cordon-sandbox/cordon/internal/zygote"
)

// compile prints the magic number and the code, without docstrings. Without lines, it also
// drops the tables of lines and columns. Of two halves, it prints a pair: the code of the
// first, and the marshalled code of the second.
const compile = `
import marshal, sys

def lean(code):
    inner = tuple(lean(const) if type(const) is type(code) else const for const in code.co_consts)
    return code.replace(co_consts=inner, co_linetable=b"")

def compiled(source):
    code = compile(source, "<cordon>", "exec", dont_inherit=True, optimize=2)
    return code if "lines" in sys.argv or sys.version_info < (3, 11) else lean(code)

source = sys.stdin.read()
if "halves" in sys.argv:
    first, late = source.split("\0")
    program = compiled(first), marshal.dumps(compiled(late))
else:
    program = compiled(source)
sys.stdout.buffer.write(sys.modules["_frozen_importlib_external"].MAGIC_NUMBER + marshal.dumps(program))
`

var programs = []zygote.Program{zygote.Bootstrap, zygote.Rules}

func main() {
	log.SetFlags(0)
	log.SetPrefix("zygote/gen: ")
	for _, python := range installed(".") {
		for _, program := range programs {
			file, err := generate(python, program)
			if err != nil {
				log.Fatal(err)
			}
			if err := os.WriteFile(program.BytecodeName(python.Version), file, 0o644); err != nil {
				log.Fatal(err)
			}
		}
		log.Printf("%s", python)
	}
}

// installed returns one interpreter for each minor version, from those that the tests use
// and those in the usual directories. The directory is that of package zygote.
func installed(directory string) []interpreter.Interpreter {
	paths := filepath.SplitList(os.Getenv("CORDON_TEST_PYTHONS"))
	paths = append(paths, "/usr/bin/python3")
	if home, err := os.UserHomeDir(); err == nil {
		more, _ := filepath.Glob(filepath.Join(home, ".pyenv/versions/*/bin/python3"))
		paths = append(paths, more...)
	}
	more, _ := filepath.Glob(filepath.Join(directory, "../../.cache/python3*/bin/python3"))
	paths = append(paths, more...)

	var found []interpreter.Interpreter
	known := map[[2]int]bool{}
	for _, path := range paths {
		python, err := interpreter.Find(interpreter.Search{Python: path})
		if err != nil || known[python.Version] {
			continue
		}
		known[python.Version] = true
		found = append(found, python)
	}
	return found
}

// generate returns the bytecode file of a program for an interpreter's minor version.
func generate(python interpreter.Interpreter, program zygote.Program) ([]byte, error) {
	args := []string{"-S", "-s", "-X", "utf8", "-c", compile}
	if program.Lines {
		args = append(args, "lines")
	}
	if program.Halves {
		args = append(args, "halves")
	}
	cmd := exec.Command(python.Path, args...)
	// CPython 3.9 and 3.10 write sets of strings in the order of their hashes.
	cmd.Env = []string{"PYTHONHASHSEED=0", "PYTHONDONTWRITEBYTECODE=1"}
	source := program.Source()
	cmd.Stdin = bytes.NewReader(source)
	code, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", python, err)
	}
	digest := sha256.Sum256(source)
	return append(digest[:], code...), nil
}
