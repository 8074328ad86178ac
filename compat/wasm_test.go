package compat_test

import (
	"fmt"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/internal/interpreter"
	"github.com/cordon-sandbox/cordon/internal/pythonwasm"
	"github.com/cordon-sandbox/cordon/policy"
)

// wasmPython returns CPython as WebAssembly. Its tests are separate from those of the other
// interpreters, which TestAsOrdinaryUser repeats because of walls that this tier does not have.
func wasmPython(t *testing.T) python {
	t.Helper()
	path := hosttest.NeedsExtra(t, hosttest.PythonWasm)
	bundle, err := pythonwasm.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	p := python{interpreter.Interpreter{Found: path}, "wasm", policy.TierWasm}
	if _, err := fmt.Sscanf(bundle.Python, "%d.%d", &p.Version[0], &p.Version[1]); err != nil {
		t.Fatalf("version %q: %v", bundle.Python, err)
	}
	return p
}

func TestWasmBenign(t *testing.T) {
	testBenign(t, wasmPython(t), readCorpus(t, "benign", fewestBenign))
}

func TestWasmAttempts(t *testing.T) {
	testAttempts(t, wasmPython(t), readCorpus(t, "attempts", fewestAttempts))
}

func TestWasmRefusals(t *testing.T) {
	testRefusals(t, wasmPython(t), readCorpus(t, "refusals", fewestRefusals))
}

// TestWasmRandomDiffersInEachRun checks that guests, which are copies of one memory, do not share
// the state of its random generators. tempfile itself is not tested: it has no directory on this
// tier.
func TestWasmRandomDiffersInEachRun(t *testing.T) {
	testRandom(t, wasmPython(t), `
import os, random, secrets, tempfile, uuid
result = [random.random(), secrets.token_hex(8), str(uuid.uuid4()), next(tempfile._get_candidate_names()), os.urandom(8).hex()]
`, "random", "secrets", "tempfile", "uuid")
}
