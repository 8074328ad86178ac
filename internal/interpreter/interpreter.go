package interpreter

import (
	"context"
	"errors"
	"fmt"

	"github.com/cordon-sandbox/cordon/run"
)

// Oldest is the first version of CPython 3 that guests may run on: 3.9.
const Oldest = 9

// Interpreter is one CPython and where its files are.
type Interpreter struct {
	// Path is the real binary, absolute, with every symbolic link resolved.
	Path string
	// Found is what was asked for or met first: a shim, a link, a virtual
	// environment's python.
	Found string
	// Version is {3, 11}.
	Version [2]int
	// Prefix is the base prefix: "/usr", "/opt/python3.11".
	Prefix string
	// Stdlib is the standard library's folder.
	Stdlib string
	// Packages are the folders of installed packages that exist, in the order
	// of sys.path; a virtual environment's come first.
	Packages []string
	// SysPath is what sys.path must be inside.
	SysPath []string
	// VirtualEnv is the root of the virtual environment, or empty.
	VirtualEnv string
}

// String names the interpreter for people.
func (i Interpreter) String() string {
	return fmt.Sprintf("CPython %d.%d (%s)", i.Version[0], i.Version[1], i.Path)
}

// Find looks for an interpreter: at an absolute path, by a name on PATH, or,
// when asked is empty, for the best that the host has. Its errors are of class
// run.NotFound, run.NotExecutable or run.Unsupported (too old, not CPython),
// unless ctx ended first.
func Find(ctx context.Context, asked string) (Interpreter, error) {
	i, err := find(ctx, asked)
	if err != nil && ctx.Err() != nil {
		return Interpreter{}, fmt.Errorf("looking for Python: %w", ctx.Err())
	}
	var broken *brokenShim
	if errors.As(err, &broken) {
		err = broken.err
	}
	return i, err
}

func tooOld(name string, version [2]int) error {
	return run.Errorf(run.Unsupported, "%s is Python %d.%d: cordon needs CPython 3.%d or newer",
		name, version[0], version[1], Oldest)
}

func notCPython(name, implementation string) error {
	return run.Errorf(run.Unsupported, "%s is %s: cordon needs CPython 3.%d or newer", name, implementation, Oldest)
}
