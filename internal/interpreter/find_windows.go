package interpreter

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/cordon-sandbox/cordon/run"
)

// find asks the interpreter: on Windows the version is in no folder's name,
// and launchers (py.exe, the Store's) are no links that one could follow.
func find(ctx context.Context, asked string) (Interpreter, error) {
	names := []string{asked}
	if asked == "" {
		names = []string{"python3", "python", "py"}
	}
	var first error
	for _, name := range names {
		i, err := askWindows(ctx, name)
		if err == nil {
			return i, nil
		}
		if first == nil {
			first = err
		}
	}
	return Interpreter{}, first
}

func askWindows(ctx context.Context, name string) (Interpreter, error) {
	found, err := exec.LookPath(name)
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return Interpreter{}, run.Errorf(run.NotFound, "%s was not found: name a python.exe, install Python 3.%d or newer, or use --tier wasm, which has its own", name, Oldest)
	} else if err != nil {
		return Interpreter{}, run.Errorf(run.NotExecutable, "%s cannot be run: %w", name, err)
	}
	if found, err = filepath.Abs(found); err != nil {
		return Interpreter{}, run.Wrap(run.Internal, err)
	}
	f, err := asker{environ: os.Environ(), limit: askTime}.ask(ctx, found)
	if err != nil {
		return Interpreter{}, run.Errorf(run.NotExecutable, "%s is not a Python that works: %w", found, err)
	}
	if err := f.check(found); err != nil {
		return Interpreter{}, err
	}
	// The python.exe of a virtual environment starts another: ours may not.
	real, err := filepath.EvalSymlinks(f.Base)
	if err != nil {
		real = f.Base
	}
	i := Interpreter{Path: real, Found: found, Version: f.Version, Prefix: f.Prefix, Stdlib: f.Stdlib}
	for _, dir := range f.Path {
		if _, err := os.Stat(dir); dir != "" && err == nil {
			i.SysPath = append(i.SysPath, dir)
		}
	}
	site := filepath.Join(f.Stdlib, "site-packages")
	if _, err := os.Stat(site); err == nil {
		i.Packages = []string{site}
		i.SysPath = append(i.SysPath, site)
	}
	return i, nil
}
