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
	var walled, calls, plain float64
	rounds, window := b.few(5, 1), b.window()
	for range rounds {
		n, err := b.rate(window, func() error {
			_, err := b.warm(ctx)
			return err
		})
		if err != nil {
			return err
		}
		walled += n / float64(rounds)
		waitForRefill()
		n, err = b.rate(window, func() error {
			_, err := call(ctx, hook)
			return err
		})
		if err != nil {
			return err
		}
		calls += n / float64(rounds)
		n, err = b.rate(window, func() error {
			_, err := start(ctx, b.plainLine(), "", "")
			return err
		})
		if err != nil {
			return err
		}
		plain += n / float64(rounds)
	}
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

// window is how long a rate is measured at once.
func (b *bench) window() time.Duration {
	if b.quick {
		return 300 * time.Millisecond
	}
	return 2 * time.Second
}

// eachCore promises a rate that more cores make higher.
func (b *bench) eachCore(n int) promise {
	return promise{AtLeast: float64(n * b.cores), Text: fmt.Sprintf("≥ %d/s", n*b.cores), OnValue: true}
}

// rate counts how often per second act succeeds with two callers per core: some always wait
// for the kernel. The first fifth is not counted, since the pool is full at the start.
func (b *bench) rate(window time.Duration, act func() error) (float64, error) {
	var (
		count  atomic.Int64
		stop   atomic.Bool
		group  sync.WaitGroup
		once   sync.Once
		failed error
	)
	for range 2 * b.cores {
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
