package runsc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cordon-sandbox/cordon/internal/hostpath"
)

const (
	// Name is the program's file name.
	Name = "runsc"
	// Variable is the environment variable with its path.
	Variable = "CORDON_RUNSC"
)

// Find returns the program: the one that the environment names, the one beside this
// program, or the first on PATH that guests could not have written. Whoever could replace the
// one beside cordon could replace cordon.
func Find(guests hostpath.Guests) (hostpath.Program, error) {
	executable, err := os.Executable()
	if err != nil {
		executable = "" // then it is not searched for beside it
	}
	return find(os.Getenv(Variable), executable, guests)
}

func find(named, executable string, guests hostpath.Guests) (hostpath.Program, error) {
	if named != "" {
		if !filepath.IsAbs(named) {
			return hostpath.Program{}, fmt.Errorf("%s=%s: write an absolute path", Variable, named)
		}
		p, err := hostpath.ProgramAt(named)
		if err != nil {
			err = fmt.Errorf("%s=%s: %w", Variable, named, err)
		}
		return p, err
	}
	if executable != "" {
		// If the program is a link, use the directory of its target.
		if real, err := filepath.EvalSymlinks(executable); err == nil {
			executable = real
		}
		p, err := hostpath.ProgramAt(filepath.Join(filepath.Dir(executable), Name))
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return p, err
		}
	}
	p, err := hostpath.FindProgram(Name, guests)
	if err != nil {
		return p, fmt.Errorf("gVisor is not installed: %w; `make runsc` builds it beside cordon, the release has it as an archive of its own, and %s names one elsewhere", err, Variable)
	}
	return p, nil
}
