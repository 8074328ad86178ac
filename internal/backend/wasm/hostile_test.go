package wasm

import (
	"bytes"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// hostile modules, with the error of opening or the outcome of running each.
var hostile = []struct {
	name    string
	module  []byte
	invalid string // words of the error
	outcome run.Outcome
	words   string
}{
	{name: "nothing", module: nil, invalid: `does not begin with \0asm`},
	{name: "text", module: []byte("(module)"), invalid: `does not begin with \0asm`},
	{name: "an ELF file", module: []byte("\x7fELF\x02\x01\x01"), invalid: `does not begin with \0asm`},
	{name: "another version", module: []byte("\x00asm\x02\x00\x00\x00"), invalid: "version"},
	{name: "a component", module: []byte("\x00asm\x0d\x00\x01\x00"), invalid: "component"},
	{name: "an empty module", module: assemble(), invalid: ""},
	{name: "a section that is longer than the file", module: assemble([]byte{1, 0xff, 0xff, 0xff, 0xff, 0x0f}), invalid: "byte"},
	{name: "types that do not fit", module: moduleOf(nil, 0x41, 0), invalid: "not a valid module"}, // i32.const 0, left on the stack
	{name: "an unknown instruction", module: moduleOf(nil, 0xff), invalid: "0xff"},
	{name: "threads", module: moduleOf(memoryOf(1), 0xfe, 0x03, 0x00), invalid: "0xfe"},
	{name: "a branch to nowhere", module: moduleOf(nil, 0x0c, 9), invalid: "not a valid module"},
	{
		name:    "an import that is unknown",
		module:  assemble(types, section(2, list(slices.Concat(text("env"), text("system"), []byte{0, growType})))),
		invalid: "env.system",
	},
	{
		name:    "a function of WASI that does not exist",
		module:  assemble(types, section(2, list(slices.Concat(text("wasi_snapshot_preview1"), text("proc_exec"), []byte{0, growType})))),
		invalid: "wasi_snapshot_preview1.proc_exec",
	},
	{
		name:    "an old WASI",
		module:  assemble(types, section(2, list(slices.Concat(text("wasi_unstable"), text("fd_write"), []byte{0, growType})))),
		invalid: "wasi_unstable.fd_write: an old version of WASI",
	},
	{
		name:    "a thousand imports",
		module:  assemble(types, section(2, list(slices.Repeat([][]byte{slices.Concat(text("env"), text("f"), []byte{0, growType})}, 1000)...))),
		invalid: "; and 995 more",
	},
	{
		name:    "an import of another type",
		module:  assemble(types, section(2, list(slices.Concat(text("wasi_snapshot_preview1"), text("fd_write"), []byte{0, voidType}))), functions(1), exportStart(1), code(nil)),
		invalid: "wasi_snapshot_preview1.fd_write",
	},
	{
		name:    "the counter of cordon",
		module:  assemble(types, section(2, list(slices.Concat(text("cordon:meter"), text("refill"), []byte{0, growType})))),
		invalid: "cordon:meter",
	},
	{
		name:    "an imported memory",
		module:  assemble(types, section(2, list(slices.Concat(text("env"), text("memory"), []byte{2, 0, 1})))),
		invalid: "env.memory: a memory",
	},
	{name: "a table of 4 billion", module: assemble(section(4, list(slices.Concat([]byte{0x70, 0}, u32(1<<32-1))))), invalid: "elements"},
	{name: "a table of 10 million", module: assemble(section(4, list(slices.Concat([]byte{0x70, 0}, u32(10e6))))), invalid: "elements"},
	{name: "4 billion locals", module: assemble(types, functions(1), section(10, list(lengthPrefixed(slices.Concat([]byte{1}, u32(1<<32-1), []byte{0x7f, 0x0b}))))), invalid: "locals"},
	{name: "100,000 blocks in each other", module: moduleOf(nil, slices.Concat(bytes.Repeat([]byte{0x02, 0x40}, 100_000), bytes.Repeat([]byte{0x0b}, 100_000))...), invalid: "nested blocks"},
	{name: "too large a memory", module: moduleOf(memoryOf(65_536)), outcome: run.OutOfMemory, words: "starts with 4GiB of memory"},
	{name: "an endless loop", module: moduleOf(nil, 0x03, 0x40, 0x0c, 0, 0x0b), outcome: run.TimedOut, words: "wall time limit"},
	{name: "unreachable", module: moduleOf(nil, 0x00), outcome: run.Trapped, words: "unreachable"},
	{name: "division by zero", module: moduleOf(nil, 0x41, 1, 0x41, 0, 0x6d, 0x1a), outcome: run.Trapped, words: "integer divide by zero"},
	{name: "a read outside", module: moduleOf(memoryOf(1), 0x41, 0x7f, 0x28, 2, 0, 0x1a), outcome: run.Trapped, words: "out of bounds memory access"},
	{name: "a start function that loops", module: assemble(types, functions(1), exportStart(0), section(8, u32(0)), code([]byte{0x03, 0x40, 0x0c, 0, 0x0b})), outcome: run.TimedOut, words: "wall time limit"},
	{name: "a start function that traps", module: assemble(types, functions(1), exportStart(0), section(8, u32(0)), code([]byte{0x00})), outcome: run.Trapped, words: "unreachable"},
	{name: "recursion", module: moduleOf(nil, 0x10, 0), outcome: run.Trapped, words: ""},
	{name: "recursion of two", module: assemble(types, functions(2), exportStart(0), code([]byte{0x10, 1}, []byte{0x10, 0})), outcome: run.Trapped, words: ""},
	{
		name: "recursion by a table",
		module: assemble(types, functions(1), section(4, list([]byte{0x70, 0, 1})), exportStart(0),
			section(9, list([]byte{0, 0x41, 0, 0x0b, 1, 0})), code([]byte{0x41, 0, 0x11, voidType, 0})),
		outcome: run.Trapped, words: "",
	},
	// Grows by a page until it is refused, and then tries forever.
	{name: "memory.grow in a loop", module: moduleOf(memoryOf(1), 0x03, 0x40, 0x41, 1, 0x40, 0, 0x1a, 0x0c, 0, 0x0b), outcome: run.TimedOut, words: "wall time limit"},
	// Grows by 65,535 pages at once, and traps if that is refused.
	{name: "memory.grow at once", module: moduleOf(memoryOf(1), 0x41, 0xff, 0xff, 0x03, 0x40, 0, 0x41, 0x7f, 0x46, 0x04, 0x40, 0x00, 0x0b), outcome: run.OutOfMemory, words: "memory limit"},
	// Fills its 64 MiB repeatedly.
	{name: "memory.fill in a loop", module: moduleOf(memoryOf(1024), 0x03, 0x40, 0x41, 0, 0x41, 1, 0x41, 0x80, 0x80, 0x80, 0x20, 0xfc, 11, 0, 0x0c, 0, 0x0b), outcome: run.TimedOut, words: "wall time limit"},
	{
		name: "table.grow in a loop",
		module: assemble(types, functions(1), section(4, list([]byte{0x70, 0, 1})), exportStart(0),
			code([]byte{0x03, 0x40, 0xd0, 0x70, 0x41, 0xff, 0xff, 0x3f, 0xfc, 15, 0, 0x1a, 0x0c, 0, 0x0b})),
		outcome: run.TimedOut, words: "wall time limit",
	},
	{
		name: "a host function without a memory",
		module: assemble(section(1, list([]byte{0x60, 0, 0}, []byte{0x60, 4, 0x7f, 0x7f, 0x7f, 0x7f, 1, 0x7f})),
			section(2, list(slices.Concat(text("wasi_snapshot_preview1"), text("fd_write"), []byte{0, 1}))),
			functions(1), exportStart(1), code([]byte{0x41, 1, 0x41, 0, 0x41, 1, 0x41, 0, 0x10, 0, 0x1a})),
		outcome: run.Trapped, words: "a host function was called with invalid arguments",
	},
	{
		name: "a question without a memory",
		module: assemble(section(1, list([]byte{0x60, 0, 0}, []byte{0x60, 2, 0x7f, 0x7f, 1, 0x7f}, []byte{0x60, 1, 0x7f, 0})),
			section(2, list(slices.Concat(text("cordon"), text("ask"), []byte{0, 1}), slices.Concat(text("cordon"), text("answer"), []byte{0, 2}))),
			functions(1), exportStart(2), code([]byte{0x41, 0, 0x41, 0, 0x10, 0, 0x1a, 0x41, 0, 0x10, 1})),
		outcome: run.Trapped, words: "does not fit",
	},
	{
		name:    "data outside of the memory",
		module:  assemble(types, functions(1), section(5, list(memoryOf(1))), exportStart(0), code(nil), section(11, list([]byte{0, 0x41, 0xff, 0xff, 0x3f, 0x0b, 1, 7}))),
		outcome: run.Trapped, words: "",
	},
	{
		// The engine ignores such elements, and the table is empty there.
		name: "elements outside of the table",
		module: assemble(types, functions(1), section(4, list([]byte{0x70, 0, 1})), exportStart(0),
			section(9, list([]byte{0, 0x41, 9, 0x0b, 1, 0})), code([]byte{0x41, 0, 0x11, voidType, 0})),
		outcome: run.Trapped, words: "invalid table access",
	},
}

func TestHostileModules(t *testing.T) {
	onBoth(t, func(t *testing.T, options Options) {
		b := newBench(t, options)
		healthy := b.open(cGuest(t, "hello.c"))
		for _, test := range hostile {
			t.Run(test.name, func(t *testing.T) {
				m, err := b.OpenModule(t.Context(), test.module)
				switch {
				case test.invalid != "":
					if run.ClassOf(err) != run.Invalid || !strings.Contains(err.Error(), test.invalid) {
						t.Errorf("%v, want %q", err, test.invalid)
					}
					return
				case err != nil:
					t.Fatal(err)
				case test.outcome != "":
					expect(t, b.run(m, run.Request{Limits: policy.Limits{WallTime: short, Memory: 128 * policy.MiB}}), test.outcome, test.words)
				}
				if err := m.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		expect(t, b.run(healthy, run.Request{}), run.Succeeded, "hello from C")
	})
}

// An invalid module is not compiled, so the cache does not have it.
func TestWrongImportsAreNotCompiled(t *testing.T) {
	directory := t.TempDir()
	b := newBench(t, Options{Cache: directory})
	b.open(moduleOf(nil)) // the engine creates its directories
	kept := func() (files []string) {
		err := filepath.WalkDir(directory, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	before := kept()
	if len(before) == 0 {
		t.Fatal("nothing is kept of a module that can be run")
	}
	_, err := b.OpenModule(t.Context(), assemble(types, section(2, list(slices.Concat(text("env"), text("system"), []byte{0, growType}))), functions(1), exportStart(1), code(nil)))
	if run.ClassOf(err) != run.Invalid || !strings.Contains(err.Error(), "env.system") {
		t.Error(err)
	}
	if after := kept(); len(after) != len(before) {
		t.Errorf("%q, and then %q", before, after)
	}
}

// A module truncated at any position gives an error with a message.
func TestTruncatedModulesAreErrors(t *testing.T) {
	hosttest.Slow(t, "takes long under the race detector")
	b := newBench(t, Options{Interpreter: true})
	whole := cGuest(t, "hello.c")
	for n := 0; n < len(whole); n += 97 {
		if _, err := b.OpenModule(t.Context(), whole[:n]); err != nil && run.ClassOf(err) != run.Invalid {
			t.Errorf("cut at %d: %v", n, err)
		}
	}
}

// A busy guest does not block Go's garbage collector, and with it the whole process.
func TestBusyGuestDoesNotBlockGarbageCollection(t *testing.T) {
	onBoth(t, func(t *testing.T, options Options) {
		b := newBench(t, options)
		m := b.open(moduleOf(nil, 0x03, 0x40, 0x0c, 0, 0x0b))
		ended := make(chan run.Result, 1)
		go func() {
			ended <- b.run(m, run.Request{Limits: policy.Limits{WallTime: 20 * time.Second}})
		}()
		for b.gate.Running() == 0 {
			runtime.Gosched()
		}
		for range 20 {
			runtime.GC()
		}
		select {
		case r := <-ended:
			t.Fatalf("the guest was over before the collector: %s", r.Error)
		default:
		}
	})
}
