package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/backend/wasm"
	"github.com/cordon-sandbox/cordon/internal/plainjson"
	"github.com/cordon-sandbox/cordon/internal/pythonwasm"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Modules says whether this host can run WebAssembly. Every host has the walls for it:
// the guests have no system calls.
type Modules struct {
	OK      bool   `json:"ok"`
	Verdict string `json:"verdict"`
	// Class is the class of the problem.
	Class run.Class `json:"class,omitempty"`
	// Engine is "compiled" or "interpreted".
	Engine string `json:"engine,omitempty"`
	// Cache is the directory of compiled code; NoCache is why there is none.
	Cache   string `json:"cache,omitempty"`
	NoCache string `json:"no_cache,omitempty"`
	// First is the duration of the first module, including its compilation.
	First plainjson.Milliseconds `json:"first_ms"`
	// Python is the CPython that scripts would run on.
	Python Bundle `json:"python"`
}

// Bundle is CPython as a WebAssembly module.
type Bundle struct {
	// OK means that the bundle exists and is complete and, if Tried, that a script ran on
	// it.
	OK    bool   `json:"ok"`
	Tried bool   `json:"tried"`
	Path  string `json:"path,omitempty"`
	// Version is Debian's; Patches is the number of patches.
	Version string `json:"version,omitempty"`
	Patches int    `json:"patches,omitempty"`
	// Problem says why there is no bundle, and what to do; Class is its class.
	Problem string    `json:"problem,omitempty"`
	Class   run.Class `json:"class,omitempty"`
	// Start is the time from starting the backend to the end of the first script, and
	// Next the duration of a second one.
	Start plainjson.Milliseconds `json:"start_ms,omitempty"`
	Next  plainjson.Milliseconds `json:"next_ms,omitempty"`
}

// answer is a module with one function: _start, which writes "42\n" to standard output.
var answer = []byte("\x00asm\x01\x00\x00\x00" +
	"\x01\x0c\x02\x60\x04\x7f\x7f\x7f\x7f\x01\x7f\x60\x00\x00" + // types
	"\x02\x23\x01\x16wasi_snapshot_preview1\x08fd_write\x00\x00" + // imports
	"\x03\x02\x01\x01" + // functions
	"\x05\x03\x01\x00\x01" + // one page of memory
	"\x07\x13\x02\x06memory\x02\x00\x06_start\x00\x01" + // exports
	"\x0a\x0f\x01\x0d\x00\x41\x01\x41\x00\x41\x01\x41\x10\x10\x00\x1a\x0b" + // fd_write(1, 0, 1, 16)
	"\x0b\x11\x01\x00\x41\x00\x0b\x0b\x08\x00\x00\x00\x03\x00\x00\x0042\n") // the text and its vector

// examineModules runs a module; with script it also runs Python, whose first compilation
// takes seconds.
func examineModules(ctx context.Context, p policy.Policy, script bool) Modules {
	m := Modules{Python: lookForPython(p)}
	b, err := wasm.New(wasm.Options{Policy: p, OneShot: true})
	if err != nil {
		return m.refused(err)
	}
	facts := b.Facts()
	m.Engine, m.Cache = facts.Engine, facts.Cache
	if facts.NoCache != nil {
		m.NoCache = facts.NoCache.Error()
	}
	began := time.Now()
	err = tryModule(ctx, b, p)
	m.First = plainjson.Milliseconds(time.Since(began))
	if err == nil && script && m.Python.OK {
		m.Python.try(ctx, b, p)
	}
	if err = errors.Join(err, b.Close()); err != nil {
		return m.refused(err)
	}
	m.OK, m.Verdict = true, "modules run here, "+m.Engine
	return m
}

func (m Modules) refused(err error) Modules {
	m.Verdict, m.Class = "modules do not run here: "+err.Error(), run.ClassOf(err)
	return m
}

func tryModule(ctx context.Context, b *wasm.Backend, p policy.Policy) error {
	m, err := b.OpenModule(ctx, answer)
	if err != nil {
		return err
	}
	result, err := tryRequest(ctx, b, p, run.Request{Module: run.ModuleRun{Module: m}})
	switch {
	case err != nil:
		return err
	case !result.OK():
		return run.Errorf(run.Unsupported, "a test module does not run: %s: %s", result.Outcome, result.Error)
	case result.Stdout != "42\n":
		return run.Errorf(run.Unsupported, "a test module gave the wrong output: %q", result.Stdout)
	}
	return m.Close()
}

func tryRequest(ctx context.Context, b backend.Backend, p policy.Policy, req run.Request) (run.Result, error) {
	job := backend.Job{Request: req, Limits: p.Resolved().Limits, OnOutputLimit: policy.OutputTruncate}
	sandbox, err := b.Open(ctx, job)
	if err != nil {
		return run.Result{}, err
	}
	result, err := sandbox.Run(ctx, job)
	return result, errors.Join(err, sandbox.Close())
}

// lookForPython finds and reads the bundle, and runs nothing.
func lookForPython(p policy.Policy) Bundle {
	path, err := pythonwasm.Find(p.PythonWasm)
	if err != nil {
		return Bundle{Problem: err.Error(), Class: run.NotFound}
	}
	found, err := pythonwasm.Open(path)
	if err != nil {
		return Bundle{Path: path, Problem: err.Error(), Class: run.Invalid}
	}
	return Bundle{OK: true, Path: path, Version: found.Python, Patches: len(found.Patches)}
}

// try runs two scripts.
func (b *Bundle) try(ctx context.Context, on *wasm.Backend, p policy.Policy) {
	b.Tried = true
	for _, took := range []*plainjson.Milliseconds{&b.Start, &b.Next} {
		began := time.Now()
		result, err := tryRequest(ctx, on, p, run.Request{Script: run.Script{Source: probeScript, Context: map[string]any{"a": 41}}})
		if err == nil {
			_, err = probed(result)
		}
		if err != nil {
			b.OK, b.Problem, b.Class = false, err.Error(), run.ClassOf(err)
			return
		}
		*took = plainjson.Milliseconds(time.Since(began))
	}
}

func (m Modules) String() string {
	text := m.Verdict
	if m.OK {
		text += fmt.Sprintf(" (the first took %v)", rounded(m.First))
	}
	switch {
	case m.NoCache != "":
		text += "; compiled code is not kept: " + m.NoCache
	case m.Cache != "":
		text += "; compiled code is kept in " + m.Cache
	}
	return text
}

func (b Bundle) String() string {
	if !b.OK {
		return "scripts with --tier wasm do not run here: " + b.Problem
	}
	// 3.11.2-6+deb12u8 is CPython 3.11.2 with Debian's patches.
	version, _, _ := strings.Cut(b.Version, "-")
	text := fmt.Sprintf("CPython %s (Debian's %s, %d patches) at %s", version, b.Version, b.Patches, b.Path)
	if !b.Tried {
		return "scripts with --tier wasm have " + text + "; not tried (--tier wasm does)"
	}
	return fmt.Sprintf("scripts with --tier wasm run here on %s (the first took %v, the next %v)", text, rounded(b.Start), rounded(b.Next))
}
