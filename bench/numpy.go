package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// numpyVenv is the virtual environment that scripts/setup test makes.
const numpyVenv = ".cache/venv"

// matmul keeps as many CPUs busy as numpy's library has threads.
const matmul = `
import numpy
def work():
    a = numpy.arange(1440000.0).reshape(1200, 1200) %% 7
    return sum(float((a @ a)[i, i]) for i in range(%d))
`

// numpy compares a multiplication of matrices with two CPUs behind the walls with the same
// in a plain Python whose numpy has two threads. It is judged by the clock on the wall,
// because two threads take no less CPU time than one.
func (b *bench) numpy(ctx context.Context, t *table) (err error) {
	const measure = "numpy matmul with cpus: 2, to a plain Python with two threads"
	python := filepath.Join(numpyVenv, "bin", "python3")
	if _, err := os.Stat(filepath.Join(numpyVenv, ".ready")); err != nil || b.cores < 2 {
		why := "numpy is not installed in " + numpyVenv
		if b.cores < 2 {
			why = "this host has one CPU"
		}
		t.add(row{position: rowProcessor, Measure: measure, Value: why})
		return nil
	}
	if python, err = filepath.Abs(python); err != nil {
		return err
	}
	limits := policy.Limits{CPUs: 2, Memory: policy.GiB, CPUTime: time.Minute}
	runner, err := cordon.NewRunnerContext(ctx, cordon.Options{
		Policy: policy.Policy{Python: python, Preload: []string{"numpy"}, Limits: limits, Maxima: limits}, Tier: policy.TierProcess,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, runner.Close()) }()
	inside := func(cpus int) side {
		return func(ctx context.Context, source string) (times, string, error) {
			result, err := runner.Run(ctx, run.Request{
				Script: run.Script{Source: source + clock + "result = [wall, cpu, str(value)]"}, Limits: policy.Limits{CPUs: cpus},
			})
			if err == nil && !result.OK() {
				err = fmt.Errorf("%s: %s", result.Outcome, result.Error)
			}
			if err != nil {
				return times{}, "", err
			}
			return parseTimes(result.Value)
		}
	}
	plain := func(ctx context.Context, source string) (times, string, error) {
		command := exec.CommandContext(ctx, python, "-I", "-c", source+clock+"import json\nprint(json.dumps([wall, cpu, str(value)]))")
		command.Env = append(os.Environ(), "OPENBLAS_NUM_THREADS=2")
		out, err := command.Output()
		if err != nil {
			return times{}, "", err
		}
		return parseTimes(out)
	}
	source := fmt.Sprintf(matmul, b.few(20, 2))
	two, out, err := takeTurns(ctx, source, b.few(15, 1), inside(2), plain)
	if err != nil {
		return err
	}
	one, _, err := takeTurns(ctx, source, b.few(5, 1), inside(1), plain)
	if err != nil {
		return err
	}
	t.add(row{
		position: rowProcessor, Measure: measure, Value: fmt.Sprintf("%.3f s", two.wall.Seconds()), Number: two.wall.Seconds(),
		Ratio: over(two.wall, out.wall), Must: atMost(1.05, "1.05 ×"), Note: fmt.Sprintf("(with cpus: 1 %s)", ratioText(over(one.wall, out.wall))),
	})
	return nil
}
