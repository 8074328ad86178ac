package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
)

// Bytecode cannot be reviewed, so the committed bytecode must be what each interpreter of
// this host makes from the source.
func TestCommittedBytecodeMatchesItsSource(t *testing.T) {
	compared := 0
	for _, python := range installed("..") {
		for _, program := range programs {
			name := program.BytecodeName(python.Version)
			committed, err := os.ReadFile(filepath.Join("..", name))
			if os.IsNotExist(err) {
				t.Logf("%s is not committed", name)
				continue
			} else if err != nil {
				t.Fatal(err)
			}
			fresh, err := generate(python, program)
			if err != nil {
				t.Error(err)
				continue
			}
			if !bytes.Equal(committed, fresh) {
				t.Errorf("%s is not what %s makes of its source: run make generate", name, python)
			}
			compared++
		}
	}
	if compared == 0 {
		hosttest.Lacks(t, "no CPython here whose bytecode is committed")
	}
}
