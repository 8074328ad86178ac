package zygote

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/interpreter"
)

// Bytecode of an older source would be ignored, and every start would be
// slower without a word.
func TestBytecodeIsFresh(t *testing.T) {
	files, err := fs.Glob(compiled, "python/*.code")
	if err != nil || len(files) == 0 {
		t.Fatalf("no bytecode is embedded: %v", err)
	}
	digest := sha256.Sum256([]byte(Source()))
	for _, name := range files {
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
	python, err := interpreter.Find(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	code := bytecode(python.Version)
	if code == nil {
		if os.Getenv("CORDON_REQUIRE_HOST") != "" {
			t.Fatalf("no bytecode for %s", python)
		}
		t.Skipf("no bytecode for %s", python)
	}
	cmd := exec.Command(python.Path, "-I", "-S", "-X", "utf8", "-c", `
import marshal, sys
source = sys.stdin.read()
ours = marshal.loads(bytes.fromhex(sys.argv[1])[4:])
print(ours == compile(source, "<cordon>", "exec", dont_inherit=True, optimize=2))
`, hex.EncodeToString(code))
	cmd.Stdin = strings.NewReader(Source())
	out, err := cmd.CombinedOutput()
	if err != nil || string(out) != "True\n" {
		t.Errorf("%v: %s", err, out)
	}
}
