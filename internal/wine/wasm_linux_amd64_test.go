package wine

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
)

// TestScriptsOnWasm runs scripts with CPython on WebAssembly under the default policy: this tier
// needs no walls of the operating system.
func TestScriptsOnWasm(t *testing.T) {
	hosttest.OnlyLong(t, "it compiles CPython first, which is the same as on Linux")
	w := setUp(t)
	hosttest.NeedsExtra(t, hosttest.PythonWasm)
	script := func(args ...string) []string { return append([]string{"run", "--tier", "wasm"}, args...) }
	for _, c := range []struct {
		name           string
		args           []string
		code           int
		stdout, stderr string
	}{
		{"script", script("-v", "result", "-c", "result = sum(range(10))"), 0, "result = 45", ""},
		{"exception", script("-c", "1 / 0"), 1, "", "ZeroDivisionError"},
		{"endless loop", script("-t", "1s", "-c", "while True: pass"), 124, "", "wall time limit of 1s"},
		{"sleep", script("-t", "1s", "-c", "import time; time.sleep(60)"), 124, "", "wall time limit of 1s"},
		{"too much memory", script("-m", "64MiB", "-c", "x = bytearray(200 << 20)"), 137, "", "memory limit of 64MiB"},
		{"no host files", script("-c", "open('C:/windows/win.ini')"), 1, "", "No such file"},
		{"no network", script("-c", "import socket; socket.socket()"), 1, "", "has no network"},
		{"language rules", script("--restricted", "-c", "import os"), 1, "", "import"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w.run(t, "", w.cordon, c.args...).check(t, c.code, c.stdout, c.stderr)
		})
	}
}

// TestSessionsOnWasm saves and loads a session, and checks that a corrupted one is refused.
func TestSessionsOnWasm(t *testing.T) {
	hosttest.OnlyLong(t, "it compiles CPython first, which is the same as on Linux")
	w := setUp(t)
	hosttest.NeedsExtra(t, hosttest.PythonWasm)
	session := filepath.Join(t.TempDir(), "s.snap")
	load := []string{"run", "--tier", "wasm", "--load", winePath(session), "-v", "result", "-c", "result = x + 1"}
	w.run(t, "", w.cordon, "run", "--tier", "wasm", "--save", winePath(session), "-c", "x = 41").check(t, 0, "", "")
	w.run(t, "", w.cordon, load...).check(t, 0, "result = 42", "")
	corrupt(t, session)
	w.run(t, "", w.cordon, load...).check(t, 2, "", "s.snap")
}

// corrupt flips one bit of a file.
func corrupt(t *testing.T, name string) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	text[100000] ^= 1
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestModulesOnWasm runs a module and checks its arguments, its grants and its fuel limit.
func TestModulesOnWasm(t *testing.T) {
	w := setUp(t)
	directory := t.TempDir()
	for name, text := range map[string]string{"data/a.txt": "inside", "b.txt": "outside"} {
		path := filepath.Join(directory, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	module := filepath.Join(directory, "cat.wasm")
	build := exec.Command("go", "build", "-o", module, "./testdata/cat")
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	granted := []string{"wasm", "--read", "data"}
	for _, c := range []struct {
		name           string
		flags          []string
		file           string
		code           int
		stdout, stderr string
	}{
		{"granted file", granted, "data/a.txt", 0, "inside", ""},
		{"file outside the grant", granted, "b.txt", 1, "", ""},
		{"path that leaves the grant", granted, "data/../b.txt", 1, "", ""},
		{"no grant", []string{"wasm"}, "data/a.txt", 1, "", ""},
		{"out of fuel", []string{"wasm", "--fuel", "1000"}, "data/a.txt", 137, "", "limit of 1k instructions"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w.runIn(t, directory, "", w.cordon, append(c.flags, "cat.wasm", "--", c.file)...).check(t, c.code, c.stdout, c.stderr)
		})
	}
}
