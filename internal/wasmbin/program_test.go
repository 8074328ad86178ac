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

// built is a program in Go, compiled.
func built(t testing.TB, name string) []byte {
	t.Helper()
	binary := filepath.Join(t.TempDir(), name)
	c := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "./testdata/"+name)
	c.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=")
	if said, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	data, err := os.ReadFile(binary)
	must(t, err)
	return data
}

// ran is how a program ended.
type ran struct {
	output string
	code   uint32
	used   int64
}

func (w *world) run(t testing.TB, c wazero.CompiledModule) ran {
	t.Helper()
	var out bytes.Buffer
	instance, err := w.InstantiateModule(w.ctx, c, wazero.NewModuleConfig().WithName("").WithStartFunctions().WithStdout(&out).WithStderr(&out))
	must(t, err)
	defer instance.Close(w.ctx)
	w.setRoom(instance, 1<<22)
	_, err = instance.ExportedFunction("_start").Call(w.ctx)
	exit := &sys.ExitError{}
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return ran{out.String(), exit.ExitCode(), w.used(instance)}
}

// TestGoProgram does with a real program what TestSame does with small ones. Compiling
// it takes long: not every engine gets it in every way.
func TestGoProgram(t *testing.T) {
	t.Parallel()
	original := built(t, "small")
	m, err := Parse(original)
	must(t, err)
	ended := map[string]ran{}
	run := func(engine string, ways ...string) {
		w := newWorld(t, engine)
		wasi_snapshot_preview1.MustInstantiate(w.ctx, w)
		for _, way := range ways {
			binary, err := made(m, original, way)
			must(t, err)
			c, err := w.CompileModule(experimental.WithCompilationWorkers(w.ctx, 2), binary)
			must(t, err)
			ended[engine+", "+way] = w.run(t, c)
		}
	}
	run("interpreter", "original", "naive")
	run("compiler", "exact and stack")
	if !testing.Short() {
		run("interpreter", "exact", "coarse and stack")
		run("compiler", "coarse")
	}
	first, naive := ended["interpreter, original"], ended["interpreter, naive"]
	for way, got := range ended {
		if got.output != first.output || got.code != first.code || got.code != 2 {
			t.Errorf("%s: %+v, originally %+v", way, got, first)
		}
		if strings.Contains(way, "exact") && got.used != naive.used {
			t.Errorf("%s: counted %d, one by one %d", way, got.used, naive.used)
		}
	}
	t.Logf("%d instructions", naive.used)
}
