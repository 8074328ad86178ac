package wasmbin

import (
	"context"
	"crypto/sha256"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// specDirectory has the modules of the specification's own tests, which the engine
// brings along.
func specDirectory(t testing.TB) string {
	t.Helper()
	said, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/tetratelabs/wazero").Output()
	must(t, err)
	return filepath.Join(strings.TrimSpace(string(said)), "internal", "integration_test", "spectest")
}

// specModules gives them, each once.
func specModules(t testing.TB, each func(name string, binary []byte)) {
	t.Helper()
	directory := specDirectory(t)
	seen := map[[sha256.Size]byte]bool{}
	for _, version := range []string{"v1", "v2"} {
		files, err := filepath.Glob(filepath.Join(directory, version, "testdata", "*.wasm"))
		must(t, err)
		if len(files) < 1000 {
			t.Fatalf("%d modules of the specification's tests in %s", len(files), directory)
		}
		for _, file := range files {
			binary, err := os.ReadFile(file)
			must(t, err)
			if sum := sha256.Sum256(binary); !seen[sum] {
				seen[sum] = true
				each(version+"/"+filepath.Base(file), binary)
			}
		}
	}
}

// TestSpecification takes every module that the engine accepts: it is accepted here,
// too, and does the same after it has been rewritten.
func TestSpecification(t *testing.T) {
	t.Parallel()
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.budget = 1 << 20
		spectest, err := os.ReadFile(filepath.Join(specDirectory(t), "testdata", "spectest.wasm"))
		must(t, err)
		imported, err := w.CompileModule(w.ctx, spectest)
		must(t, err)
		// One engine sees them all; the other takes longer.
		n, accepted, calls, every := 0, 0, 0, 1
		if w.engine == "compiler" {
			every = 4
		}
		if testing.Short() {
			every = 10
		}
		specModules(t, func(name string, binary []byte) {
			if n++; n%every != 0 {
				return
			}
			original, err := w.CompileModule(w.ctx, binary)
			if err != nil {
				return
			}
			must(t, original.Close(w.ctx))
			accepted++
			calls += w.compare(t, name, binary, imported)
		})
		t.Logf("%d of %d modules, %d calls", accepted, n, calls)
	})
}

// compare calls everything that a module exports, in all ways.
func (w *world) compare(t *testing.T, name string, binary []byte, imported wazero.CompiledModule) (calls int) {
	t.Helper()
	m, err := Parse(binary)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return 0
	}
	instances, failures := make([]api.Module, len(ways)), map[string]string{}
	for n, way := range slices.Backward(ways) {
		rewritten, err := made(m, binary, way)
		if err != nil {
			t.Errorf("%s, %s: %v", name, way, err)
			return 0
		}
		c, err := w.CompileModule(w.ctx, rewritten)
		if err != nil {
			t.Errorf("%s, %s: %v", name, way, err)
			return 0
		}
		defer c.Close(w.ctx)
		// Modules share what they import: each way gets its own.
		var host api.Closer = nothing{}
		if imported != nil {
			host, err = w.InstantiateModule(w.ctx, imported, wazero.NewModuleConfig().WithName("spectest"))
			must(t, err)
		}
		instances[n], err = w.instance(c)
		must(t, host.Close(w.ctx))
		if err == nil {
			defer instances[n].Close(w.ctx)
			continue
		}
		if failures[way] = failure(err); endless(failures[way]) {
			return 0
		}
	}
	if len(failures) > 0 {
		for _, way := range ways {
			// The function that failed is named by its place, which is another one.
			if (failures[way] == "") != (failures["original"] == "") {
				t.Errorf("%s: instantiated %s: %q, originally %q", name, way, failures[way], failures["original"])
			}
		}
		return 0
	}
	for _, e := range m.Exports {
		if e.Kind != Function {
			continue
		}
		for _, value := range []uint64{0, 1, 5} {
			if !w.compareCall(t, name, instances, e, value) {
				return calls
			}
			calls++
		}
	}
	for i, instance := range instances {
		if memory(instance) != memory(instances[0]) {
			t.Errorf("%s, %s: something else is in the memory", name, ways[i])
		}
	}
	return calls
}

// compareCall makes the same call everywhere. It gives up where the original would not
// end: what follows may depend on it.
func (w *world) compareCall(t *testing.T, name string, instances []api.Module, e Export, value uint64) bool {
	t.Helper()
	var arguments []uint64
	for _, p := range instances[0].ExportedFunction(e.Name).Definition().ParamTypes() {
		arguments = append(arguments, value)
		if p == typeV128 {
			arguments = append(arguments, value)
		}
	}
	ends := map[string]end{}
	for _, way := range slices.Backward(ways) {
		got := w.call(instances[slices.Index(ways, way)], e.Name, arguments...)
		if endless(got.failure) {
			return false
		}
		ends[way] = got
	}
	for way, got := range ends {
		want := ends["original"]
		if want.used = 0; strings.HasPrefix(way, "exact") && got.failure == "" {
			want.used = ends["naive"].used
		} else {
			got.used = 0
		}
		if got != want {
			t.Errorf("%s: %q%v, %s: %+v, want %+v", name, e.Name, arguments, way, got, want)
		}
	}
	return true
}

// endless says that a guest was stopped. Those that can be are run first: the others
// would not stop.
func endless(failure string) bool {
	return failure == errFuel.Error() || failure == errOverflow.Error()
}

// nothing can be closed.
type nothing struct{}

func (nothing) Close(context.Context) error { return nil }
