package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

//go:embed python.py
var pythonSource string

// pythonPackage is a Python program that uses cordon's package, and measures it.
type pythonPackage struct {
	process  *exec.Cmd
	close    func() error
	requests *json.Encoder
	answers  *json.Decoder
	problem  bytes.Buffer
}

// startPython has the interpreter of all other measures use the package in python/src,
// and the binary of the cold starts.
func (b *bench) startPython(ctx context.Context, packages string) (*pythonPackage, error) {
	source, err := filepath.Abs("python/src")
	if err != nil {
		return nil, err
	}
	p := &pythonPackage{}
	p.process = exec.CommandContext(ctx, b.python, "-B", "-c", pythonSource, packages)
	p.process.Env = append(os.Environ(), "PYTHONPATH="+source, "CORDON_BIN="+b.cordon)
	p.process.Stderr = &p.problem
	in, err := p.process.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := p.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.close, p.requests, p.answers = in.Close, json.NewEncoder(in), json.NewDecoder(out)
	if err := p.process.Start(); err != nil {
		return nil, err
	}
	if err := p.requests.Encode([]any{hookScript, hookState, hookConfig}); err != nil {
		return nil, errors.Join(err, p.stop())
	}
	return p, nil
}

// turn measures one thing n times, with a pause before each.
func (p *pythonPackage) turn(into *samples, measure string, n int, pause time.Duration, want string) error {
	var seconds []float64
	var answer json.RawMessage
	err := p.requests.Encode([]any{measure, n, pause.Seconds()})
	if err == nil {
		err = p.answers.Decode(&[]any{&seconds, &answer})
	}
	if err != nil {
		return err // stop has what the process says
	}
	if string(answer) != want {
		return fmt.Errorf("%s gave %s, and not %s", measure, answer, want)
	}
	for _, s := range seconds {
		*into = append(*into, time.Duration(s*float64(time.Second)))
	}
	return nil
}

func (p *pythonPackage) stop() error {
	if err := errors.Join(p.close(), p.process.Wait()); err != nil {
		return fmt.Errorf("the Python package: %w: %s", err, bytes.TrimSpace(p.problem.Bytes()))
	}
	return nil
}

// pythonAPI measures execute() and run_mod_hook() of the Python package beside the recipes
// that they replace.
func (b *bench) pythonAPI(ctx context.Context, t *table) (err error) {
	if b.cordon == "" {
		t.add(row{place: placePython, Measure: "Python: execute(), 100 calls/s, p50", Value: "no -cordon given"})
		return nil
	}
	packages, err := filepath.Glob(filepath.Join(b.rival, "lib", "python3*", "site-packages"))
	if err != nil {
		return err
	}
	rival := ""
	if len(packages) == 1 {
		if rival, err = filepath.Abs(packages[0]); err != nil {
			return err
		}
	}
	p, err := b.startPython(ctx, rival)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.stop()) }()

	const printed = `"42\n"`
	var plain, executed, hooked, child, restricted, unused samples
	// The first ones start cordon and its workers.
	if err := p.turn(&unused, "execute", 20, slow, printed); err != nil {
		return err
	}
	for range b.few(20, 2) {
		if err := startTurn(ctx, &plain, b.plainLine(), "", ""); err != nil {
			return err
		}
		if err := p.turn(&executed, "execute", 50, slow, printed); err != nil {
			return err
		}
		if err := p.turn(&hooked, "hook", 300, 0, score); err != nil {
			return err
		}
		if err := p.turn(&child, "subprocess", 5, 0, printed); err != nil {
			return err
		}
		if rival != "" {
			if err := p.turn(&restricted, "restricted", 3, 0, printed); err != nil {
				return err
			}
		}
		settle()
	}

	base := plain.p50()
	t.add(row{
		place: placePython, Measure: "Python: execute(), 100 calls/s, p50", Value: milliseconds(executed.p50()), Number: executed.p50().Seconds(),
		Ratio: over(executed.p50(), base), Must: atMost(1.0/12, "1/12"), Aim: atMost(1.0/20, "1/20"),
	})
	t.add(row{
		place: placePython, Measure: "Python: run_mod_hook(), 1 KiB state, one after another, p50", Value: milliseconds(hooked.p50()), Number: hooked.p50().Seconds(),
		Ratio: over(hooked.p50(), base), Must: atMost(1.0/40, "1/40"), Aim: atMost(1.0/80, "1/80"),
	})
	t.add(row{
		place: placePythonMore, Measure: "Python: a subprocess per call with preexec_fn, p50", Value: milliseconds(child.p50()), Number: child.p50().Seconds(),
		Ratio: over(child.p50(), base), Note: "(limits alone)",
	})
	other := row{place: placePythonMore, Measure: "Python: the same with RestrictedPython in it, p50", Value: "not installed"}
	if rival != "" {
		other.Value, other.Number, other.Ratio, other.Note = milliseconds(restricted.p50()), restricted.p50().Seconds(), over(restricted.p50(), base), "(limits and language rules)"
	}
	t.add(other)
	return nil
}
