//go:build !windows

package interpreter

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/cordon-sandbox/cordon/internal/hostpath"
	"github.com/cordon-sandbox/cordon/run"
)

func find(s Search) (Interpreter, error) {
	cwd, _ := os.Getwd()
	h := &host{fsys: newMemo(os.DirFS("/")), getenv: os.Getenv, cwd: cwd, system: runtime.GOOS, guests: s.Guests}
	return h.find(s.Python)
}

// find is Find for a given host.
func (h *host) find(asked string) (Interpreter, error) {
	switch {
	case strings.ContainsRune(asked, 0):
		return Interpreter{}, run.Errorf(run.Invalid, "%q is not a path: it has a NUL byte", asked)
	case asked == "":
		return h.search()
	case path.IsAbs(asked):
		return h.explicit().examine(path.Clean(asked))
	case strings.Contains(asked, "/"):
		return h.explicit().examine(path.Join(h.cwd, asked))
	}
	return h.findOnPath(asked)
}

// explicit returns a copy of h for a file that the user names: it trusts every directory.
func (h *host) explicit() *host {
	all := *h
	all.guests = nil
	return &all
}

// findOnPath returns the first match on PATH, as a shell would. It skips only shims without
// a target: pyenv puts shims on PATH for versions that are not active, and the intended
// Python comes after them.
func (h *host) findOnPath(name string) (Interpreter, error) {
	var first error
	candidates := h.onPath(name)
	if n := slices.IndexFunc(candidates, func(c string) bool { return isExecutable(h.fsys, c) }); n > 0 {
		candidates = candidates[n:]
	}
	for _, found := range candidates {
		i, err := h.examine(found)
		var broken *brokenShim
		if !errors.As(err, &broken) {
			return i, err
		}
		if first == nil {
			first = err
		}
	}
	if first == nil {
		first = run.Errorf(run.NotFound, "%s is not on PATH: give the path of a Python, such as /usr/bin/python3", name)
	}
	return Interpreter{}, first
}

// usualDirs are the directories to search if PATH has no Python, as in a service.
var usualDirs = []string{"/usr/bin", "/usr/local/bin"}

// newestKnown is the N at which the search for python3.N starts, far in the future.
const newestKnown = 29

// search returns the first suitable candidate, or an error with the reasons for refusing
// each.
func (h *host) search() (Interpreter, error) {
	var tried, reasons []string
	try := func(candidates []string) (Interpreter, bool) {
		for _, c := range candidates {
			real, met, err := resolve(h.fsys, c)
			_, held := h.guests.Hold(real, met)
			if _, python := parseName(path.Base(real)); err != nil || !python || held {
				// The shims of a version manager share one binary, so compare their
				// own paths.
				real = c
			}
			if isMissing(err) && len(met) == 0 || slices.Contains(tried, real) {
				continue
			}
			i, err := h.examine(c)
			if err == nil {
				return i, true
			}
			tried = append(tried, real)
			reasons = append(reasons, err.Error())
		}
		return Interpreter{}, false
	}
	if i, ok := try(h.onPath("python3")); ok {
		return i, nil
	}
	for minor := newestKnown + 1; minor >= Oldest; minor-- {
		name := "python3." + strconv.Itoa(minor)
		var candidates []string
		if minor > newestKnown {
			name = "python3"
		} else {
			candidates = h.onPath(name)
		}
		for _, dir := range h.usualDirectories() {
			candidates = append(candidates, path.Join(dir, name))
		}
		if i, ok := try(candidates); ok {
			return i, nil
		}
	}
	const help = "install Python 3.9 or newer, or name one (--python PATH)"
	if len(reasons) == 0 {
		return Interpreter{}, run.Errorf(run.NotFound, "no Python was found on PATH, in /usr/bin or in /usr/local/bin: %s", help)
	}
	return Interpreter{}, run.Errorf(run.NotFound, "no suitable Python was found: %s. Skipped: %s", help, strings.Join(reasons, "; "))
}

