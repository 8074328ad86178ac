package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cordon-sandbox/cordon/policy"
)

// throughput keeps all cores busy, alternating between runs behind walls, calls of a hook
// and plain starts.
func (b *bench) throughput(ctx context.Context, t *table) (err error) {
	hook, err := b.openHook(ctx, policy.TrustPlatform)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, hook.Close()) }()
	rates, err := b.rates(
		func() error { _, err := b.warm(ctx); return err },
		func() error { _, err := call(ctx, hook); return err },
		func() error { _, err := start(ctx, b.plainLine(), "", ""); return err },
	)
	if err != nil {
		return err
	}
	walled, calls, plain := rates[0], rates[1], rates[2]
	t.add(row{
		position: rowThroughput, Measure: "Runner.Run, all cores, sustained", Value: fmt.Sprintf("%.0f runs/s", walled),
		Number: walled, Ratio: walled / plain, Must: atLeast(4, "4 ×"), Aim: atLeast(8, "8 ×"),
	})
	t.add(row{
		position: rowHookRate, Measure: "sustained hook calls per second, all cores", Value: fmt.Sprintf("%.0f calls/s", calls),
		Number: calls, Ratio: calls / plain, Must: b.eachCore(7_500), Aim: b.eachCore(20_000),
	})
	t.add(row{
		position: rowPlainThroughput, Measure: "plain starts, all cores, back to back", Value: fmt.Sprintf("%.0f starts/s", plain),
		Number: plain, Ratio: 1,
	})
	return nil
}

// eachCore promises a rate that more cores make higher.
func (b *bench) eachCore(n int) promise {
	return promise{AtLeast: float64(n * b.cores), Text: fmt.Sprintf("≥ %d/s", n*b.cores), OnValue: true}
}

// rates measures how often per second each act succeeds, in alternating turns.
func (b *bench) rates(acts ...func() error) ([]float64, error) {
	rounds, window := b.few(5, 1), 2*time.Second
	if b.quick {
		window = 300 * time.Millisecond
	}
	rates := make([]float64, len(acts))
	for range rounds {
		for i, act := range acts {
			waitForRefill()
			n, err := b.rate(window, act)
			if err != nil {
				return nil, err
			}
			rates[i] += n / float64(rounds)
		}
	}
	return rates, nil
}

// rate counts how often per second act succeeds with two callers per core: some always wait
// for the kernel.
func (b *bench) rate(window time.Duration, act func() error) (float64, error) {
	return rateOf(2*b.cores, window, act)
}

// rateOf counts how often per second act succeeds with this many callers. The first fifth is
// not counted, since the pool is full at the start.
func rateOf(callers int, window time.Duration, act func() error) (float64, error) {
	var (
		count  atomic.Int64
		stop   atomic.Bool
		group  sync.WaitGroup
		once   sync.Once
		failed error
	)
	for range callers {
		group.Go(func() {
			for !stop.Load() {
				if err := act(); err != nil {
					once.Do(func() { failed = err })
					return
				}
				count.Add(1)
			}
		})
	}
	time.Sleep(window / 5)
	from, begin := count.Load(), time.Now()
	time.Sleep(window)
	n, took := count.Load()-from, time.Since(begin)
	stop.Store(true)
	group.Wait()
	if failed == nil && n == 0 {
		failed = errors.New("no call finished")
	}
	return float64(n) / took.Seconds(), failed
}
