package main

import (
	"context"
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

//go:embed ipykernel.py
var ipykernelSource string

// ipykernel is the kernel of a notebook, without walls. It is nil if it is not installed.
type ipykernel struct{ *clocked }

// jupyterPython is made by `scripts/setup bench`.
const jupyterPython = ".cache/jupyter/bin/python"

// startIPykernel starts a kernel, in which x is 0.
func (b *bench) startIPykernel(ctx context.Context) (*ipykernel, error) {
	python, err := filepath.Abs(jupyterPython)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(python); err != nil {
		return nil, nil
	}
	command := exec.CommandContext(ctx, python, "-X", "utf8", "-c", ipykernelSource)
	command.Dir = os.TempDir()
	c, err := startClocked("ipykernel", command)
	if err != nil {
		return nil, err
	}
	k := &ipykernel{c}
	return k, k.turn(&samples{}, "x = 0", 1)
}

// turn runs a step n times.
func (k *ipykernel) turn(into *samples, code string, n int) error {
	if k == nil {
		return nil
	}
	return k.clocked.turn(into, `"ok"`, n, code)
}

// stop ends the kernel.
func (k *ipykernel) stop() error {
	if k == nil {
		return nil
	}
	return k.clocked.stop()
}

// row compares our step with one of the kernel.
func (k *ipykernel) row(t *table, ours, theirs time.Duration) {
	r := row{position: rowSession, Measure: "the same step, vs jupyter_client and ipykernel", Value: "not installed"}
	if k != nil {
		r.Value, r.Number = milliseconds(ours), ours.Seconds()
		r.Ratio, r.Must, r.Aim = over(ours, theirs), atMost(1.0/10, "1/10"), atMost(1.0/20, "1/20")
		r.Note = "(theirs " + milliseconds(theirs) + ")"
	}
	t.add(r)
}
