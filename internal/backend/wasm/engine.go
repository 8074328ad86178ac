package wasm

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"golang.org/x/sys/cpu"

	"github.com/cordon-sandbox/cordon/internal/backend/wasm/guestfs"
	"github.com/cordon-sandbox/cordon/run"
)

// engine compiles modules and runs them, with what they may import.
type engine struct {
	runtime wazero.Runtime
	cache   wazero.CompilationCache // nil if nothing is kept
	offers  offers
}

// offers are the functions that can be imported, by their modules and their names.
type offers map[string]map[string]api.FunctionDefinition

// features are those of WebAssembly 2.0, which internal/wasmbin knows.
const features = api.CoreFeaturesV2

func newEngine(ctx context.Context, interpreter bool, directory string) (*engine, error) {
	config := wazero.NewRuntimeConfig()
	if interpreter {
		config = wazero.NewRuntimeConfigInterpreter()
	}
	config = config.WithCoreFeatures(features).WithDebugInfoEnabled(false)
	e := &engine{offers: offers{}}
	if directory != "" {
		cache, err := wazero.NewCompilationCacheWithDir(directory)
		if err != nil {
			return nil, err
		}
		e.cache, config = cache, config.WithCompilationCache(cache)
	}
	e.runtime = wazero.NewRuntimeWithConfig(ctx, config)
	if err := guestfs.InstantiateWASI(ctx, e.runtime); err != nil {
		return nil, errors.Join(err, e.close(ctx))
	}
	if err := addHostFunctions(ctx, e.runtime); err != nil {
		return nil, errors.Join(err, e.close(ctx))
	}
	for _, name := range hostModules {
		e.offers[name] = e.runtime.Module(name).ExportedFunctionDefinitions()
	}
	return e, nil
}

func (e *engine) close(ctx context.Context) error {
	err := e.runtime.Close(ctx)
	if e.cache != nil {
		err = errors.Join(err, e.cache.Close(ctx))
	}
	return err
}

// engines are the one that keeps what it compiled, and another for when it cannot.
type engines struct {
	interpreter bool
	directory   func() (string, error)

	mu           sync.Mutex
	kept, unkept *engine
}

func newEngines(o Options) *engines {
	e := &engines{interpreter: o.Interpreter, directory: func() (string, error) { return cacheDirectory(o.Policy.Write...) }}
	switch o.Cache {
	case "":
	case "none":
		e.directory = func() (string, error) { return "", errors.New("nothing is kept") }
	default:
		e.directory = func() (string, error) { return o.Cache, nil }
	}
	return e
}

func (e *engines) words() string {
	if e.interpreter || !compilable() {
		return "interpreted"
	}
	return "compiled"
}

// compilable says whether the engine has a compiler for this system and processor.
// Without one it interprets.
func compilable() bool {
	if !slices.Contains([]string{"linux", "darwin", "freebsd", "netbsd", "windows"}, runtime.GOOS) {
		return false
	}
	return runtime.GOARCH == "arm64" || runtime.GOARCH == "amd64" && cpu.X86.HasSSE41
}

// get starts the engine when it is first needed.
func (e *engines) get(ctx context.Context, kept bool) (*engine, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	one := &e.unkept
	if kept {
		one = &e.kept
	}
	if *one != nil {
		return *one, nil
	}
	directory := ""
	if kept && !e.interpreter {
		var err error
		if directory, err = e.directory(); err != nil {
			directory = "" // it takes longer, and is the same
		}
	}
	made, err := newEngine(context.WithoutCancel(ctx), e.interpreter, directory)
	if err != nil && directory != "" {
		made, err = newEngine(context.WithoutCancel(ctx), e.interpreter, "") // likewise
	}
	if err != nil {
		return nil, run.Errorf(run.Internal, "the engine for WebAssembly: %w", err)
	}
	*one = made
	return made, nil
}

// offers are the same in both.
func (e *engines) offers(ctx context.Context) (offers, error) {
	engine, err := e.get(ctx, true)
	if err != nil {
		return nil, err
	}
	return engine.offers, nil
}

// compile compiles a module that has been rewritten. What was kept may be damaged, and
// the disk may be full: then it is compiled without. Only what is trusted is compiled by
// several threads: a mistake of the compiler's in one of them would end the process.
func (e *engines) compile(ctx context.Context, binary []byte, trusted bool) (_ *engine, _ wazero.CompiledModule, err error) {
	defer failing(&err)
	if trusted {
		ctx = experimental.WithCompilationWorkers(ctx, runtime.GOMAXPROCS(0))
	}
	for _, kept := range []bool{true, false} {
		engine, err := e.get(ctx, kept)
		if err != nil {
			return nil, nil, err
		}
		compiled, err := engine.runtime.CompileModule(ctx, binary)
		if err == nil {
			return engine, compiled, nil
		}
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		if !kept || engine.cache == nil || strings.Contains(err.Error(), "invalid function") {
			return nil, nil, run.Errorf(run.Invalid, "not a module that can be run: %w", plainly(err))
		}
	}
	return nil, nil, nil // not reached: the second try returns
}

// plainly is wazero's error for people who did not write its source.
func plainly(err error) error {
	text, _, _ := strings.Cut(err.Error(), "\n")
	return fmt.Errorf("%s", text)
}

// close is for when the gate is closed, and nobody comes any more.
func (e *engines) close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	var err error
	for _, one := range []*engine{e.kept, e.unkept} {
		if one != nil {
			err = errors.Join(err, one.close(context.Background()))
		}
	}
	return err
}
