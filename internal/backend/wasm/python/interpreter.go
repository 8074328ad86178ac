// Package python runs scripts in a CPython compiled to WebAssembly. CPython starts once
// (interpreter.go). Each script gets a copy of its memory (pool.go, instance.go), which can
// also be written to a file (snapshot.go).
package python

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/backend/wasm/engine"
	"github.com/cordon-sandbox/cordon/internal/backend/wasm/files"
	"github.com/cordon-sandbox/cordon/internal/backend/wasm/guest"
	"github.com/cordon-sandbox/cordon/internal/backend/wasm/memory"
	"github.com/cordon-sandbox/cordon/internal/backend/wasm/rootfs"
	"github.com/cordon-sandbox/cordon/internal/backend/wasm/scratch"
	"github.com/cordon-sandbox/cordon/internal/language"
	"github.com/cordon-sandbox/cordon/internal/observe"
	"github.com/cordon-sandbox/cordon/internal/pythonwasm"
	"github.com/cordon-sandbox/cordon/internal/script"
	"github.com/cordon-sandbox/cordon/internal/wasmbin"
	"github.com/cordon-sandbox/cordon/internal/wire"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Options configure an Interpreter.
type Options struct {
	Bundle  string // the path of the bundle; empty means the usual paths
	Engine  *engine.Engine
	Granted *rootfs.Roots
	// Closed ends all guests.
	Closed <-chan struct{}
	Meter  *observe.Meter
	// MaxMemory is the largest memory limit of a script.
	MaxMemory policy.Bytes
	// RotateAfter is how many guests have the same hash seed.
	RotateAfter int
	// Uncounted leaves the counters out, to measure what they cost. Nothing can stop
	// scripts then.
	Uncounted bool
}

// Interpreter is a compiled CPython.
type Interpreter struct {
	options Options
	bundle  *pythonwasm.Bundle
	module  *engine.Module
	layout  *files.Layout
}

// Exports of CPython other than its memory: see internal/pythonwasm/c/cordon.c.
const (
	initializeModule = "_initialize"
	initInterpreter  = "cordon_init"
	bootInterpreter  = "cordon_boot"
	allocateInside   = "cordon_alloc"
	callInterpreter  = "cordon_call"
)

// Limits of the start of CPython, before any guest.
const (
	bootMemory = 512 * policy.MiB
	bootTime   = 2 * time.Minute
	bootOutput = 64 * policy.KiB
)

// Open finds and compiles CPython.
func Open(ctx context.Context, options Options) (*Interpreter, error) {
	path, err := pythonwasm.Find(options.Bundle)
	if err != nil {
		return nil, run.Wrap(run.NotFound, err)
	}
	bundle, err := pythonwasm.Open(path)
	if err != nil {
		return nil, run.Wrap(run.Invalid, err)
	}
	// CPython is trusted code: a coarse count is enough, it bounds the depth of calls
	// itself, and its data is in the images.
	grain := wasmbin.Coarse
	if options.Uncounted {
		grain = wasmbin.Uncounted
	}
	module, err := options.Engine.Compile(ctx, bundle.Module, wasmbin.Metering{Grain: grain, WithoutData: true})
	if err != nil {
		return nil, run.Errorf(run.ClassOf(err), "the Python bundle %s: %w", path, err)
	}
	i := &Interpreter{options: options, bundle: bundle, module: module}
	var granted []string
	for _, m := range options.Granted.NewSet(rootfs.Limits{}).Mounts() {
		granted = append(granted, m.Guest)
	}
	if i.layout, err = files.NewLayout(bundle.Library, granted); err != nil {
		return nil, errors.Join(err, i.Close())
	}
	return i, nil
}

// Close frees the compiled code.
func (i *Interpreter) Close() error { return i.module.Close() }

// world returns the WASI configuration of a script.
func (i *Interpreter) world(g *guest.Guest, tmp *scratch.FS, granted *rootfs.Set) wazero.ModuleConfig {
	return g.World().WithFSConfig(i.layout.Config(g.Errors(), g.Files, tmp, granted))
}

// image freezes a memory. Its first base bytes belong to the interpreter.
func (i *Interpreter) image(content []byte, base uint64) (*memory.Image, error) {
	made, err := memory.NewImage(content, base, base+uint64(i.options.MaxMemory))
	if err != nil {
		return nil, run.Errorf(run.Internal, "an image of CPython: %w", err)
	}
	return made, nil
}

