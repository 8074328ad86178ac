package interpreter

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cordon-sandbox/cordon/internal/hostpath"
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
	// Stdlib is the standard library's directory.
	Stdlib string
	// Packages are the directories of installed packages that exist, in the order
	// of sys.path; a virtual environment's come first.
	Packages []string
	// SysPath is what sys.path must be inside.
	SysPath []string
	// VirtualEnv is the root of the virtual environment, or empty.
	VirtualEnv string
	// Unvouched are the directories of SysPath that a guest could have written.
	// Guests may import from them, as they could from their workspace; nothing
	// that cordon starts before the walls stand does.
	Unvouched []string
}

// TrustedPath is sys.path for what runs before a guest: SysPath without the
// directories that a guest could have written.
func (i Interpreter) TrustedPath() []string {
	return slices.DeleteFunc(slices.Clone(i.SysPath), func(dir string) bool { return slices.Contains(i.Unvouched, dir) })
}

// String names the interpreter for people.
func (i Interpreter) String() string {
	return fmt.Sprintf("CPython %d.%d (%s)", i.Version[0], i.Version[1], i.Path)
}

// Search says which interpreter is wanted.
type Search struct {
	// Python is a path, a name on PATH, or empty for the best that the host
	// has. A path is the user's word: it is used wherever it lies.
	Python string
	// Guests are where guests may write. What is found there by searching is
	// not executed; a virtual environment there supplies packages at most.
	Guests hostpath.Guests
}

// Find looks for an interpreter. It starts nothing. Its errors are of class
// run.NotFound, run.NotExecutable or run.Unsupported (too old, not CPython,
// nothing that can be read).
func Find(s Search) (Interpreter, error) {
	i, err := find(s)
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
