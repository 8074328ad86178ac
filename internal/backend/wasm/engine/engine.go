// Package engine compiles modules of WebAssembly, once, and instantiates them: it checks
// and rewrites them so that they can be counted and stopped (internal/wasmbin), and keeps
// compiled code on disk (cache.go).
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

// Options say how modules are run, and where compiled code is kept.
type Options struct {
	// Interpreter interprets modules, as on processors that the compiler does not know.
	Interpreter bool
	// Cache is the directory for compiled code. Empty means the user's own, and "none"
	// that nothing is kept.
	Cache string
	// Granted are paths that commands may write to: compiled code is not kept there.
	Granted []string
}

// Engine compiles modules. It has two runtimes: one that keeps what it compiled, and one
// for when that is not possible. Each is started on first use.
type Engine struct {
	interpreter bool
	// Directory gives the one in which compiled code is kept, or says why it is not.
	Directory func() (string, error)

	mu             sync.Mutex
	keeping, plain *wasmRuntime
}

// New starts nothing yet.
func New(o Options) *Engine {
	e := &Engine{interpreter: o.Interpreter}
	switch o.Cache {
	case "":
		e.Directory = func() (string, error) { return cacheDirectory(o.Granted...) }
	case "none":
		e.Directory = func() (string, error) { return "", errors.New("nothing is kept") }
	default:
		e.Directory = func() (string, error) { return o.Cache, nil }
	}
	return e
}

// Mode is "compiled" or "interpreted".
func (e *Engine) Mode() string {
	if e.interpreter || !compilable() {
		return "interpreted"
	}
	return "compiled"
}

// compilable says whether wazero has a compiler for this system and processor. Without
// one it interprets.
func compilable() bool {
	if !slices.Contains([]string{"linux", "darwin", "freebsd", "netbsd", "windows"}, runtime.GOOS) {
		return false
	}
	return runtime.GOARCH == "arm64" || runtime.GOARCH == "amd64" && cpu.X86.HasSSE41
}

// wasmRuntime is wazero's, with the functions that modules may import.
type wasmRuntime struct {
	wazero.Runtime
	cache   wazero.CompilationCache // nil if nothing is kept
	exports exports
}

// exports are the functions that can be imported, by module and name.
type exports map[string]map[string]api.FunctionDefinition

// features are those of WebAssembly 2.0, which internal/wasmbin knows.
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

// runtime starts one of the two on first use.
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
			directory = "" // compiling takes longer then
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

// compile compiles a module that has been rewritten. Kept code may be damaged, and the
// disk may be full: then it compiles without keeping. Only trusted code is compiled by
// several threads: a panic of the compiler in one of them would end the process.
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
			return nil, nil, run.Errorf(run.Invalid, "not a module that can be run: %w", FirstLine(err))
		}
	}
	return nil, nil, nil // not reached: the second try returns
}

// Close is for when no guest runs, and none will.
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

// FirstLine is wazero's error without the stack trace of its own code.
func FirstLine(err error) error {
	text, _, _ := strings.Cut(err.Error(), "\n")
	return fmt.Errorf("%s", text)
}

// Recover, deferred, makes a panic of wazero an error: it runs untrusted code, and a
// defect of it must not end the whole process.
func Recover(err *error) {
	if value := recover(); value != nil {
		*err = run.Wrap(run.Internal, &Error{value})
	}
}

// Error is a failure of the engine, and not the end of a guest.
type Error struct{ panicked any }

func (e *Error) Error() string {
	return fmt.Sprintf("the engine for WebAssembly failed: %v", e.panicked)
}