// boot starts an interpreter, which imports the preload list, and returns its memory.
func (i *Interpreter) boot(ctx context.Context, rules *policy.Language, preload []string, seed uint32) (content []byte, err error) {
	g := guest.NewCoarse(i.options.Closed)
	g.Memory.Limit = uint64(bootMemory)
	g.AdoptCoarse(ctx, backend.Job{Limits: policy.Limits{
		WallTime: bootTime, CPUTime: bootTime, Output: bootOutput, OpenFiles: policy.DefaultLimits().OpenFiles,
	}})
	if g.Answer, err = bootAnswer(rules, preload); err != nil {
		return nil, err
	}
	granted := i.options.Granted.NewSet(rootfs.Limits{})
	defer func() { err = errors.Join(err, granted.Close()) }()
	defer g.Memory.Free()
	inside := g.Context(ctx)
	g.Begin()
	defer g.End()
	instance, err := i.module.Instantiate(inside, i.world(g, i.layout.NewScratch(scratch.Limits{Files: g.Files}), granted))
	if err != nil {
		return nil, run.Errorf(run.Internal, "CPython: %w", engine.FirstLine(err))
	}
	defer func() { err = errors.Join(err, instance.Close(inside)) }()
	for _, segment := range i.module.Data() {
		if !segment.Fixed || !instance.Memory().Write(segment.Offset, segment.Data) {
			return nil, run.Errorf(run.Internal, "CPython: data that does not fit its memory")
		}
	}
	if err := i.start(inside, instance, seed); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if g.Abandoned() {
			return nil, backend.ErrClosed()
		}
		return nil, run.Errorf(run.Internal, "CPython did not start: %w: %s", engine.FirstLine(err), g.Complaint())
	}
	text, _ := instance.Memory().Read(0, instance.Memory().Size())
	return append([]byte(nil), text...), nil
}

func (i *Interpreter) start(ctx context.Context, instance api.Module, seed uint32) error {
	if _, err := instance.ExportedFunction(initializeModule).Call(ctx); err != nil {
		return err
	}
	if code, err := instance.ExportedFunction(initInterpreter).Call(ctx, uint64(seed)); err != nil || code[0] != 0 {
		return fmt.Errorf("%s: %v, %w", initInterpreter, code, orUnknown(err))
	}
	at, length, err := give(ctx, instance, []byte(script.WasmSource()))
	if err != nil {
		return err
	}
	if code, err := instance.ExportedFunction(bootInterpreter).Call(ctx, at, length); err != nil || code[0] != 0 {
		return fmt.Errorf("%s: %v, %w", bootInterpreter, code, orUnknown(err))
	}
	return nil
}

func orUnknown(err error) error {
	if err == nil {
		return errors.New("see its standard error")
	}
	return err
}

// give copies data into the guest's memory.
func give(ctx context.Context, instance api.Module, data []byte) (at, length uint64, err error) {
	room, err := instance.ExportedFunction(allocateInside).Call(ctx, uint64(len(data)))
	if err != nil {
		return 0, 0, err
	}
	if room[0] == 0 || !instance.Memory().Write(uint32(room[0]), data) {
		return 0, 0, errNoRoom
	}
	return room[0], uint64(len(data)), nil
}

var errNoRoom = errors.New("no memory for the data")

// bootAnswer returns the function that answers the interpreter's question for its
// configuration: see script.WasmSource.
func bootAnswer(rules *policy.Language, preload []string) (func([]byte) ([]byte, bool), error) {
	var restriction any
	if rules != nil {
		restriction = map[string]any{"modules": rules.Modules, "builtins": rules.Builtins, "source": language.Source()}
	}
	config, err := wire.AppendDict(nil, wire.Field{Name: "preload", Value: preload}, wire.Field{Name: "language", Value: restriction})
	if err != nil {
		return nil, run.Wrap(run.Internal, err)
	}
	return func(question []byte) ([]byte, bool) { return config, string(question) == "boot" }, nil
}

// newSeed returns a random hash seed.
func newSeed() (uint32, error) {
	var seed [4]byte
	if _, err := rand.Read(seed[:]); err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint32(seed[:]), nil
}
