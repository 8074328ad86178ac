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
	"github.com/cordon-sandbox/cordon/internal/report"
	"github.com/cordon-sandbox/cordon/internal/wire"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// instance is an interpreter that is ready for a guest.
type instance struct {
	python *python
	image  *image
	guest  *guest
	inside context.Context
	module api.Module
	files  *rootfs.Set
}

// uncounted is the fuel of a guest whose instructions are not counted one by one.
const uncounted = -1

func (p *python) instance(from *image) (*instance, error) {
	region, err := from.region()
	if err != nil {
		return nil, run.Errorf(run.Internal, "a memory for CPython: %w", err)
	}
	g := newGuest()
	g.slice = coarseSlice
	g.memory = memory{limit: from.length, image: from, region: region}
	i := &instance{python: p, image: from, guest: g}
	i.files = p.interpreter.backend.scripts.NewSet(rootfs.Limits{
		OpenFiles: p.interpreter.backend.options.Policy.Limits.OpenFiles - standardStreams, Exceeded: g.exceeded, Denied: g.denied,
	})
	i.inside = experimental.WithMemoryAllocator(withGuest(context.Background(), g), &g.memory)
	engine := p.interpreter.module.engine
	if i.module, err = engine.runtime.InstantiateModule(i.inside, p.interpreter.module.code, p.interpreter.world(g, i.files)); err != nil {
		i.close()
		return nil, run.Errorf(run.Internal, "an instance of CPython: %w", plainly(err))
	}
	// It begins as small as the module says, and is as large as the image.
	const page = 64 << 10
	if missing := (from.length - uint64(i.module.Memory().Size())) / page; missing > 0 {
		i.module.Memory().Grow(uint32(missing))
	}
	return i, nil
}

func (i *instance) close() error {
	var err error
	if i.module != nil {
		err = i.module.Close(i.inside)
	}
	i.guest.memory.Free()
	return errors.Join(err, i.files.Close())
}

// run runs one script.
func (i *instance) run(ctx context.Context, job backend.Job) (run.Result, error) {
	frame, err := frameOf(job)
	if err != nil {
		return run.Result{}, run.Wrap(run.Invalid, err)
	}
	g := i.guest
	g.adopt(ctx, job)
	g.fuel = uncounted
	g.memory.limit = i.image.length + uint64(job.Limits.Memory)
	g.begin()
	defer g.cpu.end()
	words, err := i.call(frame)
	e := evidence{Limits: job.Limits}
	e.see(g, err)
	e.Fuel = 0
	e.Memory -= min(e.Memory, policy.Bytes(i.image.length))
	return i.judge(e, words), nil
}

// frameOf is the question to a guest: see script.WasmSource.
func frameOf(job backend.Job) ([]byte, error) {
	name := job.Name
	if name == "" {
		name = "<script>"
	}
	variables := job.Variables
	if variables == nil {
		variables = []string{}
	}
	tools := slices.Sorted(maps.Keys(job.Tools))
	if tools == nil {
		tools = []string{}
	}
	return wire.AppendList(make([]byte, 0, len(job.Script)+512),
		wire.Field{Name: "kind", Value: "run"},
		wire.Field{Name: "script", Value: job.Script},
		wire.Field{Name: "name", Value: name},
		wire.Field{Name: "context", Value: job.Context},
		wire.Field{Name: "variables", Value: variables},
		wire.Field{Name: "restricted", Value: job.Restricted},
		wire.Field{Name: "tools", Value: tools},
		wire.Field{Name: "session", Value: false},
		wire.Field{Name: "code", Value: nil},
		wire.Field{Name: "ask", Value: false},
	)
}

// call gives the interpreter a frame, and takes its report.
func (i *instance) call(frame []byte) ([]byte, error) {
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
	words, ok := memory.Read(binary.LittleEndian.Uint32(where), binary.LittleEndian.Uint32(where[4:]))
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
	dict, err := wire.DecodeDict(words)
	if len(words) > run.MaxPayload {
		err = errors.New("it is too large")
	}
	if err != nil {
		report.Malformed(&r, err)
	} else {
		cause := report.Read(&r, dict, e.Limits)
		explain(&r, cause)
	}
	r.Status, r.ErrorType = r.Outcome.Status(), r.Outcome.ErrorType()
	return r
}
