package hostpath

import (
	"os"
	"path/filepath"
	"slices"
)

// Guests are the directories and files, by their real paths, that a guest of this or an
// earlier run could have written. Nothing in them is executed unless the user names it.
type Guests []string

// Writable returns the current directory, in which most commands work, and what is
// granted: workspaces and the policy's write grants.
func Writable(granted ...string) Guests {
	cwd, err := os.Getwd()
	if err != nil { // it was removed: nothing is below it
		cwd = ""
	}
	return guestsOf(cwd, Homes(), granted)
}

// guestsOf leaves out the current directory if it cannot be a workspace: the root, a home
// directory or one above it, a tree of the system. Otherwise no installed program could
// be used there. Only its path decides, not its content: a guest could make its workspace
// look like a home.
func guestsOf(cwd string, homes, granted []string) Guests {
	var all Guests
	if cwd = real(cwd); cwd != "" {
		holdsHome := slices.ContainsFunc(homes, func(home string) bool { return Under(home, cwd) })
		if cwd != "/" && !holdsHome && !IsHome(cwd, homes) && !IsSystem(cwd) {
			all = append(all, cwd)
		}
	}
	for _, name := range granted {
		if name = real(name); name != "" && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// real returns the path without links, as far as it can be resolved.
func real(name string) string {
	if name == "" {
		return ""
	}
	if abs, err := filepath.Abs(name); err == nil {
		name = abs
	}
	if resolved, err := filepath.EvalSymlinks(name); err == nil {
		name = resolved
	}
	return fold(filepath.ToSlash(name))
}

// Hold reports whether a guest could have decided what is at a path: through the file
// itself, a directory above it, or a link on the way to it. The arguments are the results
// of Resolve. It returns the directory.
func (g Guests) Hold(real string, met []Link) (dir string, held bool) {
	for _, dir := range g {
		if Under(fold(real), dir) || slices.ContainsFunc(met, func(l Link) bool { return Under(fold(l.At), dir) }) {
			return dir, true
		}
	}
	return "", false
}

// HoldPath is Hold for a path of this host. A path that cannot be resolved is held, since
// anything may appear there.
func (g Guests) HoldPath(name string) (dir string, held bool) {
	p, err := follow(name)
	if err != nil {
		return name, true
	}
	return p.In(g)
}
