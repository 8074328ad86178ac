package main

import (
	"context"
	_ "embed"
	"os/exec"
	"path/filepath"
	"time"
)

//go:embed restrictedpython.py
var restrictedPythonSource string

// restrictedPython is a process that calls the hook in its own interpreter, without walls.
// It is nil if RestrictedPython is not installed.
type restrictedPython struct{ *clocked }

// startRestrictedPython starts the interpreter of all other measures with the packages of an
// environment, which may belong to another interpreter.
func (b *bench) startRestrictedPython(ctx context.Context) (*restrictedPython, error) {
	found, err := filepath.Glob(filepath.Join(b.rival, "lib", "python3*", "site-packages", "RestrictedPython"))
	if err != nil || len(found) == 0 {
		return nil, err
	}
	c, err := startClocked("RestrictedPython", exec.CommandContext(ctx, b.python, "-I", "-S", "-X", "utf8", "-c", restrictedPythonSource, filepath.Dir(found[0])))
	if err != nil {
		return nil, err
	}
	return &restrictedPython{c}, nil
}

// turn calls the hook n times, with cached code or compiling in each call.
func (r *restrictedPython) turn(into *samples, n int, keep bool) error {
	if r == nil {
		return nil
	}
	return r.clocked.turn(into, score, n, keep)
}

// stop ends the process.
func (r *restrictedPython) stop() error {
	if r == nil {
		return nil
	}
	return r.clocked.stop()
}

// rows compares our call with one that compiles each time, as the usual recipe for such
// hooks does.
func (r *restrictedPython) rows(t *table, base, ours, compiled, kept time.Duration) {
	judged := row{position: rowHookRival, Measure: "the same, vs RestrictedPython that compiles in each call", Value: milliseconds(ours), Number: ours.Seconds()}
	each := row{position: rowRestrictedPython, Measure: "RestrictedPython, compiled in each call, p50", Value: "not installed"}
	once := row{position: rowRestrictedPython, Measure: "RestrictedPython, compiled once, p50", Value: "not installed"}
	if r == nil {
		judged.Value, judged.Number = "not installed", 0
	} else {
		each.Note, once.Note = "(no walls, in the caller's process)", "(the same)"
		judged.Ratio, judged.Must = over(ours, compiled), atMost(1, "1 ×")
		each.Value, each.Number, each.Ratio = milliseconds(compiled), compiled.Seconds(), over(compiled, base)
		once.Value, once.Number, once.Ratio = milliseconds(kept), kept.Seconds(), over(kept, base)
	}
	for _, r := range []row{judged, each, once} {
		t.add(r)
	}
}
