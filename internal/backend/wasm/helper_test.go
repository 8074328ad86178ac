package wasm

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/backend/wasm/engine"
	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// built caches the compiled guests of testdata.
var built sync.Map

type guestFile struct {
	once   sync.Once
	binary []byte
	err    error
}

func build(t *testing.T, name string, make func(out string) *exec.Cmd) []byte {
	t.Helper()
	entry, _ := built.LoadOrStore(name, &guestFile{})
	f := entry.(*guestFile)
	f.once.Do(func() {
		directory, err := os.MkdirTemp("", "cordon-guest")
		if err != nil {
			f.err = err
			return
		}
		defer os.RemoveAll(directory)
		out := filepath.Join(directory, "guest.wasm")
		cmd := make(out)
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Logf("%s: %s", cmd, text)
			f.err = err
			return
		}
		f.binary, f.err = os.ReadFile(out)
	})
	if f.err != nil {
		t.Fatalf("%s: %v", name, f.err)
	}
	return f.binary
}

// goGuest returns testdata/guest, compiled with Go.
func goGuest(t *testing.T) []byte {
	t.Helper()
	return build(t, "guest", func(out string) *exec.Cmd {
		cmd := exec.Command("go", "build", "-o", out, ".")
		cmd.Dir = filepath.Join("testdata", "guest")
		cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=")
		return cmd
	})
}

// cGuest returns a file of testdata/c, compiled with clang and wasi-libc.
func cGuest(t *testing.T, name string, flags ...string) []byte {
	t.Helper()
	compiler := hosttest.NeedsExtra(t, hosttest.Clang)
	return build(t, name, func(out string) *exec.Cmd {
		arguments := append([]string{"--target=wasm32-wasi", "-O2", "-o", out, filepath.Join("testdata", "c", name)}, flags...)
		return exec.Command(compiler, arguments...)
	})
}

// onBoth runs a test with the compiler and with the interpreter.
func onBoth(t *testing.T, test func(t *testing.T, options Options)) {
	t.Helper()
	for name, interpreter := range map[string]bool{"compiler": false, "interpreter": true} {
		if interpreter && testing.Short() {
			continue
		}
		t.Run(name, func(t *testing.T) { test(t, Options{Interpreter: interpreter, Cache: testCache}) })
	}
}

// testCache is the cache of compiled code, kept between test runs: compiling CPython takes
// seconds, and with the race detector a minute.
var testCache string

func TestMain(m *testing.M) {
	directory, err := filepath.Abs("../../../.cache/wasm")
	if err == nil {
		err = os.MkdirAll(directory, 0o700)
	}
	if err == nil {
		err = engine.OwnAlone(directory)
	}
	done := func() error { return nil }
	if err != nil { // the checkout belongs to another user
		if directory, err = os.MkdirTemp("", "cordon-cache"); err != nil {
			panic(err)
		}
		done = func() error { return os.RemoveAll(directory) }
	}
	testCache = directory
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if err := done(); err != nil {
			code = max(code, 1)
		}
		os.Exit(code)
	}))
}

// bench is a backend for a test.
type bench struct {
	*testing.T
	*Backend
}

func newBench(t *testing.T, options Options) bench {
	t.Helper()
	b, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return bench{t, b}
}

func (b bench) open(binary []byte) *Module {
	b.Helper()
	m, err := b.OpenModule(b.Context(), binary)
	if err != nil {
		b.Fatal(err)
	}
	return m
}

// jobOf returns a job for a module, with all limits set.
func jobOf(m *Module, req run.Request) backend.Job {
	req.Module.Module = m
	return backend.Job{Request: req, Limits: req.Limits.Or(policy.DefaultLimits()), OnOutputLimit: req.OnOutputLimit}
}

func (b bench) run(m *Module, req run.Request) run.Result {
	b.Helper()
	return b.runIn(b.Context(), m, req)
}

func (b bench) runIn(ctx context.Context, m *Module, req run.Request) run.Result {
	b.Helper()
	job := jobOf(m, req)
	s, err := b.Open(b.Context(), job) // ctx is for the run
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	r, err := s.Run(ctx, job)
	if err != nil {
		b.Fatal(err)
	}
	return r
}

// expect checks the outcome of a run and words of its message.
func expect(t *testing.T, r run.Result, outcome run.Outcome, words string) {
	t.Helper()
	if r.Outcome != outcome || !strings.Contains(r.Stdout+r.Stderr+r.Error, words) {
		t.Errorf("%s: %s; stdout %.200q stderr %.200q; want %s with %q", r.Outcome, r.Error, r.Stdout, r.Stderr, outcome, words)
	}
}

const short = 300 * time.Millisecond
