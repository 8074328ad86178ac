package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/bench/proc"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// growGrants doubles the granted directories of a policy. Scripts pay for them when a Runner
// starts, commands in each run.
func (b *bench) growGrants(ctx context.Context, t *table) (err error) {
	const first = 128 // fewer cost less than the noise of a start
	granted, err := makeDirectories(first << doublings)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(filepath.Dir(granted[0]))) }()
	for _, kind := range []struct {
		name    string
		tier    policy.Tier
		request run.Request
	}{
		{"granted directories, scripts", policy.TierProcess, scriptOf("pass")},
		{"granted directories, commands", policy.TierJail, run.Request{Command: run.Command{Args: []string{"/bin/true"}}}},
	} {
		err := b.grow(ctx, t, quantity{
			name: kind.name, first: first, cost: "ms for each grant, of a Runner with one run, beyond one without grants", apiece: true, each: 4,
			measure: func(ctx context.Context, n int) (float64, error) {
				return onlyRun(ctx, cordon.Options{Policy: policy.Policy{Python: b.python, Read: granted[:n]}, Tier: kind.tier, OneShot: true}, kind.request)
			},
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// makeDirectories makes n directories in a new one.
func makeDirectories(n int) ([]string, error) {
	parent, err := os.MkdirTemp("", "cordon-bench-")
	if err != nil {
		return nil, err
	}
	var paths []string
	for i := range n {
		paths = append(paths, filepath.Join(parent, fmt.Sprint(i)))
		if err := os.Mkdir(paths[i], 0o755); err != nil {
			return nil, errors.Join(err, os.RemoveAll(parent))
		}
	}
	return paths, nil
}

// onlyRun measures a Runner from its start to its end, with one run.
func onlyRun(ctx context.Context, options cordon.Options, req run.Request) (ms float64, err error) {
	begin := time.Now()
	runner, err := cordon.NewRunnerContext(ctx, options)
	if err != nil {
		return 0, err
	}
	_, err = timed(ctx, runner, req, ended(run.Succeeded))
	err = errors.Join(err, runner.Close())
	return inMilliseconds(time.Since(begin)), err
}

// growGuests doubles the guests that wait for input while one more run is measured.
func (b *bench) growGuests(ctx context.Context, t *table) (err error) {
	const first = 4
	patient := policy.Limits{WallTime: time.Hour}
	runner, err := cordon.NewRunnerContext(ctx, cordon.Options{
		Policy: policy.Policy{Python: b.python, Limits: patient, Maxima: patient}, Concurrent: first<<doublings + 1,
	})
	if err != nil {
		return err
	}
	waiting := &waitingGuests{runner: runner}
	defer func() { err = errors.Join(err, waiting.hold(ctx, 0), runner.Close()) }()
	err = b.grow(ctx, t, quantity{
		name: "waiting guests", first: first, cost: "ms of one more run", each: 10,
		measure: func(ctx context.Context, n int) (float64, error) {
			if err := waiting.hold(ctx, n); err != nil {
				return 0, err
			}
			time.Sleep(slow) // the pool refills
			took, err := timed(ctx, runner, warmRequest, value(wantWarm))
			return inMilliseconds(took), err
		},
	})
	if err != nil || os.Getuid() != 0 {
		return err // only root may read the memory of workers
	}
	return b.grow(ctx, t, quantity{
		name: "waiting guests, memory", first: first, cost: "MiB (PSS) for each guest, beyond a Runner without guests", apiece: true, each: 1,
		measure: func(ctx context.Context, n int) (float64, error) {
			if err := waiting.hold(ctx, n); err != nil {
				return 0, err
			}
			return memoryOfChildren()
		},
	})
}

// memoryOfChildren returns the PSS of all processes below this one, in MiB.
func memoryOfChildren() (float64, error) {
	all, err := proc.Descendants(os.Getpid())
	if err != nil {
		return 0, err
	}
	sizes, err := pss(all)
	var sum int64
	for _, size := range sizes {
		sum += size
	}
	return float64(sum) / float64(policy.MiB), err
}

// waitingGuests are runs that wait for input.
type waitingGuests struct {
	runner *cordon.Runner
	all    []*waitingGuest
}

type waitingGuest struct {
	input *io.PipeWriter
	began chan struct{}
	ended chan error
	once  sync.Once
}

// hold starts or ends guests until n of them wait.
func (w *waitingGuests) hold(ctx context.Context, n int) error {
	if len(w.all) == n {
		return nil
	}
	for len(w.all) > n {
		last := len(w.all) - 1
		guest := w.all[last]
		w.all = w.all[:last]
		if err := errors.Join(guest.input.Close(), <-guest.ended); err != nil {
			return err
		}
	}
	for len(w.all) < n {
		guest := startWaiting(ctx, w.runner)
		select {
		case <-guest.began:
			w.all = append(w.all, guest)
		case err := <-guest.ended:
			return fmt.Errorf("a guest ended before its input: %w", err)
		}
	}
	waitForRefill()
	return nil
}

// startWaiting starts a guest that ends when its input does.
func startWaiting(ctx context.Context, runner *cordon.Runner) *waitingGuest {
	input, writer := io.Pipe()
	guest := &waitingGuest{input: writer, began: make(chan struct{}), ended: make(chan error, 1)}
	req := scriptOf("import sys\nprint('ready', flush=True)\nsys.stdin.read()")
	req.Streams.In, req.Streams.Out = input, guest
	go func() {
		_, err := timed(ctx, runner, req, ended(run.Succeeded))
		guest.ended <- err
	}()
	return guest
}

// Write learns that the guest runs.
func (g *waitingGuest) Write(output []byte) (int, error) {
	g.once.Do(func() { close(g.began) })
	return len(output), nil
}

// growClients doubles the callers that run scripts without a pause. The first number keeps
// all cores busy already, since more callers than that cannot make runs faster.
func (b *bench) growClients(ctx context.Context, t *table) (err error) {
	frontend, err := b.openHTTP()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, frontend.close()) }()
	window := time.Duration(b.few(300, 100)) * time.Millisecond
	for _, kind := range []struct {
		name string
		once func(context.Context) (time.Duration, error)
	}{
		{"clients of a Runner", b.warm}, {"clients of HTTP", frontend.run},
	} {
		err := b.grow(ctx, t, quantity{
			name: kind.name, first: 2 * b.cores, cost: "ms for each run, by the clock on the wall", each: 1,
			measure: func(ctx context.Context, n int) (float64, error) {
				rate, err := rateOf(n, window, func() error { _, err := kind.once(ctx); return err })
				return 1000 / rate, err
			},
		})
		if err != nil {
			return err
		}
	}
	return nil
}
