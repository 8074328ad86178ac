package wasmbin

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// seeds gives modules to begin with.
func seeds(f *testing.F) {
	for _, p := range programs {
		a := &assembly{}
		p.make(a)
		f.Add(a.bytes())
	}
	for name := range recursive {
		f.Add(recursiveModule(name))
	}
	for seed := range uint64(10) {
		f.Add(randomModule(seed, 2, 20))
	}
	files, err := filepath.Glob(filepath.Join(specDirectory(f), "v2", "testdata", "*.0.wasm"))
	must(f, err)
	for _, file := range files {
		binary, err := os.ReadFile(file)
		must(f, err)
		if len(binary) < 2000 {
			f.Add(binary)
		}
	}
}

// FuzzParse reads anything: it neither panics nor takes more than a few times what it
// was given.
func FuzzParse(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, binary []byte) {
		begin := time.Now()
		m, err := Parse(binary)
		if (m == nil) == (err == nil) {
			t.Fatalf("%v, %v", m, err)
		}
		if took := time.Since(begin); took > time.Second {
			t.Errorf("%v for %d bytes", took, len(binary))
		}
		if err != nil {
			return
		}
		for _, how := range []Metering{{}, {Stack: true}, {Grain: Coarse}, {WithoutData: true}} {
			rewritten, err := m.Meter(how)
			if err != nil {
				continue // a name that is ours
			}
			// What comes out is a module again, with what the counter needs.
			again, err := Parse(rewritten)
			if err != nil {
				t.Fatalf("%+v: %v", how, err)
			}
			if len(again.Imports) != len(m.Imports)+added || len(again.bodies) < len(m.bodies) {
				t.Errorf("%+v: %d imports, %d functions", how, len(again.Imports), len(again.bodies))
			}
		}
	})
}

// FuzzMeter takes whatever the engine takes: rewritten, it takes it too, and it does
// the same.
func FuzzMeter(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, binary []byte) {
		m, err := Parse(binary)
		if err != nil || m.checkNames() != nil || m.bomb != nil {
			return
		}
		ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
		defer stop()
		w := newWorld(t, "interpreter")
		w.budget, w.room = 1<<16, 1<<14
		original, err := w.CompileModule(ctx, binary)
		if err != nil {
			return
		}
		must(t, original.Close(ctx))
		for _, i := range m.Imports {
			if i.Module == "" {
				return
			}
		}
		compiler := newWorld(t, "compiler")
		for _, way := range ways[1:] {
			rewritten, err := made(m, binary, way)
			must(t, err)
			for _, engine := range []*world{w, compiler} {
				c, err := engine.CompileModule(ctx, rewritten)
				if err != nil {
					t.Fatalf("%s, %s: %v", way, engine.engine, err)
				}
				must(t, c.Close(ctx))
			}
		}
		if m.Memory != nil && m.Memory.Min > 16 || m.elements > 10_000 {
			return // takes long, and shows nothing
		}
		w.compare(t, "a module", binary, nil)
	})
}
