package hostpath

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Program is a program of the host that was found by its name.
type Program struct {
	// Path is real: no component of it is a symbolic link.
	Path string
	met  []Link
}

// In reports whether a guest could have decided what the program is, and in
// which directory.
func (p Program) In(g Guests) (dir string, held bool) { return g.Hold(filepath.ToSlash(p.Path), p.met) }

// FindProgram looks for a program along PATH. Unlike exec.LookPath it takes
// nothing from relative entries, nor anything that guests could have put there,
// and it follows all links, so that none can be changed before the program is
// started.
func FindProgram(name string, guests Guests) (Program, error) {
	return findProgram(os.Getenv("PATH"), name, guests)
}

func findProgram(searched, name string, guests Guests) (Program, error) {
	if name != filepath.Base(name) {
		return Program{}, fmt.Errorf("%s is a path, not a program's name", name)
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
		if place, held := p.In(guests); held {
			passed += fmt.Sprintf("; %s was passed over, because guests may write to %s", candidate, place)
			continue
		}
		return p, nil
	}
	return Program{}, fmt.Errorf("%s is in no directory of PATH%s: %w", name, passed, fs.ErrNotExist)
}
