package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"time"
)

//go:embed restrictedpython.py
var restrictedPythonSource string

// restrictedPython is a process that calls the hook within itself, and has the
// clock there too: nothing of what lies between us and it is counted. It has
// no walls. Nil where RestrictedPython is not installed.
type restrictedPython struct {
	process  *exec.Cmd
	close    func() error
	requests *json.Encoder
	answers  *json.Decoder
	problem  bytes.Buffer
}

// startRestrictedPython has the interpreter of all other measures read the
// packages of an environment, which may have been made with another one.
func (b *bench) startRestrictedPython(ctx context.Context) (*restrictedPython, error) {
	found, err := filepath.Glob(filepath.Join(b.rival, "lib", "python3*", "site-packages", "RestrictedPython"))
	if err != nil || len(found) == 0 {
		return nil, err
	}
	r := &restrictedPython{}
	r.process = exec.CommandContext(ctx, b.python, "-I", "-S", "-X", "utf8", "-c", restrictedPythonSource, filepath.Dir(found[0]))
	r.process.Stderr = &r.problem
	in, err := r.process.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := r.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	r.close, r.requests, r.answers = in.Close, json.NewEncoder(in), json.NewDecoder(out)
	if err := r.process.Start(); err != nil {
		return nil, err
	}
	if err := r.requests.Encode([]any{hookScript, hookState, hookConfig}); err != nil {
		return nil, errors.Join(err, r.stop())
	}
	return r, nil
}

// turn calls the hook n times, with code that is kept or compiled in each call.
func (r *restrictedPython) turn(into *samples, n int, keep bool) error {
	if r == nil {
		return nil
	}
	var seconds []float64
	var output json.RawMessage
	err := r.requests.Encode([]any{n, keep})
	if err == nil {
		err = r.answers.Decode(&[]any{&seconds, &output})
	}
	if err != nil {
		return err // stop has what the process says
	}
	if string(output) != score {
		return fmt.Errorf("RestrictedPython: output %s", output)
	}
	for _, s := range seconds {
		*into = append(*into, time.Duration(s*float64(time.Second)))
	}
	return nil
}

// stop ends the process, and gives what it died of if it is dead already.
func (r *restrictedPython) stop() error {
	if r == nil {
		return nil
	}
	if err := errors.Join(r.close(), r.process.Wait()); err != nil {
		return fmt.Errorf("RestrictedPython: %w: %s", err, bytes.TrimSpace(r.problem.Bytes()))
	}
	return nil
}

// rows judges a call of ours against one that compiles, as the usual recipe for
// such hooks does.
func (r *restrictedPython) rows(t *table, base, ours, compiled, kept time.Duration) {
	judged := row{place: placeHookRival, Measure: "the same, to RestrictedPython that compiles in each call", Value: milliseconds(ours), Number: ours.Seconds()}
	each := row{place: placeRestrictedPython, Measure: "RestrictedPython, compiled in each call, p50", Value: "not installed"}
	once := row{place: placeRestrictedPython, Measure: "RestrictedPython, compiled once, p50", Value: "not installed"}
	if r == nil {
		judged.Value, judged.Number = "not installed", 0
	} else {
		each.Note, once.Note = "(no walls, in the process of its caller)", "(the same)"
		judged.Ratio, judged.Must = over(ours, compiled), atMost(1, "1 ×")
		each.Value, each.Number, each.Ratio = milliseconds(compiled), compiled.Seconds(), over(compiled, base)
		once.Value, once.Number, once.Ratio = milliseconds(kept), kept.Seconds(), over(kept, base)
	}
	for _, r := range []row{judged, each, once} {
		t.add(r)
	}
}