// onPath lists all files of this name on PATH, including those that are not executable, so
// that the error can say why. It skips relative entries, because a guest may have written
// the current directory.
func (h *host) onPath(name string) []string {
	var all []string
	for dir := range strings.SplitSeq(h.getenv("PATH"), ":") {
		if !path.IsAbs(dir) {
			continue
		}
		c := path.Join(dir, name)
		if _, err := fs.Lstat(h.fsys, inFS(c)); err == nil && !slices.Contains(all, c) {
			all = append(all, c)
		}
	}
	return all
}

// examine determines what a file is, and reads the files around it. It does not start the
// file, which could be any program.
func (h *host) examine(found string) (Interpreter, error) {
	real, met, err := resolve(h.fsys, found)
	if err != nil {
		return Interpreter{}, explainMissing(found, real, met, err)
	}
	if err := h.checkFile(found, real); err != nil {
		return Interpreter{}, err
	}
	env, isVenv := findVenv(h.fsys, found)
	if dir, held := h.guests.Hold(real, met); held {
		if isVenv {
			return h.examineGuestWritable(found, real, dir, env)
		}
		return Interpreter{}, guestWritableError(found, dir)
	}
	switch base := path.Base(real); {
	case strings.HasPrefix(base, "pypy"):
		return Interpreter{}, notCPython(found, "PyPy")
	case strings.HasPrefix(base, "graalpy"):
		return Interpreter{}, notCPython(found, "GraalPy")
	}
	start, err := readHead(h.fsys, real, 4<<10)
	if err != nil {
		return Interpreter{}, run.Errorf(run.NotExecutable, "%s cannot be read: %w", found, err)
	}
	if target, isShim, err := h.behindShim(found, real, start); err != nil {
		return Interpreter{}, err
	} else if isShim {
		i, err := h.examineTarget(target)
		i.Found = found
		return i, err
	}
	switch kindOf(start) {
	case program:
		return h.examineProgram(found, real, env)
	case script:
		return Interpreter{}, unreadable(found, "is a script of an unknown kind")
	}
	if len(start) == 0 {
		return Interpreter{}, run.Errorf(run.NotExecutable, "%s is an empty file, not a Python", found)
	}
	return Interpreter{}, run.Errorf(run.NotExecutable, "%s is neither a program nor a script: give the path of a Python binary", found)
}

// behindShim returns the program that a shim would start, from the files that the shim
// would read.
func (h *host) behindShim(found, real string, start []byte) (target string, isShim bool, err error) {
	if h.system == "darwin" && real == appleStub {
		target, err = h.behindStub()
		return target, true, err
	}
	m, root, ok := h.managerOf(found, real, start)
	if !ok {
		return "", false, nil
	}
	if target, err = m.target(h, root, path.Base(found)); err != nil {
		err = &brokenShim{run.Errorf(run.NotExecutable, "%s is a shim without a Python: %w", found, err)}
	}
	return target, true, err
}

// examineTarget is examine for the target of a shim. It does not follow a second shim, so
// that two shims that name each other do not loop.
func (h *host) examineTarget(target string) (Interpreter, error) {
	real, _, err := resolve(h.fsys, target)
	if err != nil {
		return Interpreter{}, explainMissing(target, real, nil, err)
	}
	if start, err := readHead(h.fsys, real, 4); err == nil && kindOf(start) == script {
		return Interpreter{}, unreadable(target, "is a script behind a shim")
	}
	return h.examine(target)
}

// examineProgram finds the landmarks around a binary.
func (h *host) examineProgram(found, real string, env venv) (Interpreter, error) {
	if env.root != "" {
		base, err := env.base(h.fsys, found, real)
		if err != nil {
			return Interpreter{}, err
		}
		real = base
	}
	return h.examineBase(found, real, env)
}

