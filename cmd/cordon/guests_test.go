package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
)

// guests are the modules that the scripts about WebAssembly run. The first of those
// scripts builds them for all.
type guests struct {
	directory string
	build     func() error
}

func newGuests(t *testing.T) *guests {
	t.Helper()
	g := &guests{directory: t.TempDir()}
	g.build = sync.OnceValue(g.make)
	return g
}

func (g *guests) make() error {
	const testdata = "../../internal/backend/wasm/testdata"
	if err := buildGo(filepath.Join(testdata, "guest"), filepath.Join(g.directory, "guest.wasm"), "."); err != nil {
		return err
	}
	clang, err := hosttest.FindExtra(hosttest.Clang)
	if err != nil || clang == "" {
		return err
	}
	return buildC(clang, filepath.Join(testdata, "c", "plugin.c"), filepath.Join(g.directory, "plugin.wasm"))
}

func buildGo(directory, to string, arguments ...string) error {
	cmd := exec.Command("go", append([]string{"build", "-o", to}, arguments...)...)
	cmd.Dir = directory
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=")
	return runCommand(cmd)
}

// buildC builds a library whose functions are called.
func buildC(clang, file, to string) error {
	return runCommand(exec.Command(clang, "--target=wasm32-wasi", "-O2", "-mexec-model=reactor", "-o", to, file))
}

// runCommand runs cmd; an error includes its output.
func runCommand(cmd *exec.Cmd) error {
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", cmd, err, out)
	}
	return nil
}

// offer passes their paths to a script, and a cache for what cordon compiles.
func (g *guests) offer(env *testscript.Env) error {
	env.Setenv("XDG_CACHE_HOME", filepath.Join(g.directory, "cache"))
	env.Setenv("GUESTS", g.directory)
	if !strings.Contains(filepath.Base(env.WorkDir), "wasm") || testing.Short() {
		return nil
	}
	bundle, err := hosttest.FindExtra(hosttest.PythonWasm)
	if err != nil {
		return err
	}
	env.Setenv("BUNDLE", bundle)
	return g.build()
}

// hasExtra is the condition of scripts that need an extra.
func hasExtra(e hosttest.Extra) (bool, error) {
	path, err := hosttest.FindExtra(e)
	return path != "", err
}
