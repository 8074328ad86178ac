package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/bench/proc"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// manySessions is how many sessions idle while others run.
const manySessions = 500

// sessions measures opening a session, its steps, and what idle sessions cost.
func (b *bench) sessions(ctx context.Context, t *table) (err error) {
	s, err := b.runner.OpenSession(ctx, run.SessionOptions{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if _, err := step(ctx, s, "x = 0"); err != nil {
		return err
	}
	kernel, err := b.startIPykernel(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, kernel.stop()) }()
	var plain, opened, stepped, notebook, alone, beside samples
	for range b.few(20, 2) {
		if err := startTurn(ctx, &plain, b.plainLine(), "", ""); err != nil {
			return err
		}
		for range 200 {
			d, err := step(ctx, s, "x += 1")
			if err != nil {
				return err
			}
			stepped = append(stepped, d)
		}
		if err := kernel.turn(&notebook, "x += 1", 50); err != nil {
			return err
		}
		if err := b.paced(ctx, &opened, 20, slow, b.openSession); err != nil {
			return err
		}
		waitForRefill()
		if err := b.paced(ctx, &alone, 50, slow, b.smallRun); err != nil {
			return err
		}
		waitForRefill()
	}
	idle, err := b.idleSessions(ctx)
	defer func() {
		for _, one := range idle {
			err = errors.Join(err, one.Close())
		}
	}()
	if err != nil {
		return err
	}
	for range b.few(20, 2) {
		if err := b.paced(ctx, &beside, 50, slow, b.smallRun); err != nil {
			return err
		}
		waitForRefill()
	}

	base := plain.p50()
	t.add(row{
		position: rowSession, Measure: "OpenSession, 20 a second, p50", Value: milliseconds(opened.p50()), Number: opened.p50().Seconds(),
		Ratio: over(opened.p50(), base), Must: atMost(1.0/10, "1/10"), Aim: atMost(1.0/25, "1/25"),
	})
	t.add(row{
		position: rowSession, Measure: "a step `x += 1`, back to back, p50", Value: milliseconds(stepped.p50()), Number: stepped.p50().Seconds(),
		Ratio: over(stepped.p50(), base), Must: atMost(1.0/40, "1/40"), Aim: atMost(1.0/100, "1/100"), Note: "p99 " + milliseconds(stepped.p99()),
	})
	kernel.row(t, stepped.p50(), notebook.p50())
	t.add(row{
		position: rowSession, Measure: "a run while " + strconv.Itoa(len(idle)) + " sessions idle, 100 runs/s, p50, vs without them", Value: milliseconds(beside.p50()),
		Number: beside.p50().Seconds(), Ratio: over(beside.p50(), alone.p50()), Must: atMost(1.5, "1.5 ×"), Aim: atMost(1.1, "1.1 ×"),
	})
	return addIdleSessions(t, len(idle))
}

// idleSessions opens sessions and runs a step in each.
func (b *bench) idleSessions(ctx context.Context) (idle []*cordon.Session, err error) {
	for range b.few(manySessions, 5) {
		s, err := b.runner.OpenSession(ctx, run.SessionOptions{})
		if err != nil {
			return idle, err
		}
		idle = append(idle, s)
		if _, err := step(ctx, s, "x = 1\nx"); err != nil {
			return idle, err
		}
	}
	return idle, nil
}

// addIdleSessions measures the memory of idle sessions: the mean of the largest workers, which
// are those that have run a step.
func addIdleSessions(t *table, sessions int) error {
	workers, err := proc.Leaves(os.Getpid())
	if err != nil {
		return err
	}
	r := row{
		position: rowSession, Measure: fmt.Sprintf("idle session after one step (%d of them), PSS", sessions),
		Must: promise{AtMost: 6 * float64(policy.MiB), Text: "≤ 6 MiB", OnValue: true}, Aim: promise{AtMost: 3 * float64(policy.MiB), Text: "≤ 3 MiB", OnValue: true},
	}
	sizes, err := pss(workers)
	if err != nil {
		r.Value, r.Must, r.Aim, r.Note = "unknown", promise{}, promise{}, "only root may read it"
		t.add(r)
		return nil
	}
	slices.Sort(sizes)
	var sum int64
	sizes = sizes[max(0, len(sizes)-sessions):]
	for _, size := range sizes {
		sum += size
	}
	mean := sum / int64(len(sizes))
	r.Value, r.Number = mebibytes(mean), float64(mean)
	t.add(r)
	return nil
}

// openSession opens a session, and closes it outside of the measure.
func (b *bench) openSession(ctx context.Context) (time.Duration, error) {
	begin := time.Now()
	s, err := b.runner.OpenSession(ctx, run.SessionOptions{})
	d := time.Since(begin)
	if err != nil {
		return 0, err
	}
	return d, s.Close()
}

// smallRun runs a small script.
func (b *bench) smallRun(ctx context.Context) (time.Duration, error) {
	begin := time.Now()
	result, err := b.runner.Run(ctx, run.Request{Script: run.Script{Source: "result = 1"}})
	d := time.Since(begin)
	return d, errors.Join(err, wants(result, "1"))
}

// step runs a step of a session.
func step(ctx context.Context, s *cordon.Session, code string) (time.Duration, error) {
	begin := time.Now()
	result, err := s.Run(ctx, run.Request{Script: run.Script{Source: code}})
	d := time.Since(begin)
	if err == nil && !result.OK() {
		err = fmt.Errorf("a step: %s %s", result.Outcome, result.Error)
	}
	return d, err
}
