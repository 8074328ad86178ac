package wasmbin

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
	"github.com/tetratelabs/wazero/sys"
)

// buildProgram compiles a Go program of testdata to WebAssembly.
func buildProgram(t testing.TB, name string) []byte {
	t.Helper()
	binary := filepath.Join(t.TempDir(), name)
	build := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "./testdata/"+name)
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=")
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	data, err := os.ReadFile(binary)
	requireNoError(t, err)
	return data
}

// programResult is the output and exit code of a program, and the fuel that it used.
type programResult struct {
	output string
	code   uint32
	fuel   int64
}

// run runs a program to its exit.
func (h *host) run(t testing.TB, c wazero.CompiledModule) programResult {
	t.Helper()
	var out bytes.Buffer
	instance, err := h.InstantiateModule(h.ctx, c, wazero.NewModuleConfig().WithName("").WithStartFunctions().WithStdout(&out).WithStderr(&out))
	requireNoError(t, err)
	defer instance.Close(h.ctx)
	h.setStack(instance, 1<<22)
	_, err = instance.ExportedFunction("_start").Call(h.ctx)
	exit := &sys.ExitError{}
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return programResult{out.String(), exit.ExitCode(), h.fuelUsed(instance)}
}

// TestGoProgram runs a Go program in several variants and compares results and fuel, as
// TestVariantsAgree does with small modules. Compiling it is slow, so not every engine runs
// every variant.
func TestGoProgram(t *testing.T) {
	t.Parallel()
	binary := buildProgram(t, "small")
	m, err := Parse(binary)
	requireNoError(t, err)
	results := map[string]programResult{} // by engine and variant
	run := func(engine string, variants ...string) {
		h := newHost(t, engine)
		wasi_snapshot_preview1.MustInstantiate(h.ctx, h)
		for _, variant := range variants {
			rewritten, err := buildVariant(m, binary, variant)
			requireNoError(t, err)
			c, err := h.CompileModule(experimental.WithCompilationWorkers(h.ctx, 2), rewritten)
			requireNoError(t, err)
			results[engine+", "+variant] = h.run(t, c)
		}
	}
	run("interpreter", "original", "naive")
	run("compiler", "exact and stack")
	if !testing.Short() {
		run("interpreter", "exact", "coarse and stack")
		run("compiler", "coarse")
	}
	want, naive := results["interpreter, original"], results["interpreter, naive"]
	for name, got := range results {
		if got.output != want.output || got.code != want.code || got.code != 2 {
			t.Errorf("%s: got %+v, want %+v and exit code 2", name, got, want)
		}
		if strings.Contains(name, "exact") && got.fuel != naive.fuel {
			t.Errorf("%s: used %d fuel, want %d as naive", name, got.fuel, naive.fuel)
		}
	}
	t.Logf("%d instructions", naive.fuel)
}
