//go:build !windows

package interpreter

import (
	"path"
	"slices"

	"github.com/cordon-sandbox/cordon/internal/hostpath"
	"github.com/cordon-sandbox/cordon/run"
)

// examineGuestWritable examines a virtual environment in a directory where guests may
// write, most often that of their project. They could have changed its pyvenv.cfg and its
// python, so neither may select the executed program: the base must be an interpreter that
// the search would accept on its own. Only guests import the environment's packages.
func (h *host) examineGuestWritable(found, real, dir string, env venv) (Interpreter, error) {
	base, err := env.base(h.fsys, found, real)
	if err != nil {
		return Interpreter{}, err
	}
	start, err := readHead(h.fsys, base, 4)
	if err != nil || kindOf(start) != program || !h.accepts(base) {
		return Interpreter{}, run.Errorf(run.NotExecutable,
			"%s belongs to a virtual environment in %s, where guests may write, and cordon would not use its base %s on its own: "+
				"if you trust it, name it (--python %s)", found, dir, base, found)
	}
	return h.examineBase(found, base, env)
}

// splitPackages separates the package directories that guests may write. It drops a link
// there to another directory, because a guest who made it would choose what is mounted.
func (h *host) splitPackages(packages []string) (kept, guestWritable []string) {
	for _, dir := range packages {
		real, met, err := resolve(h.fsys, dir)
		if _, held := h.guests.Hold(real, met); err == nil && held {
			if _, inside := h.guests.Hold(real, nil); !inside {
				continue
			}
			guestWritable = append(guestWritable, dir)
		}
		kept = append(kept, dir)
	}
	return kept, guestWritable
}

// knownTrees contain installed interpreters, in addition to the trees of the system and
// of version managers.
var knownTrees = []string{"/opt/homebrew", "/opt/local", "/opt/conda", "/opt/python", "/opt/hostedtoolcache", "/Applications"}

// accepts reports whether the search would use a real binary on its own: from a tree of
// the system or of a version manager, or from PATH, and not from a directory where guests
// may write.
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
