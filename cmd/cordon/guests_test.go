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

// guests are what the scripts about WebAssembly run. They are built when the first of
// those comes, and for all of them.
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

// The compilers are far from each other: nobody has both by chance.
const cCompiler = "clang-16"

func (g *guests) make() error {
	const testdata = "../../internal/backend/wasm/testdata"
	if err := buildGo(filepath.Join(testdata, "guest"), filepath.Join(g.directory, "guest.wasm"), "."); err != nil {
		return err
	}
	if hosttest.FindProgram(cCompiler) == "" {
		return nil
	}
	return buildC(filepath.Join(testdata, "c", "plugin.c"), filepath.Join(g.directory, "plugin.wasm"))
}

func buildGo(directory, to string, arguments ...string) error {
	cmd := exec.Command("go", append([]string{"build", "-o", to}, arguments...)...)
	cmd.Dir = directory
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=")
	return quietly(cmd)
}

// buildC makes a library, whose functions are called.
func buildC(file, to string) error {
	return quietly(exec.Command(cCompiler, "--target=wasm32-wasi", "-O2", "-mexec-model=reactor", "-o", to, file))
}

func quietly(cmd *exec.Cmd) error {
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", cmd, err, out)
	}
	return nil
}

// offer tells a script where they are. What cordon has compiled it finds again.
func (g *guests) offer(env *testscript.Env) error {
	env.Setenv("XDG_CACHE_HOME", filepath.Join(g.directory, "cache"))
	env.Setenv("GUESTS", g.directory)
	if !strings.Contains(filepath.Base(env.WorkDir), "wasm") || testing.Short() {
		return nil
	}
	bundle, err := filepath.Abs("../../.cache/python-wasm/python-wasm.zip")
	env.Setenv("BUNDLE", bundle)
	if err != nil {
		return err
	}
	return g.build()
}

// hasGuests is the condition of scripts that need what scripts/setup brings.
func hasGuests(name string) (bool, error) {
	var there bool
	switch name {
	case "clang":
		there = hosttest.FindProgram(cCompiler) != ""
	case "bundle":
		_, err := os.Stat("../../.cache/python-wasm/python-wasm.zip")
		there = err == nil
	}
	if !there && hosttest.Promised() {
		return false, fmt.Errorf("there is no %s here, and this host is promised to have all", name)
	}
	return there, nil
}
