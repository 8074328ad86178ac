// Command newest puts the newest CPython into a directory, so that the tests in compat can
// use it before distributions have it:
//
//	CORDON_TEST_PYTHONS=$(go run ./compat/newest .cache/python3.14) go test ./compat
//
// It prints the path of the interpreter. An existing one is kept.
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// The interpreter comes as a Go module because every machine that builds cordon has access
// to a Go module proxy. It is not in go.mod, because users of cordon should not download its
// hundred megabytes.
const (
	module  = "github.com/kluctl/go-embed-python@v0.0.0-3.14.6-20260610-1"
	sum     = "h1:oGUS7++Wm3LgxUfD6AmJgKbKQD2wdQFO9PzyJv6T+E4="
	binary  = "bin/python3.14"
	library = "lib/python3.14"
)

func main() {
	if len(os.Args) != 2 || strings.HasPrefix(os.Args[1], "-") {
		fmt.Fprintln(os.Stderr, "usage: go run ./compat/newest DIR")
		os.Exit(2)
	}
	python, err := install(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "newest:", err)
		os.Exit(1)
	}
	fmt.Fprintln(os.Stdout, python)
}

func install(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	python := filepath.Join(dir, binary)
	if _, err := os.Stat(python); !errors.Is(err, fs.ErrNotExist) {
		return python, err
	}
	source, err := download()
	if err != nil {
		return "", err
	}
	// Extract next to the target and rename at the end: a half-extracted interpreter
	// would fail tests in strange ways.
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return "", err
	}
	half, err := os.MkdirTemp(filepath.Dir(dir), filepath.Base(dir)+".half")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(half)
	// Readable by others: the tests also run as an ordinary user.
	if err := os.Chmod(half, 0o755); err != nil {
		return "", err
	}
	if err := extract(source, half); err != nil {
		return "", err
	}
	if err := os.Rename(half, dir); err != nil {
		return "", err
	}
	// Guests cannot write compiled files next to the sources, so each run would compile
	// what it imports.
	compile := exec.Command(python, "-I", "-m", "compileall", "-q", "-j0", "-x", "/(idlelib|lib2to3|tkinter|turtledemo|ensurepip)/", "--", filepath.Join(dir, library))
	compile.Stdout, compile.Stderr = os.Stderr, os.Stderr
	if err := compile.Run(); err != nil {
		return "", fmt.Errorf("compiling the standard library: %w", err)
	}
	return python, nil
}

// download returns the directory of this platform's files.
func download() (string, error) {
	cmd := exec.Command("go", "mod", "download", "-json", module)
	cmd.Dir = os.TempDir() // outside the checkout, so that its go.mod stays unchanged
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	out, failure := cmd.Output()
	var answer struct{ Dir, Sum, Error string }
	if err := json.Unmarshal(out, &answer); err != nil {
		return "", fmt.Errorf("go mod download %s: %w", module, errors.Join(failure, err))
	}
	switch {
	case answer.Error != "":
		return "", errors.New(answer.Error)
	case answer.Sum != sum:
		return "", fmt.Errorf("%s has the checksum %s, not the expected %s", module, answer.Sum, sum)
	}
	dir := filepath.Join(answer.Dir, "python", "internal", "data", runtime.GOOS+"-"+runtime.GOARCH)
	if _, err := os.Stat(dir); err != nil {
		return "", fmt.Errorf("%s has no interpreter for %s/%s", module, runtime.GOOS, runtime.GOARCH)
	}
	return dir, nil
}

// entry is one file of the module's list. The module zip cannot hold links or modes, and
// keeps large files compressed; the list has the details.
type entry struct {
	Name       string
	Mode       fs.FileMode `json:"perm"`
	Symlink    string
	Compressed bool
}

func extract(source, target string) error {
	data, err := os.ReadFile(filepath.Join(source, "files.json"))
	if err != nil {
		return err
	}
	var list struct{ Files []entry }
	if err := json.Unmarshal(data, &list); err != nil {
		return err
	}
	for _, e := range list.Files {
		if !filepath.IsLocal(e.Name) {
			return fmt.Errorf("%q leads out of the directory", e.Name)
		}
		if err := e.extract(source, target); err != nil {
			return err
		}
	}
	return nil
}

func (e entry) extract(source, target string) error {
	path := filepath.Join(target, e.Name)
	switch {
	case e.Mode.IsDir():
		return os.MkdirAll(path, 0o755)
	case e.Mode.Type() == fs.ModeSymlink:
		return os.Symlink(e.Symlink, path)
	case e.Compressed:
		data, err := os.ReadFile(filepath.Join(source, e.Name+".gz"))
		if err != nil {
			return err
		}
		plain, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return err
		}
		if data, err = io.ReadAll(plain); err != nil {
			return err
		}
		return os.WriteFile(path, data, e.Mode.Perm())
	}
	data, err := os.ReadFile(filepath.Join(source, e.Name))
	if err != nil {
		return err
	}
	return os.WriteFile(path, data, e.Mode.Perm())
}
