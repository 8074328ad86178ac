package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"time"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// hookScript scores the state of a game. It uses only what RestrictedPython supports with
// its basic guards: `+=` on a variable, sum() and `for name, city in …` each need one more.
//
//go:embed score.py
var hookScript string

// score is the result of hookScript for hookState and hookConfig.
const score = `{"score":481.36,"capital":"Fenwick","weakest":"Aldera"}`

// hookState is 1 KiB as JSON. It is given as a decoded value.
var hookState = func() map[string]any {
	var cities, units []any
	for i, name := range []string{"Aldera", "Brightwater", "Corvin", "Dunmere", "Eastgate", "Fenwick", "Grayhaven"} {
		cities = append(cities, map[string]any{
			"name": name, "population": 20 + 7*i, "unrest": 5 * i, "coastal": i%2 == 0,
			"buildings": []any{"granary", "market", "temple"}[:1+i%3],
		})
	}
	for i, kind := range []string{"spearmen", "archers", "riders", "galleys"} {
		units = append(units, map[string]any{
			"kind": kind, "count": 3 + 2*i, "strength": 4 + i, "at": []any{3 * i, 5 * i}, "morale": 0.5 + float64(i)/8,
		})
	}
	return map[string]any{
		"turn": 142, "player": "Aurelia", "treasury": 5230, "tax_rate": 0.18, "at_war": []any{"Norden"},
		"cities": cities, "units": units,
	}
}()

// hookRequest and hookContext are the hook, its state and its config for Runner.Run.
var (
	hookRequest = "import math\ngame_state, mod_config, result = context['state'], context['config'], {}\n" + hookScript + "\nresult = result['output']\n"
	hookContext = map[string]any{"state": hookState, "config": hookConfig}
)

var hookConfig = map[string]any{
	"weights": map[string]any{"people": 1.5, "granary": 4, "market": 6, "army": 2},
}

// hooks measures calls of a hook, and the same hook in RestrictedPython.
func (b *bench) hooks(ctx context.Context, t *table) (err error) {
	hook, err := b.openHook(ctx, policy.TrustPlatform)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, hook.Close()) }()
	alone, err := b.openHook(ctx, policy.TrustUser)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, alone.Close()) }()
	rival, err := b.startRestrictedPython(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rival.stop()) }()

	var plain, chased, paced, apart, restricted, opened, compiled, kept samples
	for range b.few(20, 2) {
		if err := startTurn(ctx, &plain, b.plainLine(), "", ""); err != nil {
			return err
		}
		if err := rival.turn(&compiled, 20, false); err != nil {
			return err
		}
		if err := rival.turn(&kept, 200, true); err != nil {
			return err
		}
		for range 500 {
			d, err := call(ctx, hook)
			if err != nil {
				return err
			}
			chased = append(chased, d)
		}
		once := func(ctx context.Context) (time.Duration, error) { return call(ctx, hook) }
		if err := b.paced(ctx, &paced, 100, steady, once); err != nil {
			return err
		}
		if err := b.paced(ctx, &opened, 10, slow, b.opening); err != nil {
			return err
		}
		waitForRefill()
		// Alternating, at the same pace: a process for each call, and for each run.
		once = func(ctx context.Context) (time.Duration, error) { return call(ctx, alone) }
		if err := b.paced(ctx, &apart, 50, slow, once); err != nil {
			return err
		}
		if err := b.paced(ctx, &restricted, 50, slow, b.restrictedRun); err != nil {
			return err
		}
		waitForRefill()
	}

	base := plain.p50()
	t.add(row{
		position: rowHook, Measure: "Hook.Call, 1 KiB state, back to back, p50", Value: milliseconds(chased.p50()), Number: chased.p50().Seconds(),
		Ratio: over(chased.p50(), base), Must: atMost(1.0/60, "1/60"), Aim: atMost(1.0/150, "1/150"),
	})
	for _, r := range []struct {
		measure string
		took    time.Duration
	}{
		{"Hook.Call, 1 KiB state, 300 calls/s, p50", paced.p50()},
		{"OpenHook of a new script with its first Call, p50", opened.p50()},
	} {
		t.add(row{position: rowHookMore, Measure: r.measure, Value: milliseconds(r.took), Number: r.took.Seconds(), Ratio: over(r.took, base)})
	}
	t.add(row{
		position: rowHookSpread, Measure: fmt.Sprintf("the same, p99 of %d, vs its p50", len(chased)), Value: milliseconds(chased.p99()), Number: chased.p99().Seconds(),
		Ratio: over(chased.p99(), chased.p50()), Must: atMost(3, "3 ×"),
	})
	t.add(row{
		position: rowHookAlone, Measure: "Hook.Call with a process per call (trust user), 100 calls/s, p50, vs a warm restricted run", Value: milliseconds(apart.p50()),
		Number: apart.p50().Seconds(), Ratio: over(apart.p50(), restricted.p50()), Must: atMost(1.2, "1.2 ×"),
		Note: fmt.Sprintf("the run of the same script takes %s; p99 of the calls: %s", milliseconds(restricted.p50()), milliseconds(apart.p99())),
	})
	rival.rows(t, base, chased.p50(), compiled.p50(), kept.p50())
	return nil
}

func (b *bench) openHook(ctx context.Context, trust policy.Trust) (*cordon.Hook, error) {
	return b.runner.OpenHook(ctx, run.HookSpec{Script: hookScript, Trust: trust})
}

// restrictedRun runs the script of the hook as an ordinary restricted script.
func (b *bench) restrictedRun(ctx context.Context) (time.Duration, error) {
	begin := time.Now()
	result, err := b.runner.Run(ctx, run.Request{Script: run.Script{Source: hookRequest, Context: hookContext, Restricted: true}})
	d := time.Since(begin)
	return d, errors.Join(err, wants(result, score))
}

// call calls the hook, from the Go value of its state to its answer.
func call(ctx context.Context, hook *cordon.Hook) (time.Duration, error) {
	begin := time.Now()
	result, err := hook.Call(ctx, hookState, hookConfig)
	d := time.Since(begin)
	return d, errors.Join(err, wants(result, score))
}

// opening opens a new hook, and calls it.
func (b *bench) opening(ctx context.Context) (time.Duration, error) {
	b.scripts++
	begin := time.Now()
	hook, err := b.runner.OpenHook(ctx, run.HookSpec{Script: fmt.Sprintf("%s# %d\n", hookScript, b.scripts), Trust: policy.TrustPlatform})
	if err != nil {
		return 0, err
	}
	_, err = call(ctx, hook)
	d := time.Since(begin)
	return d, errors.Join(err, hook.Close())
}
