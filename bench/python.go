package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

//go:embed python.py
var pythonSource string

// startPython starts the interpreter of all other measures with the package in python/src
// and the binary of the cold starts.
func (b *bench) startPython(ctx context.Context, packages string) (*clocked, error) {
	source, err := filepath.Abs("python/src")
	if err != nil {
		return nil, err
	}
	process := exec.CommandContext(ctx, b.python, "-B", "-c", pythonSource, packages)
	process.Env = append(os.Environ(), "PYTHONPATH="+source, "CORDON_BIN="+b.cordon)
	return startClocked("the Python package", process)
}

// importLine starts a Python that imports the package, and does more if there is more.
// Packages of the environment do not matter.
func (b *bench) importLine(more string) ([]string, error) {
	source, err := filepath.Abs("python/src")
	if err != nil {
		return nil, err
	}
	binary, err := filepath.Abs(b.cordon)
	if err != nil {
		return nil, err
	}
	code := fmt.Sprintf("import os, sys; sys.path.insert(0, %q); os.environ['CORDON_BIN'] = %q; import cordon%s", source, binary, more)
	return []string{b.python, "-I", "-S", "-c", code}, nil
}

// pythonAPI measures execute() and run_mod_hook() of the Python package next to the recipes
// that they replace.
func (b *bench) pythonAPI(ctx context.Context, t *table) (err error) {
	if b.cordon == "" {
		t.add(row{position: rowPython, Measure: "Python: execute(), 100 calls/s, p50", Value: "no -cordon given"})
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
	var plain, executed, hooked, child, restricted, imported, first, unused samples
	importing, err := b.importLine("")
	if err != nil {
		return err
	}
	running, err := b.importLine("; cordon.run('pass')")
	if err != nil {
		return err
	}
	// The first calls start cordon and its workers.
	if err := p.turn(&unused, printed, "execute", 20, slow.Seconds()); err != nil {
		return err
	}
	for range b.few(20, 2) {
		if err := startTurn(ctx, &plain, b.plainLine(), "", ""); err != nil {
			return err
		}
		if err := startTurn(ctx, &imported, importing, "", ""); err != nil {
			return err
		}
		if err := startTurn(ctx, &first, running, "", ""); err != nil {
			return err
		}
		if err := p.turn(&executed, printed, "execute", 50, slow.Seconds()); err != nil {
			return err
		}
		if err := p.turn(&hooked, score, "hook", 300, 0); err != nil {
			return err
		}
		if err := p.turn(&child, printed, "subprocess", 5, 0); err != nil {
			return err
		}
		if rival != "" {
			if err := p.turn(&restricted, printed, "restricted", 3, 0); err != nil {
				return err
			}
		}
		waitForRefill()
	}

	base := plain.p50()
	t.add(row{
		position: rowPython, Measure: "Python: execute(), 100 calls/s, p50", Value: milliseconds(executed.p50()), Number: executed.p50().Seconds(),
		Ratio: over(executed.p50(), base), Must: atMost(1.0/12, "1/12"), Aim: atMost(1.0/20, "1/20"),
	})
	t.add(row{
		position: rowPython, Measure: "Python: run_mod_hook(), 1 KiB state, back to back, p50", Value: milliseconds(hooked.p50()), Number: hooked.p50().Seconds(),
		Ratio: over(hooked.p50(), base), Must: atMost(1.0/40, "1/40"), Aim: atMost(1.0/80, "1/80"),
	})
	t.add(row{
		position: rowPython, Measure: "Python: import cordon, whole process, p50", Value: milliseconds(imported.p50()), Number: imported.p50().Seconds(),
		Ratio: over(imported.p50(), base), Must: atMost(3, "3 ×"),
	})
	t.add(row{
		position: rowPython, Measure: "Python: import cordon and a first run, whole process, p50", Value: milliseconds(first.p50()), Number: first.p50().Seconds(),
		Ratio: over(first.p50(), base), Must: atMost(5, "5 ×"),
	})
	t.add(row{
		position: rowPythonMore, Measure: "Python: a subprocess per call with preexec_fn, p50", Value: milliseconds(child.p50()), Number: child.p50().Seconds(),
		Ratio: over(child.p50(), base), Note: "(limits alone)",
	})
	other := row{position: rowPythonMore, Measure: "Python: the same with RestrictedPython in it, p50", Value: "not installed"}
	if rival != "" {
		other.Value, other.Number, other.Ratio, other.Note = milliseconds(restricted.p50()), restricted.p50().Seconds(), over(restricted.p50(), base), "(limits and language rules)"
	}
	t.add(other)
	return nil
}
