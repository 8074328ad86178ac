//go:build !windows

package interpreter

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/cordon-sandbox/cordon/run"
)

func find(ctx context.Context, asked string) (Interpreter, error) {
	cwd, _ := os.Getwd()
	h := &host{
		fsys: remember(os.DirFS("/")), getenv: os.Getenv, cwd: cwd, system: runtime.GOOS,
		ask: asker{dir: cwd, environ: os.Environ(), limit: askTime}.ask,
	}
	return h.find(ctx, asked)
}

// find is Find for any host.
func (h *host) find(ctx context.Context, asked string) (Interpreter, error) {
	switch {
	case strings.ContainsRune(asked, 0):
		return Interpreter{}, run.Errorf(run.Invalid, "%q is not a path: it has a NUL byte", asked)
	case asked == "":
		return h.search(ctx)
	case path.IsAbs(asked):
		return h.examine(ctx, path.Clean(asked))
	case strings.Contains(asked, "/"):
		return h.examine(ctx, path.Join(h.cwd, asked))
	}
	return h.named(ctx, asked)
}

// named takes the first on PATH, as a shell would. Only a shim that leads
// nowhere is passed over: pyenv puts shims on PATH for versions that are not
// switched on, and the one meant lies behind it.
func (h *host) named(ctx context.Context, name string) (Interpreter, error) {
	var first error
	candidates := h.onPath(name)
	if n := slices.IndexFunc(candidates, func(c string) bool { return isExecutable(h.fsys, c) }); n > 0 {
		candidates = candidates[n:]
	}
	for _, found := range candidates {
		i, err := h.examine(ctx, found)
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

// usual are the places to look where PATH has nothing, as in a service.
var usual = []string{"/usr/bin", "/usr/local/bin"}

// newestKnown is where the search for python3.N starts; far enough ahead.
const newestKnown = 29

// search takes the first candidate that fits, and says why not of the others.
func (h *host) search(ctx context.Context) (Interpreter, error) {
	// One broken version manager can put twenty shims that hang on PATH.
	asking, cancel := context.WithTimeout(ctx, 2*askTime)
	defer cancel()
	var tried, reasons []string
	try := func(candidates []string) (Interpreter, bool) {
		for _, c := range candidates {
			real, met, err := resolve(h.fsys, c)
			if _, python := parseName(path.Base(real)); err != nil || !python {
				real = c // a version manager's binary stands for many names
			}
			if isMissing(err) && len(met) == 0 || ctx.Err() != nil || slices.Contains(tried, real) {
				continue
			}
			i, err := h.examine(asking, c)
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
		for _, dir := range h.usualFolders() {
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
	return Interpreter{}, run.Errorf(run.NotFound, "no Python that fits was found: %s. Passed over: %s", help, strings.Join(reasons, "; "))
}

// onPath lists what has this name on PATH, also what cannot be run, so that
// the reason can be told. Entries that are not
// absolute are left out: the working folder may be the guest's own, and must
// not choose the interpreter.
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

// examine decides what one file is, and reads its surroundings or asks it.
func (h *host) examine(ctx context.Context, found string) (Interpreter, error) {
	real, met, err := resolve(h.fsys, found)
	if err != nil {
		return Interpreter{}, explainMissing(found, real, met, err)
	}
	if err := h.checkFile(found, real); err != nil {
		return Interpreter{}, err
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
	switch kindOf(start) {
	case program:
		if h.system == "darwin" && real == appleStub {
			target, err := h.behindStub()
			if err != nil {
				return Interpreter{}, err
			}
			i, err := h.examineTarget(ctx, target)
			i.Found = found
			return i, err
		}
		return h.examineProgram(ctx, found, real)
	case script:
		target, err := h.pyenvTarget(real, path.Base(found), start)
		switch {
		case err == nil:
			i, err := h.examineTarget(ctx, target)
			i.Found = found
			return i, err
		case errors.Is(err, errPyenvSystem):
			return Interpreter{}, &brokenShim{run.Errorf(run.NotExecutable, "%s leads to no Python of its own: %w", found, err)}
		}
		return h.examineByAsking(ctx, found)
	}
	if len(start) == 0 {
		return Interpreter{}, run.Errorf(run.NotExecutable, "%s is an empty file, not a Python", found)
	}
	return Interpreter{}, run.Errorf(run.NotExecutable, "%s is neither a program nor a script: give the path of a Python binary", found)
}

// examineTarget is examine for what a shim leads to; a second shim is not
// followed, so that two that name each other end.
func (h *host) examineTarget(ctx context.Context, target string) (Interpreter, error) {
	real, _, err := resolve(h.fsys, target)
	if err != nil {
		return Interpreter{}, explainMissing(target, real, nil, err)
	}
	if start, err := readHead(h.fsys, real, 4); err == nil && kindOf(start) == script {
		return h.examineByAsking(ctx, target)
	}
	return h.examine(ctx, target)
}

// examineProgram reads the landmarks, and asks where they leave a question.
func (h *host) examineProgram(ctx context.Context, found, real string) (Interpreter, error) {
	env, isVenv := findVenv(h.fsys, found)
	if isVenv {
		base, err := env.base(h.fsys, found, real)
		if err != nil {
			return Interpreter{}, err
		}
		real = base
	}
	if n, ok := parseName(path.Base(real)); ok && n.major != 3 {
		return Interpreter{}, tooOld(found, [2]int{n.major, max(n.minor, 0)})
	}
	l, err := findLayout(h.fsys, real)
	if err != nil {
		return h.examineByAsking(ctx, found)
	}
	return h.assemble(found, real, l, env)
}

// examineByAsking starts the candidate under the name it was found by: a shim
// looks at that name to know what it stands for.
func (h *host) examineByAsking(ctx context.Context, found string) (Interpreter, error) {
	f, err := h.ask(ctx, found)
	if err != nil {
		return Interpreter{}, &brokenShim{run.Errorf(run.NotExecutable,
			"%s is not a Python that works: %w; give the path of a Python binary", found, err)}
	}
	if err := f.check(found); err != nil {
		return Interpreter{}, err
	}
	real, met, err := resolve(h.fsys, f.Executable)
	if err != nil {
		return Interpreter{}, explainMissing(f.Executable, real, met, err)
	}
	env, isVenv := findVenv(h.fsys, f.Executable)
	if isVenv {
		if real, err = env.base(h.fsys, f.Executable, real); err != nil {
			return Interpreter{}, err
		}
	}
	l := layout{version: f.Version, prefix: f.Prefix, lib: f.Lib, folder: path.Base(f.Stdlib), stdlib: f.Stdlib}
	if !path.IsAbs(l.stdlib) || !path.IsAbs(l.prefix) || !isFile(h.fsys, path.Join(l.stdlib, "os.py")) {
		return Interpreter{}, run.Errorf(run.Unsupported,
			"%s keeps its standard library in %q, which is not a folder of files: cordon cannot give that to a guest", found, l.stdlib)
	}
	return h.assemble(found, real, l, env)
}

// assemble puts the answer together and holds it to the oldest version.
func (h *host) assemble(found, real string, l layout, env venv) (Interpreter, error) {
	if l.version[0] != 3 || l.version[1] < Oldest {
		return Interpreter{}, tooOld(found, l.version)
	}
	packages := l.basePackages(h.fsys)
	if env.root != "" {
		packages = env.packages(h.fsys, l)
	}
	return Interpreter{
		Path: real, Found: found, Version: l.version, Prefix: l.prefix, Stdlib: l.stdlib,
		Packages: packages, SysPath: l.sysPath(h.fsys, packages), VirtualEnv: env.root,
	}, nil
}

// checkFile wants a file that may be executed, and says what would be right.
func (h *host) checkFile(found, real string) error {
	info, err := fs.Lstat(h.fsys, inFS(real))
	switch {
	case err != nil:
		return run.Errorf(run.NotFound, "%s is not there: %w", found, err)
	case info.IsDir():
		for _, inside := range []string{"bin/python3", "python3"} {
			if name := path.Join(found, inside); isExecutable(h.fsys, name) {
				return run.Errorf(run.NotExecutable, "%s is a folder: the Python in it is %s", found, name)
			}
		}
		return run.Errorf(run.NotExecutable, "%s is a folder: give the path of a Python binary", found)
	case !info.Mode().IsRegular():
		return run.Errorf(run.NotExecutable, "%s is not a file: give the path of a Python binary", found)
	case info.Mode()&0o111 == 0:
		return run.Errorf(run.NotExecutable, "%s is not executable: if it is a Python, allow it with chmod +x", found)
	}
	return nil
}

func explainMissing(found, real string, met []link, err error) error {
	switch {
	case errors.Is(err, errLoop):
		return run.Errorf(run.NotFound, "%s is a symbolic link that leads back to itself", found)
	case isMissing(err) && len(met) > 0:
		return run.Errorf(run.NotFound, "%s is a broken link: it leads to %s, which is not there", found, real)
	case isMissing(err):
		return run.Errorf(run.NotFound, "%s is not there", found)
	}
	return run.Errorf(run.NotExecutable, "%s cannot be reached: %w", found, err)
}

// kind is what the first bytes of a file say.
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
