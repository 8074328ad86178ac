package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/backend/process"
	"github.com/cordon-sandbox/cordon/internal/tuning"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// untuned is a tier without some optimizations, and its times.
type untuned struct {
	name               string
	without            tuning.Set
	tier               *process.Backend
	start, warm, ruled samples
}

// tuning measures with each optimization turned off, and with all of them turned off.
func (b *bench) tuning(ctx context.Context, t *table) (err error) {
	all := []*untuned{{name: "all optimizations"}}
	for _, one := range tuning.Each() {
		all = append(all, &untuned{name: "all but " + one.Name, without: one.Set})
	}
	all = append(all, &untuned{name: "no optimizations", without: tuning.All})
	defer func() {
		for _, u := range all {
			if u.tier != nil {
				err = errors.Join(err, u.tier.Close())
			}
		}
	}()
	for range b.few(10, 1) {
		for _, u := range all {
			if err := u.restart(ctx, b.python); err != nil {
				return err
			}
		}
	}
	for range b.few(100, 2) {
		for _, u := range all {
			if err := u.turn(ctx); err != nil {
				return err
			}
		}
	}
	for _, u := range all {
		for _, m := range []struct {
			name      string
			is, whole samples
		}{
			{"a warm run", u.warm, all[0].warm}, {"a warm restricted run", u.ruled, all[0].ruled}, {"start until the first run", u.start, all[0].start},
		} {
			t.add(row{
				position: rowTuning, Measure: m.name + ", " + u.name, Value: milliseconds(m.is.p50()), Number: m.is.p50().Seconds(),
				Ratio: over(m.is.p50(), m.whole.p50()), Note: fmt.Sprintf("p99 %s; the ratio is to all optimizations", milliseconds(m.is.p99())),
			})
		}
	}
	return nil
}

// restart starts the tier and runs one script.
func (u *untuned) restart(ctx context.Context, python string) error {
	if u.tier != nil {
		if err := u.tier.Close(); err != nil {
			return err
		}
	}
	begin := time.Now()
	tier, err := process.New(ctx, process.Options{Policy: policy.Policy{Python: python}, Idle: 2, Untuned: u.without})
	if err != nil {
		return err
	}
	u.tier = tier
	if _, err := u.timed(ctx, false); err != nil {
		return err
	}
	u.start = append(u.start, time.Since(begin))
	return nil
}

// turn runs a few scripts, with pauses in which the pool refills. The first of each kind is
// not counted: it warms the caches after the other tiers' turns.
func (u *untuned) turn(ctx context.Context) error {
	for _, restricted := range []bool{false, true} {
		into := &u.warm
		if restricted {
			into = &u.ruled
		}
		for i := range 4 {
			took, err := u.timed(ctx, restricted)
			if err != nil {
				return err
			}
			if i > 0 {
				*into = append(*into, took)
			}
			time.Sleep(15 * time.Millisecond)
		}
	}
	return nil
}

func (u *untuned) timed(ctx context.Context, restricted bool) (time.Duration, error) {
	job := backend.Job{Request: warmRequest, Limits: policy.DefaultLimits()}
	job.Script.Restricted = restricted
	begin := time.Now()
	sandbox, err := u.tier.Open(ctx, job)
	if err != nil {
		return 0, err
	}
	var result run.Result
	result, err = sandbox.Run(ctx, job)
	took := time.Since(begin)
	return took, errors.Join(err, sandbox.Close(), wants(result, wantWarm))
}
