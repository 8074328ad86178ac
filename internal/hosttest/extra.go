package hosttest

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// An Extra is something that takes long to set up and that most contributors do not
// have: `scripts/setup test-all` sets it up.
type Extra string

// The extras, each with what NeedsExtra returns for it.
const (
	PythonWasm      Extra = "CPython for WebAssembly"               // python-wasm.zip
	PythonWasmTests Extra = "CPython's own tests for WebAssembly"   // python-wasm-tests.zip
	Clang           Extra = "clang-16, which compiles for WASI"     // the program
	Node            Extra = "Node.js"                               // the program, where guests find it
	NPM             Extra = "npm"                                   // likewise
	NodeClients     Extra = "the MCP clients and validator of Node" // the directory
	PythonClient    Extra = "the MCP client of Python"              // the virtual environment, which has matplotlib
	Frameworks      Extra = "the agent frameworks"                  // the virtual environment
	Wine            Extra = "Wine"                                  // the directory of the prefix
	Groff           Extra = "groff"                                 // the program
	APIDiff         Extra = "apidiff"                               // the program
	Runsc           Extra = "gVisor's runsc"                        // the program
	PythonMusl      Extra = "CPython for musl"                      // the program
	OtherPythons    Extra = "every CPython of this host"            // nothing: it only takes time
)

// find returns the path of an extra, or "" if it is not set up.
func (e Extra) find() string {
	switch e {
	case PythonWasm:
		return cmp.Or(os.Getenv("CORDON_PYTHON_WASM"), inCache("python-wasm", "python-wasm.zip"))
	case PythonWasmTests:
		return inCache("python-wasm", "python-wasm-tests.zip")
	case Clang:
		return FindProgram("clang-16")
	case Node:
		return FindProgram("node")
	case NPM:
		return FindProgram("npm")
	case Groff:
		return FindProgram("groff")
	case APIDiff:
		return inCache("bin", "apidiff")
	case NodeClients:
		return os.Getenv("CORDON_TEST_NODE")
	case PythonClient:
		return os.Getenv("CORDON_TEST_MCP")
	case Frameworks:
		return os.Getenv("CORDON_TEST_FRAMEWORKS")
	case Wine:
		return os.Getenv("CORDON_TEST_WINE")
	case Runsc:
		return cmp.Or(os.Getenv("CORDON_RUNSC"), inCache("runsc", "runsc"))
	case PythonMusl:
		return inCache("python-musl", "root", "opt", "python-musl", "bin", "python3.11")
	case OtherPythons:
		return "/"
	}
	return ""
}

// extrasVariable decides about tests that need an extra: "none" skips them, which
// `make test` does; "all" fails those whose extra is missing, which `make test-all`
// does. Without it they run where their extra is set up.
const extrasVariable = "CORDON_TEST_EXTRAS"

// LeftToTestAll ends the reason of each skip by NeedsExtra. scripts/testreport counts
// these skips.
const LeftToTestAll = ": make test-all runs it"

// FindExtra returns the path of an extra, or "" where tests do without it. In
// `make test-all` a missing extra is an error.
func FindExtra(e Extra) (string, error) {
	switch mode, path := os.Getenv(extrasVariable), e.find(); {
	case mode == "none":
		return "", nil
	case mode == "all" && path == "":
		return "", fmt.Errorf("%s is not set up: run scripts/setup test-all, and start the tests with scripts/test", e)
	default:
		return path, nil
	}
}

// NeedsExtra returns the path of an extra. Where tests do without the extra, it skips the
// test.
func NeedsExtra(t testing.TB, e Extra) string {
	t.Helper()
	path, err := FindExtra(e)
	if err != nil {
		t.Fatal(err)
	}
	if path == "" {
		t.Skip("needs " + string(e) + LeftToTestAll)
	}
	return path
}

// inCache returns the path of a file in .cache of the checkout, or "" if it is not there.
func inCache(elements ...string) string {
	path := filepath.Join(append([]string{checkout(), ".cache"}, elements...)...)
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}

// checkout returns the directory of go.mod. Tests start in that of their package.
var checkout = sync.OnceValue(func() string {
	start, err := os.Getwd()
	if err != nil {
		return ""
	}
	for dir := start; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
	}
	return start
})
