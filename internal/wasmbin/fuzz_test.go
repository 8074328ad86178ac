package wasmbin

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// addSeeds adds the modules of the other tests to the seed corpus.
func addSeeds(f *testing.F) {
	for _, p := range programs {
		a := &assembler{}
		p.build(a)
		f.Add(a.bytes())
	}
	for name := range recursive {
		f.Add(recursiveModule(name))
	}
	for seed := range uint64(10) {
		f.Add(randomModule(seed, 2, 20))
	}
	files, err := filepath.Glob(filepath.Join(specDirectory(f), "v2", "testdata", "*.0.wasm"))
	requireNoError(f, err)
	for _, file := range files {
		binary, err := os.ReadFile(file)
		requireNoError(f, err)
		if len(binary) < 2000 {
			f.Add(binary)
		}
	}
}

// FuzzParse checks that Parse accepts or refuses any input within a second and without a
// panic, and that Parse accepts what Meter returns.
func FuzzParse(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, binary []byte) {
		start := time.Now()
		m, err := Parse(binary)
		if (m == nil) == (err == nil) {
			t.Fatalf("Parse returned module %v and error %v", m, err)
		}
		if took := time.Since(start); took > time.Second {
			t.Errorf("parsing %d bytes took %v", len(binary), took)
		}
		if err != nil {
			return
		}
		for _, how := range []Metering{{}, {Stack: true}, {Grain: Coarse}, {WithoutData: true}} {
			rewritten, err := m.Meter(how)
			if err != nil {
				continue // it uses a reserved name, or is too expensive to compile
			}
			reparsed, err := Parse(rewritten)
			if err != nil {
				t.Fatalf("%+v: %v", how, err)
			}
			if len(reparsed.Imports) != len(m.Imports)+added || len(reparsed.bodies) < len(m.bodies) {
				t.Errorf("%+v: metered module has %d imports and %d functions, original has %d and %d",
					how, len(reparsed.Imports), len(reparsed.bodies), len(m.Imports), len(m.bodies))
			}
		}
	})
}

// FuzzMeter checks that both engines accept each variant of a module that the interpreter
// accepts, and that all variants behave the same.
func FuzzMeter(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, binary []byte) {
		m, err := Parse(binary)
		if err != nil || m.checkNames() != nil || m.bomb != nil {
			return
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		h := newHost(t, "interpreter")
		h.budget, h.stackWords = 1<<16, 1<<14
		original, err := h.CompileModule(ctx, binary)
		if err != nil {
			return
		}
		requireNoError(t, original.Close(ctx))
		for _, i := range m.Imports {
			if i.Module == "" {
				return
			}
		}
		compiler := newHost(t, "compiler")
		for _, variant := range variants[1:] {
			rewritten, err := buildVariant(m, binary, variant)
			requireNoError(t, err)
			for _, engine := range []*host{h, compiler} {
				c, err := engine.CompileModule(ctx, rewritten)
				if err != nil {
					t.Fatalf("%s, %s: %v", variant, engine.engine, err)
				}
				requireNoError(t, c.Close(ctx))
			}
		}
		if m.Memory != nil && m.Memory.Min > 16 || m.elements > 10_000 {
			return // slow, and tests nothing more
		}
		h.compare(t, "module", binary, nil)
	})
}
