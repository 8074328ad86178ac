package interpreter

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cordon-sandbox/cordon/internal/hostpath"
	"github.com/cordon-sandbox/cordon/run"
)

// Oldest is the oldest supported version of CPython, 3.9.
const Oldest = 9

// Interpreter is a CPython with the paths of its files.
type Interpreter struct {
	// Path is the real binary, absolute, with every symbolic link resolved.
	Path string
	// Found is the path before links were resolved: a shim, a link, or the python of a
	// virtual environment.
	Found string
	// Version is {3, 11}.
	Version [2]int
	// Prefix is the base prefix: "/usr", "/opt/python3.11".
	Prefix string
	// Stdlib is the standard library's directory.
	Stdlib string
	// Packages are the existing directories of installed packages, in the order of
	// sys.path; those of a virtual environment come first.
	Packages []string
	// SysPath is the guest's sys.path.
	SysPath []string
	// VirtualEnv is the root of the virtual environment, or empty.
	VirtualEnv string
	// GuestWritable are the directories of SysPath that a guest could have written.
	// Guests may import from them, as from their workspace. Code that cordon runs
	// before the walls are up does not.
	GuestWritable []string
}

// TrustedPath returns sys.path for code that runs before a guest: SysPath without
// GuestWritable.
func (i Interpreter) TrustedPath() []string {
	return slices.DeleteFunc(slices.Clone(i.SysPath), func(dir string) bool { return slices.Contains(i.GuestWritable, dir) })
}

// String describes the interpreter for messages.
func (i Interpreter) String() string {
	return fmt.Sprintf("CPython %d.%d (%s)", i.Version[0], i.Version[1], i.Path)
}

// Search selects an interpreter.
type Search struct {
	// Python is a path, a name on PATH, or empty for the best one of the host. A path
	// is trusted, even in a directory where guests may write.
	Python string
	// Guests are the directories where guests may write. An interpreter found there by
	// searching is not executed; a virtual environment there only supplies packages.
	Guests hostpath.Guests
}

// Find finds an interpreter without starting any program. Its errors are of class
// run.NotFound, run.NotExecutable or run.Unsupported (too old, not CPython, of an unknown
// kind).
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
