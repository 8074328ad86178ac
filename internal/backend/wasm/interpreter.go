package wasm

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/experimental/sys"
	"github.com/tetratelabs/wazero/experimental/sysfs"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/backend/wasm/guestfs"
	"github.com/cordon-sandbox/cordon/internal/backend/wasm/rootfs"
	"github.com/cordon-sandbox/cordon/internal/backend/wasm/scratch"
	"github.com/cordon-sandbox/cordon/internal/language"
	"github.com/cordon-sandbox/cordon/internal/pythonwasm"
	"github.com/cordon-sandbox/cordon/internal/script"
	"github.com/cordon-sandbox/cordon/internal/wasmbin"
	"github.com/cordon-sandbox/cordon/internal/wire"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// interpreter is CPython, compiled.
type interpreter struct {
	backend *Backend
	bundle  *pythonwasm.Bundle
	module  *Module
	library sys.FS
	around  sys.FS // nil where a grant is the directory of all
	parents []parent
}

// What CPython exports beside its memory: see internal/pythonwasm/c/cordon.c.
const (
	initInterpreter  = "cordon_init"
	bootInterpreter  = "cordon_boot"
	allocateInside   = "cordon_alloc"
	callInterpreter  = "cordon_call"
	libraryDirectory = "/lib"
	libraryName      = "python311.zip"
	scratchDirectory = "/tmp"
	bootMemory       = 512 * policy.MiB
	bootTime         = policy.Duration(2 * time.Minute)
	mostBootMessages = 64 * policy.KiB
)

// openInterpreter finds and compiles CPython.
func (b *Backend) openInterpreter(ctx context.Context) (*interpreter, error) {
	path, err := pythonwasm.Find(b.options.Policy.PythonWasm)
	if err != nil {
		return nil, run.Wrap(run.NotFound, err)
	}
	bundle, err := pythonwasm.Open(path)
	if err != nil {
		return nil, run.Wrap(run.Invalid, err)
	}
	// It is known code, so that a coarse count is enough, and has its own bound on the
	// depth of calls. Its data is in the images.
	grain := wasmbin.Coarse
	if b.options.Uncounted {
		grain = wasmbin.Uncounted
	}
	module, err := b.open(ctx, bundle.Module, wasmbin.Metering{Grain: grain, WithoutData: true})
	if err != nil {
		return nil, run.Errorf(run.ClassOf(err), "the Python bundle %s: %w", path, err)
	}
	i := &interpreter{backend: b, bundle: bundle, module: module}
	i.library = readOnly{&sysfs.ReadFS{FS: &sysfs.AdaptFS{FS: newTree().file(libraryName, bundle.Library)}}}
	granted := i.granted()
	if err := checkMounts(granted); err != nil {
		return nil, errors.Join(err, i.Close())
	}
	i.parents = parentsOf(granted)
	i.around = around(i.mounts())
	return i, nil
}

// around is the directory in which all mounts are, unless it is one itself. Without it a path
// that is in none of them would be no file that is not there, but an error that other
// tiers do not know.
func around(mounts []string) sys.FS {
	all := newTree().file(nullFile, nil)
	for _, mount := range mounts {
		if mount == "/" {
			return nil
		}
		all.directory(strings.TrimPrefix(mount, "/"))
	}
	return surroundings{readOnly{&sysfs.ReadFS{FS: &sysfs.AdaptFS{FS: all}}}}
}

// Close lets go of the compiled code.
func (i *interpreter) Close() error { return i.module.Close() }

// world is what a Python finds: its library, its own /tmp and the grants. The C library
// counts them at its start, so that all copies of one memory must find the same.
func (i *interpreter) world(g *guest, tmp *scratch.FS, files *rootfs.Set) wazero.ModuleConfig {
	fs := wazero.NewFSConfig()
	mount := func(what sys.FS, at string) { fs = fs.(sysfs.FSConfig).WithSysFSMount(g.errors.Watch(what), at) }
	if i.around != nil {
		mount(&counted{i.around, guestfs.HandlesOf(g.files)}, "/")
	}
	mount(&counted{i.library, guestfs.HandlesOf(g.files)}, libraryDirectory)
	mount(tmp, scratchDirectory)
	for _, p := range i.parents {
		mount(&counted{p.fs, guestfs.HandlesOf(g.files)}, p.at)
	}
	for _, m := range files.Mounts() {
		mount(m.FS, m.Guest)
	}
	return g.world().WithFSConfig(fs)
}

// image makes one of a memory, of which base is the interpreter's own.
func (i *interpreter) image(memory []byte, base uint64) (*image, error) {
	made, err := newImage(memory, base, base+uint64(i.backend.options.Policy.Maxima.Memory))
	if err != nil {
		return nil, run.Errorf(run.Internal, "an image of CPython: %w", err)
	}
	return made, nil
}

// boot starts an interpreter, which says what is to be imported, and gives its memory.
func (i *interpreter) boot(ctx context.Context, rules *policy.Language, preload []string, seed uint32) (memory []byte, err error) {
	g := i.backend.newGuest()
	g.slice = coarseSlice
	g.memory.limit = uint64(bootMemory)
	g.adopt(ctx, backend.Job{Limits: policy.Limits{
		WallTime: bootTime, CPUTime: bootTime, Output: mostBootMessages, OpenFiles: policy.DefaultLimits().OpenFiles,
	}})
	g.fuel = uncounted
	if g.answer, err = bootAnswer(rules, preload); err != nil {
		return nil, err
	}
	files := i.backend.scripts.NewSet(noFiles)
	defer func() { err = errors.Join(err, files.Close()) }()
	defer g.memory.Free()
	inside := experimental.WithMemoryAllocator(withGuest(context.WithoutCancel(ctx), g), &g.memory)
	g.begin()
	defer g.cpu.end()
	instance, err := i.module.engine.runtime.InstantiateModule(inside, i.module.code, i.world(g, i.newScratch(scratch.Limits{Files: g.files}), files))
	if err != nil {
		return nil, run.Errorf(run.Internal, "CPython: %w", plainly(err))
	}
	defer func() { err = errors.Join(err, instance.Close(inside)) }()
	for _, segment := range i.module.parsed.Data() {
		if !segment.Fixed || !instance.Memory().Write(segment.Offset, segment.Data) {
			return nil, run.Errorf(run.Internal, "CPython: data that does not fit its memory")
		}
	}
	if err := i.start(inside, instance, seed); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if g.abandoned() {
			return nil, backend.ErrClosed()
		}
		words := strings.TrimSpace(string(g.stderr.Capture.Data))
		return nil, run.Errorf(run.Internal, "CPython did not start: %w: %s", plainly(err), lastLine(words))
	}
	text, _ := instance.Memory().Read(0, instance.Memory().Size())
	return append([]byte(nil), text...), nil
}

func (i *interpreter) start(ctx context.Context, instance api.Module, seed uint32) error {
	if _, err := instance.ExportedFunction(initialize).Call(ctx); err != nil {
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
		return fmt.Errorf("see its words")
	}
	return err
}

func lastLine(text string) string { return text[strings.LastIndexByte(text, '\n')+1:] }

// give puts something into the guest's memory.
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

var errNoRoom = fmt.Errorf("no room for what it is given")

// bootAnswer says what the interpreter is for: see script.WasmSource.
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

// newSeed is one for hashes.
func newSeed() (uint32, error) {
	var seed [4]byte
	if _, err := rand.Read(seed[:]); err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint32(seed[:]), nil
}
