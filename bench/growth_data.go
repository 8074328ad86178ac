package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// megabyte is the unit of data, and mostData the largest that the limits allow.
const (
	megabyte = 1_000_000
	mostData = 64
)

// growData doubles the megabytes that the requests of a quantity move.
func (b *bench) growData(ctx context.Context, t *table, name string, request func(n int) run.Request) (err error) {
	runner, err := b.roomyRunner(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, runner.Close()) }()
	return b.grow(ctx, t, quantity{
		name: "MB of " + name, first: mostData >> doublings, cost: "ms for each MB, beyond a run without", apiece: true, each: 2,
		measure: func(ctx context.Context, n int) (float64, error) {
			req := request(n)
			time.Sleep(slow) // the pool refills
			took, err := timed(ctx, runner, req, ended(run.Succeeded))
			return inMilliseconds(took), err
		},
	})
}

func (b *bench) growContext(ctx context.Context, t *table) error {
	text := strings.Repeat("x", mostData*megabyte)
	return b.growData(ctx, t, "context", func(n int) run.Request {
		req := scriptOf(fmt.Sprintf("assert len(context) == %d", n*megabyte))
		req.Script.Context = json.RawMessage(`"` + text[:n*megabyte] + `"`)
		return req
	})
}

func (b *bench) growOutput(ctx context.Context, t *table) error {
	return b.growData(ctx, t, "output in lines of 80 bytes", func(n int) run.Request {
		req := scriptOf(fmt.Sprintf("for _ in range(%d): print('x' * 79)", n*megabyte/80))
		req.Streams.Out, req.Streams.CaptureLimit = io.Discard, policy.KiB
		return req
	})
}

func (b *bench) growResult(ctx context.Context, t *table) error {
	return b.growData(ctx, t, "result", func(n int) run.Request {
		return scriptOf(fmt.Sprintf("result = 'x' * %d", n*megabyte))
	})
}

// roomyRunner starts a Runner that allows the largest data.
func (b *bench) roomyRunner(ctx context.Context) (*cordon.Runner, error) {
	most := policy.Limits{Memory: 2 * policy.GiB, Result: policy.MaxResult, Output: 64 * policy.MiB, CPUTime: time.Minute, WallTime: time.Minute}
	return cordon.NewRunnerContext(ctx, cordon.Options{Policy: policy.Policy{Python: b.python, Limits: most, Maxima: most}, Tier: policy.TierProcess})
}

func inMilliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
