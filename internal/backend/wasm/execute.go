package wasm

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/backend/wasm/rootfs"
	"github.com/cordon-sandbox/cordon/internal/wasmbin"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// start is what WASI calls the main function of a program, and initialize that which
// is called first in a library.
const (
	start      = "_start"
	initialize = "_initialize"
)

// run runs a program.
func (m *Module) run(ctx context.Context, job backend.Job) (run.Result, error) {
	if _, there := m.parsed.Export(start); !there {
		return run.Result{}, run.Errorf(run.Invalid, "the module is no program: it exports no %s (a library is called by the name of a function)", start)
	}
	return m.execute(ctx, job, func(ctx context.Context, i api.Module) (value, error) {
		_, err := call(ctx, i, start)
		return value{}, err
	})
}

// call calls a function of a guest, with the whole stack for it.
func call(ctx context.Context, i api.Module, function string, arguments ...uint64) ([]uint64, error) {
	if room, counted := i.ExportedGlobal(wasmbin.StackExport).(api.MutableGlobal); counted {
		room.Set(stackWords)
	}
	return i.ExportedFunction(function).Call(ctx, arguments...)
}

// value is what a call gave.
type value struct {
	json []byte
	// wrong says why it is none.
	wrong string
	// tooLarge says that it is above the limit on results.
	tooLarge bool
}

// execute gives the module a new instance, has something done with it, and says what
// became of it.
func (m *Module) execute(ctx context.Context, job backend.Job, work func(context.Context, api.Module) (value, error)) (_ run.Result, err error) {
	if err := ctx.Err(); err != nil {
		return run.Result{}, err
	}
	if err := m.begin(); err != nil {
		return run.Result{}, err
	}
	defer func() { err = errors.Join(err, m.end()) }()
	job = m.backend.completed(job)
	g := m.backend.newGuest()
	g.adopt(ctx, job)
	g.memory.limit = uint64(job.Limits.Memory)
	e := evidence{Limits: job.Limits}
	if e.tooLarge = m.fits(job.Limits.Memory); e.tooLarge == nil {
		if err := m.instance(g, job, &e, work); err != nil {
			return run.Result{}, err
		}
	}
	if g.abandoned() {
		return run.Result{}, backend.ErrClosed()
	}
	result := judge(e)
	result.Enforcement = m.backend.Enforcement()
	return result, nil
}

func (m *Module) instance(g *guest, job backend.Job, e *evidence, work func(context.Context, api.Module) (value, error)) (err error) {
	files := m.backend.roots.NewSet(rootfs.Limits{
		Disk: int64(job.Limits.Disk), Files: g.files, Exceeded: g.exceeded, Denied: g.denied,
	})
	defer func() { err = errors.Join(err, files.Close()) }()
	defer g.memory.Free()
	defer failing(&err)
	// The engine never looks at a context, but host functions do: what ends is ended by
	// the guest itself, when it asks for fuel.
	inside := experimental.WithMemoryAllocator(withGuest(context.WithoutCancel(g.ctx), g), &g.memory)
	world := g.program(job, files)
	g.begin()
	defer g.cpu.end()
	instance, err := m.engine.runtime.InstantiateModule(inside, m.code, world)
	if err == nil {
		e.value, err = work(inside, instance)
		if left := instance.ExportedGlobal(wasmbin.CounterExport); left != nil {
			g.granted -= max(0, int64(left.Get()))
		}
	}
	e.see(g, err)
	if instance != nil {
		return instance.Close(inside)
	}
	return nil
}

// failing makes an error of a mistake of the engine's: it runs what strangers wrote, and
// its end must not be that of the whole process.
func failing(err *error) {
	if mistake := recover(); mistake != nil {
		*err = run.Wrap(run.Internal, &engineError{mistake})
	}
}

// engineError is a mistake of the engine's, and no end of a guest.
type engineError struct{ mistake any }

func (e *engineError) Error() string {
	return fmt.Sprintf("the engine for WebAssembly failed: %v", e.mistake)
}

// standardStreams count as open files.
const standardStreams = 3

// noFiles is for those who want to see what there is.
var noFiles rootfs.Limits

// see keeps what is known of a guest that has ended.
func (e *evidence) see(g *guest, err error) {
	e.WallTime = time.Since(g.started)
	e.CPUTime = g.cpu.used(e.WallTime - g.waited)
	e.Fuel = policy.Count(g.granted)
	e.Memory, e.memoryRefused, e.full = policy.Bytes(g.memory.size), g.memory.refused, g.full
	e.Stdout, e.Stderr = g.stdout.Capture, g.stderr.Capture
	e.Violations = g.violations
	e.outcome, e.trap, e.err = g.outcome, g.trap, err
}
