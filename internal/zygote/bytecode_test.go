package zygote

import (
	"bytes"
	"crypto/sha256"
	"io/fs"
	"strings"
	"testing"
)

// Bytecode of an older source would run instead of the source.
func TestBytecodeIsFresh(t *testing.T) {
	files, err := fs.Glob(compiled, "python/*.code")
	if err != nil || len(files) == 0 {
		t.Fatalf("no bytecode is embedded: %v", err)
	}
	for _, name := range files {
		digest := sha256.Sum256(Bootstrap.Source())
		if strings.HasPrefix(name, "python/"+Rules.Name) {
			digest = sha256.Sum256(Rules.Source())
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
