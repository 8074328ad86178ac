package wasm

import (
	"context"
	"errors"

	"github.com/tetratelabs/wazero/api"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/backend/verdict"
	"github.com/cordon-sandbox/cordon/internal/backend/wasm/engine"
	"github.com/cordon-sandbox/cordon/internal/backend/wasm/guest"
	"github.com/cordon-sandbox/cordon/internal/backend/wasm/rootfs"
	"github.com/cordon-sandbox/cordon/internal/wasmbin"
	"github.com/cordon-sandbox/cordon/run"
)

// start is WASI's main function of a program, and initialize the function of a library that
// is called first.
const (
	start      = "_start"
	initialize = "_initialize"
)

// run runs a program.
func (m *Module) run(ctx context.Context, job backend.Job) (run.Result, error) {
	if _, there := m.code.Export(start); !there {
		return run.Result{}, run.Errorf(run.Invalid, "the module is not a program: it exports no %s (to use a library, call one of its functions)", start)
	}
	return m.execute(ctx, job, func(ctx context.Context, i api.Module) (verdict.Value, error) {
		_, err := call(ctx, i, start)
		return verdict.Value{}, err
	})
}

// call calls a function of a guest with an empty stack.
func call(ctx context.Context, i api.Module, function string, arguments ...uint64) ([]uint64, error) {
	if room, counted := i.ExportedGlobal(wasmbin.StackExport).(api.MutableGlobal); counted {
		room.Set(stackWords)
	}
	return i.ExportedFunction(function).Call(ctx, arguments...)
}

// execute calls work with a new instance of the module, and returns the verdict.
func (m *Module) execute(ctx context.Context, job backend.Job, work func(context.Context, api.Module) (verdict.Value, error)) (_ run.Result, err error) {
	if err := ctx.Err(); err != nil {
		return run.Result{}, err
	}
	if err := m.begin(); err != nil {
		return run.Result{}, err
	}
	defer func() { err = errors.Join(err, m.end()) }()
	job = m.backend.completed(job)
	g := guest.New(m.backend.gate.Closed())
	g.Adopt(ctx, job)
	g.Memory.Limit = uint64(job.Limits.Memory)
	e := verdict.Evidence{Guest: verdict.Module, Limits: job.Limits, TooLarge: m.fits(job.Limits.Memory)}
	if e.TooLarge == nil {
		if e, err = m.instance(ctx, g, job, work); err != nil {
			return run.Result{}, err
		}
	}
	if g.Abandoned() {
		return run.Result{}, backend.ErrClosed()
	}
	result, _ := verdict.Judge(e)
	result.Enforcement = m.backend.Enforcement()
	return result, nil
}

func (m *Module) instance(ctx context.Context, g *guest.Guest, job backend.Job, work func(context.Context, api.Module) (verdict.Value, error)) (e verdict.Evidence, err error) {
	granted := m.backend.roots.NewSet(rootfs.Limits{
		Disk: int64(job.Limits.Disk), Files: g.Files, Exceeded: g.Exceeded, Denied: g.Denied,
	})
	defer func() { err = errors.Join(err, granted.Close()) }()
	defer g.Memory.Free()
	defer engine.Recover(&err)
	inside := g.Context(ctx)
	world := g.Program(job, granted)
	g.Begin()
	defer g.End()
	var value verdict.Value
	instance, err := m.code.Instantiate(inside, world)
	if err == nil {
		value, err = work(inside, instance)
		if left := instance.ExportedGlobal(wasmbin.CounterExport); left != nil {
			g.Unspent(int64(left.Get()))
		}
	}
	e = g.Evidence(err)
	e.Value = &value
	if instance != nil {
		return e, instance.Close(inside)
	}
	return e, nil
}
