package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/internal/plainjson"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

func TestModules(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	strict, err := policy.Preset("strict")
	if err != nil {
		t.Fatal(err)
	}
	damaged := filepath.Join(t.TempDir(), "python-wasm.zip")
	if err := os.WriteFile(damaged, []byte("PK"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		policy policy.Policy
		ok     bool
		class  run.Class // of the module, or else of Python
		words  string
	}{
		{"no bundle", policy.Policy{PythonWasm: "/no/such/python-wasm.zip"}, true, run.NotFound, "do not run here: the Python bundle that --python-wasm names"},
		{"a damaged bundle", policy.Policy{PythonWasm: damaged}, true, run.Invalid, "not a zip file"},
		{"walls of the kernel", strict, false, run.Unsupported, "modules do not run here: the policy requires userns"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := examineModules(t.Context(), tt.policy, true)
			class := m.Class
			if m.OK {
				class = m.Python.Class
			}
			if said := m.String() + "\n" + m.Python.String(); m.OK != tt.ok || class != tt.class || !strings.Contains(said, tt.words) {
				t.Errorf("%+v\n%s", m, said)
			}
		})
	}
}

func TestNoCache(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", "/dev/null")
	m := examineModules(t.Context(), policy.Policy{}, false)
	if !m.OK || !strings.Contains(m.String(), "compiled code is not kept: ") {
		t.Errorf("%+v: %s", m, m)
	}
}

func TestBundle(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles CPython")
	}
	path := hosttest.NeedsExtra(t, hosttest.PythonWasm)
	m := examineModules(t.Context(), policy.Policy{PythonWasm: path}, true)
	if !m.OK || !m.Python.OK || !m.Python.Tried || !strings.HasPrefix(m.Python.String(), "scripts with --tier wasm run here on CPython 3.") {
		t.Errorf("%+v: %s", m, m.Python)
	}
}

func TestBundleWords(t *testing.T) {
	b := Bundle{OK: true, Tried: true, Path: "/p.zip", Version: "3.11.2-6", Patches: 3, Start: plainjson.Milliseconds(2 * time.Second), Next: plainjson.Milliseconds(time.Millisecond)}
	if got, want := b.String(), "scripts with --tier wasm run here on CPython 3.11.2 (Debian's 3.11.2-6, 3 patches) at /p.zip (the first took 2s, the next 1ms)"; got != want {
		t.Errorf("%s; want %s", got, want)
	}
}
