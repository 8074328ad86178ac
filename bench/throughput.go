package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// throughput keeps all cores busy, in turns, with walled runs and with plain
// starts.
func (b *bench) throughput(ctx context.Context, t *table) error {
	var walled, plain float64
	rounds := b.few(5, 1)
	window := 2 * time.Second
	if b.quick {
		window = 300 * time.Millisecond
	}
	line := []string{b.python, "-I", "-S", "-c", "pass"}
	for range rounds {
		n, err := b.rate(window, func() error {
			_, err := b.warm(ctx)
			return err
		})
		if err != nil {
			return err
		}
		walled += n / float64(rounds)
		settle()
		n, err = b.rate(window, func() error {
			_, err := start(ctx, line, "", "")
			return err
		})
		if err != nil {
			return err
		}
		plain += n / float64(rounds)
	}
	t.add(row{
		place: placeThroughput, Measure: "Runner.Run, all cores, sustained", Value: fmt.Sprintf("%.0f runs/s", walled),
		Number: walled, Ratio: walled / plain, Must: atLeast(4, "4 ×"), Aim: atLeast(8, "8 ×"),
	})
	t.add(row{
		place: placePlainThroughput, Measure: "plain starts, all cores, back to back", Value: fmt.Sprintf("%.0f starts/s", plain),
		Number: plain, Ratio: 1,
	})
	return nil
}

// rate counts how often act is done in a second by twice as many callers as
// there are cores: some always wait for the kernel. The first fifth is not
// counted, since the pool is full when it begins.
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
		failed = errors.New("nothing was done at all")
	}
	return float64(n) / took.Seconds(), failed
}
