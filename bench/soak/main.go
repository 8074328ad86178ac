// Command soak makes many runs of every kind, most of them bad, in one Runner, and looks for
// leaks: processes, descriptors, goroutines, mounts, cgroups, files, memory. It exits with 1
// if it finds any.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

type options struct {
	runs        int
	concurrency int
	batch       int // runs between two leak checks
	seed        uint64
	only        string
	python      string
}

func main() {
	var opts options
	flag.IntVar(&opts.runs, "runs", 20_000, "how many runs")
	flag.IntVar(&opts.concurrency, "concurrency", 8, "how many at once")
	flag.IntVar(&opts.batch, "batch", 1_000, "look for leaks after so many runs")
	flag.Uint64Var(&opts.seed, "seed", 1, "repeats the order of the kinds of runs")
	flag.StringVar(&opts.only, "only", "", "make only the kinds of runs with this word in their names")
	flag.StringVar(&opts.python, "python", "", "the interpreter (default: the one that cordon finds)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := soak(ctx, opts, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
	fmt.Println("nothing is left")
}

func soak(ctx context.Context, opts options, out io.Writer) (err error) {
	if runtime.GOOS != "linux" {
		return errors.New("the process tier, and so this soak, is for Linux")
	}
	if opts.runs < 1 || opts.concurrency < 1 || opts.batch < 1 {
		return errors.New("-runs, -concurrency and -batch are 1 or more")
	}
	chosen := kindsOf(opts.only)
	if len(chosen) == 0 {
		return fmt.Errorf("-only: no kind of run has the word %q in its name", opts.only)
	}
	if err := adoptOrphans(); err != nil {
		return err
	}
	// A private directory, so that every leaked temporary file is found, whatever its
	// name.
	scratch, err := os.MkdirTemp("", "soak-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	if err := os.Setenv("TMPDIR", scratch); err != nil {
		return err
	}

	// The first Runner of a process leaves resources of the Go runtime (the poller,
	// threads). The state after it is the baseline.
	if err := once(ctx, opts); err != nil {
		return err
	}
	before, err := measure(scratch)
	if err != nil {
		return err
	}
	runner, err := newRunner(ctx, opts)
	if err != nil {
		return err
	}
	s := &soaker{runner: runner, kinds: chosen, random: rand.New(rand.NewPCG(opts.seed, 0)), tally: map[string]int{}}
	begin := time.Now()
	var looks []state
	for s.done < opts.runs && ctx.Err() == nil && len(s.wrong) == 0 {
		s.batch(ctx, min(opts.batch, opts.runs-s.done), opts.concurrency)
		now, err := awaitBelow(scratch, before.while(opts.concurrency))
		looks = append(looks, now)
		fmt.Fprintf(out, "%6d runs  %4.0f/s  %v\n", s.done, float64(s.done)/time.Since(begin).Seconds(), now)
		if err != nil {
			return errors.Join(fmt.Errorf("after %d runs: %w", s.done, err), runner.Close())
		}
	}
	if err := runner.Close(); err != nil {
		return fmt.Errorf("close: %w", err)
	}
	after, err := awaitBelow(scratch, before)
	fmt.Fprintf(out, "before: %v\nafter:  %v\n", before, after)
	for _, kind := range chosen {
		fmt.Fprintf(out, "%8d %s\n", s.tally[kind.name], kind.name)
	}
	return errors.Join(err, ctx.Err(), errors.Join(s.wrong...), flat(looks))
}

func newRunner(ctx context.Context, opts options) (*cordon.Runner, error) {
	return cordon.NewRunnerContext(ctx, cordon.Options{Policy: policy.Policy{Python: opts.python}})
}

func once(ctx context.Context, opts options) error {
	runner, err := newRunner(ctx, opts)
	if err != nil {
		return err
	}
	_, err = runner.Run(ctx, run.Request{Script: run.Script{Source: "pass"}})
	return errors.Join(err, runner.Close())
}

// soaker makes runs and records wrong results.
type soaker struct {
	runner *cordon.Runner
	kinds  []kind
	random *rand.Rand // used only by the dispatcher

	done int

	mu    sync.Mutex
	tally map[string]int
	wrong []error
}

// batch makes n runs and returns when all are over, so that a leak check afterwards sees an
// idle Runner.
func (s *soaker) batch(ctx context.Context, n, concurrency int) {
	jobs := make(chan job)
	var group sync.WaitGroup
	for range concurrency {
		group.Go(func() {
			for j := range jobs {
				err := j.do(ctx, s.runner)
				s.mu.Lock()
				s.tally[j.kind.name]++
				if err != nil && len(s.wrong) < 10 {
					s.wrong = append(s.wrong, fmt.Errorf("%s: %w", j.kind.name, err))
				}
				s.mu.Unlock()
			}
		})
	}
	for range n {
		jobs <- pick(s.random, s.kinds)
	}
	close(jobs)
	group.Wait()
	s.done += n
}

// flat compares the Runner's own memory after the first batch with that after the last: the
// first batch has filled every pool and buffer.
func flat(looks []state) error {
	if len(looks) < 3 {
		return nil
	}
	const slack = 8 << 20 // for the garbage collector
	first, last := looks[0].rss, looks[len(looks)-1].rss
	least := slices.MinFunc(looks, func(a, b state) int { return int(a.rss - b.rss) }).rss
	if last > first+first/5+slack && last > least+slack {
		return fmt.Errorf("memory grew from %d to %d KiB", first>>10, last>>10)
	}
	return nil
}
