package zygote

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/internal/interpreter"
)

// Bytecode of an older source would be ignored, and every start would be
// slower without a word.
func TestBytecodeIsFresh(t *testing.T) {
	files, err := fs.Glob(compiled, "python/*.code")
	if err != nil || len(files) == 0 {
		t.Fatalf("no bytecode is embedded: %v", err)
	}
	for _, name := range files {
		digest := sha256.Sum256([]byte(Bootstrap.Source()))
		if strings.HasPrefix(name, "python/"+Rules.Name) {
			digest = sha256.Sum256([]byte(Rules.Source()))
		}
		file, err := compiled.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(file, digest[:]) {
			t.Errorf("%s is of another source: run make generate with that Python installed", name)
		}
	}
}

// What is embedded is what the interpreter itself makes of the source.
func TestBytecodeMeansTheSource(t *testing.T) {
	python, err := interpreter.Find(interpreter.Search{})
	if err != nil {
		t.Fatal(err)
	}
	for _, program := range []Program{Bootstrap, Rules} {
		t.Run(program.Name, func(t *testing.T) { compareBytecode(t, python, program) })
	}
}

func compareBytecode(t *testing.T, python interpreter.Interpreter, program Program) {
	source := program.Source()
	code := program.bytecode(python.Version, source)
	if code == nil {
		hosttest.Lacks(t, "no bytecode for %s", python)
	}
	cmd := exec.Command(python.Path, "-I", "-S", "-X", "utf8", "-c", CompilePython+`
import marshal
ours = marshal.loads(bytes.fromhex(sys.stdin.readline())[4:])
source = sys.stdin.read()
print(ours == bytecode(source, sys.argv[1] == "true"))
`, strconv.FormatBool(program.Lines))
	cmd.Stdin = strings.NewReader(hex.EncodeToString(code) + "\n" + source)
	out, err := cmd.CombinedOutput()
	if err != nil || string(out) != "True\n" {
		t.Errorf("%v: %s", err, out)
	}
}
