//go:build !windows

package interpreter

import (
	"path"
	"slices"

	"github.com/cordon-sandbox/cordon/internal/hostpath"
	"github.com/cordon-sandbox/cordon/run"
)

// examineUnvouched reads a virtual environment that lies where guests may
// write, most often the one of the project that they work on. They could have
// changed its pyvenv.cfg and its python, so neither chooses what is executed:
// the base must be an interpreter that the search would take by itself. The
// environment's packages are there for guests, and for nobody else.
func (h *host) examineUnvouched(found, real, dir string, env venv) (Interpreter, error) {
	base, err := env.base(h.fsys, found, real)
	if err != nil {
		return Interpreter{}, err
	}
	start, err := readHead(h.fsys, base, 4)
	if err != nil || kindOf(start) != program || !h.accepts(base) {
		return Interpreter{}, run.Errorf(run.NotExecutable,
			"%s belongs to a virtual environment in %s, where guests may write, and its base %s is none that cordon would find by itself: "+
				"if you trust it, name it (--python %s)", found, dir, base, found)
	}
	return h.examineBase(found, base, env)
}

// vouch divides directories of packages. One that guests may write stays, as
// theirs; a link there that leads elsewhere is dropped: whoever made it would
// choose what is mounted.
func (h *host) vouch(packages []string) (kept, theirs []string) {
	for _, dir := range packages {
		real, met, err := resolve(h.fsys, dir)
		if _, held := h.guests.Hold(real, met); err == nil && held {
			if _, inside := h.guests.Hold(real, nil); !inside {
				continue
			}
			theirs = append(theirs, dir)
		}
		kept = append(kept, dir)
	}
	return kept, theirs
}

// knownTrees have interpreters that somebody installed on purpose, beside the
// trees of the system and of version managers.
var knownTrees = []string{"/opt/homebrew", "/opt/local", "/opt/conda", "/opt/python", "/opt/hostedtoolcache", "/Applications"}

// accepts reports whether the search would take a real binary by itself: from a
// tree of the system or of a version manager, or from PATH, and not from where
// guests may write.
func (h *host) accepts(real string) bool {
	if _, held := h.guests.Hold(real, nil); held {
		return false
	}
	if hostpath.IsSystem(real) || slices.ContainsFunc(knownTrees, func(tree string) bool { return hostpath.Under(real, tree) }) {
		return true
	}
	for _, m := range managers {
		if tree, _, err := resolve(h.fsys, m.tree(h)); err == nil && tree != "/" && hostpath.Under(real, tree) {
			return true
		}
	}
	for _, name := range []string{path.Base(real), "python3", "python"} {
		for _, c := range h.onPath(name) {
			if r, met, err := resolve(h.fsys, c); err == nil && r == real {
				if _, held := h.guests.Hold(r, met); !held {
					return true
				}
			}
		}
	}
	return false
}