// examineBase finds the landmarks around the binary that will be executed.
func (h *host) examineBase(found, real string, env venv) (Interpreter, error) {
	if dir, held := h.guests.Hold(real, nil); held {
		return Interpreter{}, guestWritableError(real, dir)
	}
	if n, ok := parseName(path.Base(real)); ok && n.major != 3 {
		return Interpreter{}, tooOld(found, [2]int{n.major, max(n.minor, 0)})
	}
	l, err := findLayout(h.fsys, real)
	if errors.Is(err, errAmbiguous) {
		// A file that is not ELF has no needed libraries.
		o, _ := elfReader(h.fsys)(real)
		l, err = layoutByLibrary(h.fsys, real, o.needed)
	}
	if err != nil {
		return Interpreter{}, unreadable(found, fmt.Sprintf("does not show which Python it is (%v)", err))
	}
	if stdlib, met, err := resolve(h.fsys, l.stdlib); err == nil {
		if dir, held := h.guests.Hold(stdlib, met); held {
			return Interpreter{}, guestWritableError(l.stdlib, dir)
		}
	}
	return h.assemble(found, real, l, env)
}

// unreadable returns the error for a file whose Python only a start could reveal.
func unreadable(found, why string) error {
	return &brokenShim{run.Errorf(run.NotExecutable,
		"%s %s, and cordon does not start it to find out: give the path of the Python itself (--python PATH); "+
			"%s -c 'import sys; print(sys.executable)' prints it", found, why, found)}
}

// guestWritableError returns the error for a file that a guest could have written.
func guestWritableError(found, dir string) error {
	return run.Errorf(run.NotExecutable,
		"%s is not started, because guests may write to %s: if you trust it, name it (--python %s)", found, dir, found)
}

// assemble builds the Interpreter and checks its version.
func (h *host) assemble(found, real string, l layout, env venv) (Interpreter, error) {
	if l.version[0] != 3 || l.version[1] < Oldest {
		return Interpreter{}, tooOld(found, l.version)
	}
	packages := l.basePackages(h.fsys)
	if env.root != "" {
		packages = env.packages(h.fsys, l)
	}
	packages, guestWritable := h.splitPackages(packages)
	return Interpreter{
		Path: real, Found: found, Version: l.version, Prefix: l.prefix, Stdlib: l.stdlib,
		Packages: packages, SysPath: l.sysPath(h.fsys, packages), VirtualEnv: env.root, GuestWritable: guestWritable,
	}, nil
}

// checkFile checks that a file is executable. Its error says what to do.
func (h *host) checkFile(found, real string) error {
	info, err := fs.Lstat(h.fsys, inFS(real))
	switch {
	case err != nil:
		return run.Errorf(run.NotFound, "%s does not exist: %w", found, err)
	case info.IsDir():
		for _, inside := range []string{"bin/python3", "python3"} {
			if name := path.Join(found, inside); isExecutable(h.fsys, name) {
				return run.Errorf(run.NotExecutable, "%s is a directory: the Python in it is %s", found, name)
			}
		}
		return run.Errorf(run.NotExecutable, "%s is a directory: give the path of a Python binary", found)
	case !info.Mode().IsRegular():
		return run.Errorf(run.NotExecutable, "%s is not a file: give the path of a Python binary", found)
	case info.Mode()&0o111 == 0:
		return run.Errorf(run.NotExecutable, "%s is not executable: if it is a Python, allow it with chmod +x", found)
	}
	return nil
}

func explainMissing(found, real string, met []link, err error) error {
	switch {
	case errors.Is(err, hostpath.ErrLoop):
		return run.Errorf(run.NotFound, "%s is part of a loop of symbolic links", found)
	case isMissing(err) && len(met) > 0:
		return run.Errorf(run.NotFound, "%s is a broken link to %s, which does not exist", found, real)
	case isMissing(err):
		return run.Errorf(run.NotFound, "%s does not exist", found)
	}
	return run.Errorf(run.NotExecutable, "%s cannot be reached: %w", found, err)
}

// kind is the kind of a file by its first bytes.
type kind int

const (
	neither kind = iota
	script
	program
)

func kindOf(start []byte) kind {
	for _, magic := range []string{"\x7fELF", "\xcf\xfa\xed\xfe", "\xca\xfe\xba\xbe"} { // the last two: macOS
		if bytes.HasPrefix(start, []byte(magic)) {
			return program
		}
	}
	if bytes.HasPrefix(start, []byte("#!")) {
		return script
	}
	return neither
}
