package hostpath

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Program is a program of the host, found by its name.
type Program struct {
	// Path is real: no component of it is a symbolic link.
	Path string
	met  []Link
}

// In reports whether a guest could have replaced the program, and returns the directory in
// which it could write.
func (p Program) In(g Guests) (dir string, held bool) { return g.Hold(filepath.ToSlash(p.Path), p.met) }

// ProgramAt returns the program with this absolute path.
func ProgramAt(path string) (Program, error) {
	p, err := follow(path)
	if err == nil && !isProgram(p.Path) {
		err = fmt.Errorf("%s is not a program", path)
	}
	return p, err
}

// FindProgram searches for a program along PATH. Unlike exec.LookPath it skips relative
// entries and programs that a guest could have put there. It resolves all links, so that
// none can change before the program is started.
func FindProgram(name string, guests Guests) (Program, error) {
	return findProgram(os.Getenv("PATH"), name, guests)
}

func findProgram(searched, name string, guests Guests) (Program, error) {
	if name != filepath.Base(name) {
		return Program{}, fmt.Errorf("%s is a path, not the name of a program", name)
	}
	passed := ""
	for _, dir := range filepath.SplitList(searched) {
		if !filepath.IsAbs(dir) {
			continue
		}
		candidate := filepath.Join(dir, name)
		p, err := follow(candidate)
		if err != nil || !isProgram(p.Path) {
			continue
		}
		if dir, held := p.In(guests); held {
			passed += fmt.Sprintf("; %s was skipped, because guests may write to %s", candidate, dir)
			continue
		}
		return p, nil
	}
	return Program{}, fmt.Errorf("%s is in no directory of PATH%s: %w", name, passed, fs.ErrNotExist)
}
