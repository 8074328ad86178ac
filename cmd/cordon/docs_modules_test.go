package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var documentedLibrary = regexp.MustCompile("(?m)^```go\n(package main\n(?s:.*?))^```$")

// TestDocumentedModules checks docs/wasm.md: the library in C is the example's, and the
// one in Go can be built and called.
func TestDocumentedModules(t *testing.T) {
	page, err := os.ReadFile("../../docs/wasm.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("../../examples/score.c")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), "```c\n"+string(source)+"```\n") {
		t.Error("the page does not have the text of examples/score.c")
	}
	library := documentedLibrary.FindStringSubmatch(string(page))
	if library == nil {
		t.Fatal("the page has no library in Go")
	}
	if testing.Short() {
		t.Skip("builds a module")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "score.go"), []byte(library[1]), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := buildGo(dir, "score.wasm", "-buildmode=c-shared", "score.go"); err != nil {
		t.Fatal(err)
	}
	examples, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	const script = `exec cordon wasm --call score --input '{"points": [3, 4], "bonus": 35}' $EXAMPLES/score.wasm
stdout '^42$'
exec cordon wasm --call score --input '{"points": [3, 4], "bonus": 35}' $BUILT/score.wasm
stdout '^\{"score":42\}$'
exec cordon wasm --call score --input '"three"' $BUILT/score.wasm
stdout '^\{"error":'
`
	if err := os.WriteFile(filepath.Join(dir, "modules.txtar"), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{Dir: dir, Setup: func(env *testscript.Env) error {
		env.Setenv("EXAMPLES", examples)
		env.Setenv("BUILT", dir)
		return nil
	}})
}
