// Package engine compiles and instantiates WebAssembly modules. It checks and rewrites them,
// so that their instructions can be counted and they can be stopped (internal/wasmbin), and
// caches compiled code on disk (cache.go).
package engine

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

	"github.com/cordon-sandbox/cordon/internal/backend/wasm/guest"
	"github.com/cordon-sandbox/cordon/internal/backend/wasm/guestfs"
	"github.com/cordon-sandbox/cordon/run"
)

// Options configure an Engine.
type Options struct {
	// Interpreter interprets modules, as on processors without a compiler.
	Interpreter bool
	// Cache is the directory of compiled code. Empty means one in the user's cache
	// directory, "none" disables the cache.
	Cache string
	// Granted are paths that commands may write to. The cache must not be there.
	Granted []string
}

// Engine compiles modules. It has two runtimes, one with a cache and one without, for when
// the cache fails. Each starts on first use.
type Engine struct {
	interpreter bool
	// Directory returns the directory of compiled code, or why there is none.
	Directory func() (string, error)

	mu             sync.Mutex
	keeping, plain *wasmRuntime
}

// New returns an Engine. It starts nothing yet.
func New(o Options) *Engine {
	e := &Engine{interpreter: o.Interpreter}
	switch o.Cache {
	case "":
		e.Directory = func() (string, error) { return cacheDirectory(o.Granted...) }
	case "none":
		e.Directory = func() (string, error) { return "", errors.New("the cache is disabled") }
	default:
		e.Directory = func() (string, error) { return o.Cache, nil }
	}
	return e
}

// Mode returns "compiled" or "interpreted".
func (e *Engine) Mode() string {
	if e.interpreter || !compilable() {
		return "interpreted"
	}
	return "compiled"
}

// compilable reports whether wazero has a compiler for this system and processor. Without
// one it interprets modules.
func compilable() bool {
	if !slices.Contains([]string{"linux", "darwin", "freebsd", "netbsd", "windows"}, runtime.GOOS) {
		return false
	}
	return runtime.GOARCH == "arm64" || runtime.GOARCH == "amd64" && cpu.X86.HasSSE41
}

// wasmRuntime is a runtime of wazero with the functions that modules may import.
type wasmRuntime struct {
	wazero.Runtime
	cache   wazero.CompilationCache // nil without a cache
	exports exports
}

// exports are the functions that modules can import, by module and name.
type exports map[string]map[string]api.FunctionDefinition

// features are those of WebAssembly 2.0, which internal/wasmbin supports.
const features = api.CoreFeaturesV2

func newRuntime(ctx context.Context, interpreter bool, directory string) (*wasmRuntime, error) {
	config := wazero.NewRuntimeConfig()
	if interpreter {
		config = wazero.NewRuntimeConfigInterpreter()
	}
	config = config.WithCoreFeatures(features).WithDebugInfoEnabled(false)
	r := &wasmRuntime{exports: exports{}}
	if directory != "" {
		cache, err := wazero.NewCompilationCacheWithDir(directory)
		if err != nil {
			return nil, err
		}
		r.cache, config = cache, config.WithCompilationCache(cache)
	}
	r.Runtime = wazero.NewRuntimeWithConfig(ctx, config)
	if err := guestfs.InstantiateWASI(ctx, r.Runtime); err != nil {
		return nil, errors.Join(err, r.close(ctx))
	}
	if err := guest.AddHostFunctions(ctx, r.Runtime); err != nil {
		return nil, errors.Join(err, r.close(ctx))
	}
	for _, name := range guest.HostModules {
		r.exports[name] = r.Module(name).ExportedFunctionDefinitions()
	}
	return r, nil
}

func (r *wasmRuntime) close(ctx context.Context) error {
	err := r.Close(ctx)
	if r.cache != nil {
		err = errors.Join(err, r.cache.Close(ctx))
	}
	return err
}

// runtime returns one of the two runtimes, which starts on first use.
func (e *Engine) runtime(ctx context.Context, keeping bool) (*wasmRuntime, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	one := &e.plain
	if keeping {
		one = &e.keeping
	}
	if *one != nil {
		return *one, nil
	}
	directory := ""
	if keeping && !e.interpreter {
		var err error
		if directory, err = e.Directory(); err != nil {
			directory = "" // without a cache, starts are slower
		}
	}
	ctx = context.WithoutCancel(ctx)
	made, err := newRuntime(ctx, e.interpreter, directory)
	if err != nil && directory != "" {
		made, err = newRuntime(ctx, e.interpreter, "")
	}
	if err != nil {
		return nil, run.Errorf(run.Internal, "the engine for WebAssembly: %w", err)
	}
	*one = made
	return made, nil
}

// compile compiles a rewritten module. If the cache is damaged or the disk full, it compiles
// without the cache. Only trusted code is compiled by several threads, because a panic of the
// compiler in one of them would end the process.
func (e *Engine) compile(ctx context.Context, binary []byte, trusted bool) (_ *wasmRuntime, _ wazero.CompiledModule, err error) {
	defer Recover(&err)
	if trusted {
		ctx = experimental.WithCompilationWorkers(ctx, runtime.GOMAXPROCS(0))
	}
	for _, keeping := range []bool{true, false} {
		r, err := e.runtime(ctx, keeping)
		if err != nil {
			return nil, nil, err
		}
		compiled, err := r.CompileModule(ctx, binary)
		if err == nil {
			return r, compiled, nil
		}
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		if !keeping || r.cache == nil || strings.Contains(err.Error(), "invalid function") {
			return nil, nil, run.Errorf(run.Invalid, "not a valid module: %w", FirstLine(err))
		}
	}
	return nil, nil, nil // not reached: the second try returns
}

// Close releases the runtimes. No guest may be running or start later.
func (e *Engine) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	var err error
	for _, one := range []*wasmRuntime{e.keeping, e.plain} {
		if one != nil {
			err = errors.Join(err, one.close(context.Background()))
		}
	}
	return err
}

// FirstLine returns wazero's error without its stack trace.
func FirstLine(err error) error {
	text, _, _ := strings.Cut(err.Error(), "\n")
	return fmt.Errorf("%s", text)
}

// Recover, deferred, turns a panic of wazero into an error: wazero runs untrusted code, and a
// bug in it must not end the process.
func Recover(err *error) {
	if value := recover(); value != nil {
		*err = run.Wrap(run.Internal, &Error{value})
	}
}

// Error is a failure of the engine, not of a guest.
type Error struct{ panicked any }

func (e *Error) Error() string {
	return fmt.Sprintf("the engine for WebAssembly failed: %v", e.panicked)
}
