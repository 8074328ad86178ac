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

// specDirectory returns the directory of the specification's test modules, which are part of
// wazero's Go module.
func specDirectory(t testing.TB) string {
	t.Helper()
	output, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/tetratelabs/wazero").Output()
	requireNoError(t, err)
	return filepath.Join(strings.TrimSpace(string(output)), "internal", "integration_test", "spectest")
}

// specModules calls visit once for each distinct test module of the specification.
func specModules(t testing.TB, visit func(name string, binary []byte)) {
	t.Helper()
	directory := specDirectory(t)
	seen := map[[sha256.Size]byte]bool{}
	for _, version := range []string{"v1", "v2"} {
		files, err := filepath.Glob(filepath.Join(directory, version, "testdata", "*.wasm"))
		requireNoError(t, err)
		if len(files) < 1000 {
			t.Fatalf("found only %d test modules of the specification in %s", len(files), directory)
		}
		for _, file := range files {
			binary, err := os.ReadFile(file)
			requireNoError(t, err)
			if sum := sha256.Sum256(binary); !seen[sum] {
				seen[sum] = true
				visit(version+"/"+filepath.Base(file), binary)
			}
		}
	}
}

// TestSpecification checks that each module that the engine accepts is accepted by Parse and
// behaves the same after it is rewritten.
func TestSpecification(t *testing.T) {
	t.Parallel()
	onEveryEngine(t, func(t *testing.T, h *host) {
		h.budget = 1 << 20
		spectest, err := os.ReadFile(filepath.Join(specDirectory(t), "testdata", "spectest.wasm"))
		requireNoError(t, err)
		imported, err := h.CompileModule(h.ctx, spectest)
		requireNoError(t, err)
		// The interpreter tests all modules; the compiler is slower and tests fewer.
		n, accepted, calls, every := 0, 0, 0, 1
		if h.engine == "compiler" {
			every = 4
		}
		if testing.Short() {
			every = 10
		}
		specModules(t, func(name string, binary []byte) {
			if n++; n%every != 0 {
				return
			}
			original, err := h.CompileModule(h.ctx, binary)
			if err != nil {
				return
			}
			requireNoError(t, original.Close(h.ctx))
			accepted++
			calls += h.compare(t, name, binary, imported)
		})
		t.Logf("compared %d of %d modules, %d calls", accepted, n, calls)
	})
}

// compare calls each exported function of a module in all variants, compares the results, and
// returns the number of calls.
func (h *host) compare(t *testing.T, name string, binary []byte, imported wazero.CompiledModule) (calls int) {
	t.Helper()
	m, err := Parse(binary)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return 0
	}
	instances := make([]api.Module, len(variants))
	failures := map[string]string{} // of instantiation, by variant
	for n, variant := range slices.Backward(variants) {
		rewritten, err := buildVariant(m, binary, variant)
		if err != nil {
			t.Errorf("%s, %s: %v", name, variant, err)
			return 0
		}
		c, err := h.CompileModule(h.ctx, rewritten)
		if err != nil {
			t.Errorf("%s, %s: %v", name, variant, err)
			return 0
		}
		defer c.Close(h.ctx)
		// Instances share what they import, so each variant gets its own spectest instance.
		var spectest api.Closer = noopCloser{}
		if imported != nil {
			spectest, err = h.InstantiateModule(h.ctx, imported, wazero.NewModuleConfig().WithName("spectest"))
			requireNoError(t, err)
		}
		instances[n], err = h.instantiate(c)
		requireNoError(t, spectest.Close(h.ctx))
		if err == nil {
			defer instances[n].Close(h.ctx)
			continue
		}
		if failures[variant] = failureMessage(err); stoppedByHost(failures[variant]) {
			return 0
		}
	}
	if len(failures) > 0 {
		for _, variant := range variants {
			// The messages differ: they name the function by its index.
			if (failures[variant] == "") != (failures["original"] == "") {
				t.Errorf("%s: instantiating %s: failure %q, want %q as the original", name, variant, failures[variant], failures["original"])
			}
		}
		return 0
	}
	for _, e := range m.Exports {
		if e.Kind != Function {
			continue
		}
		for _, value := range []uint64{0, 1, 5} {
			if !h.compareCall(t, name, instances, e, value) {
				return calls
			}
			calls++
		}
	}
	for i, instance := range instances {
		if memoryChecksum(instance) != memoryChecksum(instances[0]) {
			t.Errorf("%s, %s: memory differs from the original", name, variants[i])
		}
	}
	return calls
}

// compareCall makes the same call in all instances and compares the outcomes. It returns false
// if the host stopped a metered variant: the original would not end, and later calls may depend
// on this one.
func (h *host) compareCall(t *testing.T, name string, instances []api.Module, e Export, value uint64) bool {
	t.Helper()
	var arguments []uint64
	for _, p := range instances[0].ExportedFunction(e.Name).Definition().ParamTypes() {
		arguments = append(arguments, value)
		if p == typeV128 {
			arguments = append(arguments, value)
		}
	}
	outcomes := map[string]outcome{}
	for _, variant := range slices.Backward(variants) {
		got := h.call(instances[slices.Index(variants, variant)], e.Name, arguments...)
		if stoppedByHost(got.failure) {
			return false
		}
		outcomes[variant] = got
	}
	for variant, got := range outcomes {
		want := outcomes["original"]
		if want.fuel = 0; strings.HasPrefix(variant, "exact") && got.failure == "" {
			want.fuel = outcomes["naive"].fuel
		} else {
			got.fuel = 0
		}
		if got != want {
			t.Errorf("%s: %q%v, %s: got %+v, want %+v", name, e.Name, arguments, variant, got, want)
		}
	}
	return true
}

// stoppedByHost reports whether the host stopped a guest. The variants that the host can stop
// run first, because the others would not end.
func stoppedByHost(failure string) bool {
	return failure == errFuel.Error() || failure == errOverflow.Error()
}

type noopCloser struct{}

func (noopCloser) Close(context.Context) error { return nil }
