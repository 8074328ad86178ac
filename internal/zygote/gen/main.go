// Command gen compiles the bootstrap and the language rules with every CPython
// that it finds, one file of each for each minor version. Run by go generate in
// internal/zygote. Versions that are not installed keep the files that they
// have; cordon does not use them when the source has changed since.
package main

import (
	"crypto/sha256"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/cordon-sandbox/cordon/internal/interpreter"
	"github.com/cordon-sandbox/cordon/internal/zygote"
)

// compile prints the magic number and the code.
const compile = zygote.CompilePython + `
import marshal
code = bytecode(sys.stdin.read(), sys.argv[1] == "true")
sys.stdout.buffer.write(sys.modules["_frozen_importlib_external"].MAGIC_NUMBER + marshal.dumps(code))
`

func main() {
	log.SetFlags(0)
	log.SetPrefix("zygote/gen: ")
	done := map[[2]int]bool{}
	for _, path := range candidates() {
		python, err := interpreter.Find(interpreter.Search{Python: path})
		if err != nil || done[python.Version] {
			continue
		}
		for _, program := range []zygote.Program{zygote.Bootstrap, zygote.Rules} {
			if err := write(python, program); err != nil {
				log.Fatal(err)
			}
		}
		done[python.Version] = true
		log.Printf("%s", python)
	}
}

// candidates are the interpreters that the tests use, and those of the usual
// places.
func candidates() []string {
	found := filepath.SplitList(os.Getenv("CORDON_TEST_PYTHONS"))
	found = append(found, "/usr/bin/python3")
	if home, err := os.UserHomeDir(); err == nil {
		more, _ := filepath.Glob(filepath.Join(home, ".pyenv/versions/*/bin/python3"))
		found = append(found, more...)
	}
	more, _ := filepath.Glob("../../.cache/python3*/bin/python3")
	return append(found, more...)
}

func write(python interpreter.Interpreter, program zygote.Program) error {
	cmd := exec.Command(python.Path, "-I", "-S", "-X", "utf8", "-c", compile, strconv.FormatBool(program.Lines))
	source := program.Source()
	cmd.Stdin = strings.NewReader(source)
	code, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%s: %w", python, err)
	}
	digest := sha256.Sum256([]byte(source))
	return os.WriteFile(program.BytecodeName(python.Version), append(digest[:], code...), 0o644)
}
