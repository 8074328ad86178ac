package wasm

import (
	"context"
	"encoding/binary"
	"errors"
	"maps"
	"slices"

	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/backend/wasm/rootfs"
	"github.com/cordon-sandbox/cordon/internal/backend/wasm/scratch"
	"github.com/cordon-sandbox/cordon/internal/report"
	"github.com/cordon-sandbox/cordon/internal/wire"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// instance is an interpreter that is ready for a guest.
type instance struct {
	interpreter *interpreter
	image       *image
	guest       *guest
	inside      context.Context
	module      api.Module
	files       *rootfs.Set
	tmp         *scratch.FS
	used        bool // by a guest, which may come again
	stopped     bool // in the middle of something
}

// wasmPage is what memories grow by, and mostMemory is what their addresses reach.
const (
	wasmPage   = 64 << 10
	mostMemory = 1 << 32
)

// uncounted is the fuel of a guest whose instructions are not counted one by one.
const uncounted = -1

// instance makes an interpreter in a memory that is a copy of an image, or of what has
// become of one: size is how much of it is in use.
func (i *interpreter) instance(from *image, region *region, size uint64) (*instance, error) {
	g := i.backend.newGuest()
	g.slice = coarseSlice
	g.memory = memory{limit: size, image: from, region: region}
	made := &instance{interpreter: i, image: from, guest: g}
	made.files = i.backend.scripts.NewSet(rootfs.Limits{Files: g.files, Denied: g.denied})
	made.tmp = i.newScratch(scratch.Limits{Guest: scratchDirectory, Files: g.files, Exceeded: g.exceeded, Now: g.clock.wall})
	made.inside = experimental.WithMemoryAllocator(withGuest(context.Background(), g), &g.memory)
	var err error
	if made.module, err = i.module.engine.runtime.InstantiateModule(made.inside, i.module.code, i.world(g, made.tmp, made.files)); err != nil {
		return nil, errors.Join(run.Errorf(run.Internal, "an instance of CPython: %w", plainly(err)), made.close())
	}
	// It begins as small as the module says.
	if missing := (size - uint64(made.module.Memory().Size())) / wasmPage; missing > 0 {
		if _, ok := made.module.Memory().Grow(uint32(missing)); !ok {
			return nil, errors.Join(run.Errorf(run.Internal, "an instance of CPython: its memory does not grow"), made.close())
		}
	}
	return made, nil
}

// fresh gives an instance of an image.
func (i *interpreter) fresh(from *image) (*instance, error) {
	region, err := from.region()
	if err != nil {
		return nil, run.Errorf(run.Internal, "a memory for CPython: %w", err)
	}
	return i.instance(from, region, from.length)
}

func (i *instance) close() error {
	var err error
	if i.module != nil {
		err = i.module.Close(i.inside)
	}
	i.guest.memory.Free()
	return errors.Join(err, i.files.Close())
}

// run runs one script, the only one unless it is a part of a session.
func (i *instance) run(ctx context.Context, job backend.Job, session bool) (run.Result, error) {
	frame, err := frameOf(job, session, !i.used)
	if err != nil {
		return run.Result{}, run.Wrap(run.Invalid, err)
	}
	g := i.guest
	g.adopt(ctx, job)
	g.fuel = uncounted
	i.tmp.Allow(int64(job.Limits.Scratch))
	g.memory.limit = i.image.base + uint64(job.Limits.Memory)
	i.used = true
	g.begin()
	defer g.cpu.end()
	words, err := i.call(frame)
	i.stopped = err != nil
	var failed *engineError
	if errors.As(err, &failed) {
		return run.Result{}, err
	}
	if g.abandoned() {
		return run.Result{}, backend.ErrClosed()
	}
	e := evidence{Limits: job.Limits, restricted: job.Script.Restricted}
	e.see(g, err)
	e.Fuel = 0
	e.Memory -= min(e.Memory, policy.Bytes(i.image.base))
	return i.judge(e, words), nil
}

// frameOf is the question to a guest: see script.WasmSource.
func frameOf(job backend.Job, session, fresh bool) ([]byte, error) {
	name := job.Script.Name
	if name == "" {
		name = "<script>"
	}
	variables := job.Script.Variables
	if variables == nil {
		variables = []string{}
	}
	tools := slices.Sorted(maps.Keys(job.Script.Tools))
	if tools == nil {
		tools = []string{}
	}
	return wire.AppendList(make([]byte, 0, len(job.Script.Source)+512),
		wire.Field{Name: "kind", Value: "run"},
		wire.Field{Name: "script", Value: job.Script.Source},
		wire.Field{Name: "name", Value: name},
		wire.Field{Name: "context", Value: job.Script.Context},
		wire.Field{Name: "variables", Value: variables},
		wire.Field{Name: "restricted", Value: job.Script.Restricted},
		wire.Field{Name: "tools", Value: tools},
		wire.Field{Name: "session", Value: session},
		wire.Field{Name: "fresh", Value: fresh},
		wire.Field{Name: "code", Value: nil},
		wire.Field{Name: "ask", Value: false},
		wire.Field{Name: "most", Value: wire.MaxReport(job.Limits)},
	)
}

// call gives the interpreter a frame, and takes its report.
func (i *instance) call(frame []byte) (words []byte, err error) {
	defer failing(&err)
	at, length, err := give(i.inside, i.module, frame)
	if err != nil {
		return nil, err
	}
	answer, err := i.module.ExportedFunction(callInterpreter).Call(i.inside, at, length)
	if err != nil {
		return nil, err
	}
	memory := i.module.Memory()
	where, ok := memory.Read(uint32(answer[0]), 8)
	if !ok {
		return nil, nil
	}
	words, ok = memory.Read(binary.LittleEndian.Uint32(where), binary.LittleEndian.Uint32(where[4:]))
	if !ok {
		return nil, nil
	}
	return words, nil
}

// judge draws the conclusion: what the host saw goes before what the guest says.
func (i *instance) judge(e evidence, words []byte) run.Result {
	if e.err != nil || e.outcome != "" {
		return judge(e)
	}
	r := judge(e)
	dict, err := wire.Dict(nil), error(nil)
	if len(words) > wire.MaxReport(e.Limits) {
		err = wire.ErrAboveMax // and the guest was told
	} else {
		dict, err = wire.DecodeDict(words)
	}
	if err != nil {
		report.Malformed(&r, err, e.Limits)
	} else {
		cause := report.Read(&r, dict, report.Run{Limits: e.Limits, Restricted: e.restricted})
		explain(&r, cause, i.interpreter)
		e.ranOut(&r, cause)
	}
	r.Status, r.ErrorType = r.Outcome.Status(), r.Outcome.ErrorType()
	return r
}
