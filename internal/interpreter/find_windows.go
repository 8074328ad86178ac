package interpreter

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cordon-sandbox/cordon/internal/hostpath"
	"github.com/cordon-sandbox/cordon/run"
)

// find examines the files beside a python.exe. It skips launchers (py.exe, the Store's
// aliases), which have no files beside them.
func find(s Search) (Interpreter, error) {
	if strings.ContainsAny(s.Python, `/\`) {
		return examine(s.Python, nil)
	}
	names := []string{s.Python}
	if s.Python == "" {
		names = []string{"python3", "python"}
	}
	var first error
	try := func(found string, guests hostpath.Guests) (Interpreter, bool) {
		i, err := examine(found, guests)
		if err != nil && first == nil {
			first = err
		}
		return i, err == nil
	}
	for _, name := range names {
		if filepath.Ext(name) == "" {
			name += ".exe"
		}
		for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
			found := filepath.Join(dir, name)
			if _, err := os.Stat(found); err != nil || !filepath.IsAbs(dir) {
				continue
			}
			if i, ok := try(found, s.Guests); ok {
				return i, nil
			}
		}
	}
	if s.Python == "" {
		for _, found := range usualWindows() {
			if i, ok := try(found, s.Guests); ok {
				return i, nil
			}
		}
	}
	if first == nil {
		first = run.Errorf(run.NotFound, "%s was not found: name a python.exe, install Python 3.%d or newer, or use --tier wasm, which has its own", names[0], Oldest)
	}
	return Interpreter{}, first
}

// usualWindows lists the directories of python.org's installer, the newest version first.
func usualWindows() []string {
	var all []string
	for _, dir := range []string{filepath.Join(os.Getenv("LOCALAPPDATA"), "Programs", "Python"), os.Getenv("ProgramFiles")} {
		found, err := filepath.Glob(filepath.Join(dir, "Python3*", "python.exe"))
		if filepath.IsAbs(dir) && err == nil {
			slices.Reverse(found)
			all = append(all, found...)
		}
	}
	return all
}

// isInstalled reports whether the search would accept a python.exe without it being named.
func isInstalled(python string, guests hostpath.Guests) bool {
	known := usualWindows()
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if _, held := guests.Hold(filepath.ToSlash(dir), nil); filepath.IsAbs(dir) && !held {
			known = append(known, filepath.Join(dir, "python.exe"))
		}
	}
	return slices.ContainsFunc(known, func(name string) bool { return strings.EqualFold(filepath.Clean(name), filepath.Clean(python)) })
}

func examine(found string, guests hostpath.Guests) (Interpreter, error) {
	found, err := filepath.Abs(found)
	if err != nil {
		return Interpreter{}, run.Wrap(run.Internal, err)
	}
	real, err := filepath.EvalSymlinks(found)
	if errors.Is(err, fs.ErrNotExist) {
		return Interpreter{}, run.Errorf(run.NotFound, "%s does not exist", found)
	} else if err != nil {
		return Interpreter{}, run.Errorf(run.NotExecutable, "%s cannot be reached: %w", found, err)
	}
	i := Interpreter{Found: found, Path: real}
	root := filepath.Dir(filepath.Dir(real))
	var env venv
	if text, err := os.ReadFile(filepath.Join(root, "pyvenv.cfg")); err == nil {
		// The python.exe of a virtual environment starts that of its base, so use the
		// base.
		env = parseVenv(string(text))
		if !filepath.IsAbs(env.home) {
			return Interpreter{}, run.Errorf(run.NotExecutable, "%s belongs to a virtual environment without a base (home = %q): create the environment again", found, env.home)
		}
		i.Path, i.VirtualEnv = filepath.Join(env.home, "python.exe"), root
	}
	if dir, held := guests.Hold(filepath.ToSlash(i.Path), nil); held {
		return Interpreter{}, run.Errorf(run.NotExecutable, "%s is not started, because guests may write to %s: if you trust it, name it (--python %s)", i.Path, dir, found)
	}
	if dir, held := guests.Hold(filepath.ToSlash(real), nil); held && !isInstalled(i.Path, guests) {
		// A guest that writes pyvenv.cfg must not choose the program that is started.
		return Interpreter{}, run.Errorf(run.NotExecutable, "%s belongs to a virtual environment in %s, where guests may write, and cordon would not use its base %s on its own: "+
			"if you trust it, name it (--python %s)", found, dir, i.Path, found)
	}
	base := filepath.Dir(i.Path)
	version, sysPath, packages, err := windowsLayout(os.DirFS(base))
	if err != nil {
		return Interpreter{}, run.Errorf(run.NotExecutable, "%s is not a Python of a known layout: %w; name the python.exe of an installation of python.org, or use --tier wasm, which has its own", found, err)
	}
	if version[1] < Oldest {
		return Interpreter{}, tooOld(found, version)
	}
	i.Version, i.Prefix, i.Stdlib = version, base, filepath.Join(base, "Lib")
	for _, name := range sysPath {
		if name = filepath.Join(base, name); i.VirtualEnv == "" || env.system || !strings.HasSuffix(name, "site-packages") {
			i.SysPath = append(i.SysPath, name)
		}
	}
	if i.VirtualEnv == "" || env.system {
		for _, name := range packages {
			i.Packages = append(i.Packages, filepath.Join(base, name))
		}
	}
	if site := filepath.Join(root, "Lib", "site-packages"); i.VirtualEnv != "" && isDirectory(os.DirFS(root), "Lib/site-packages") {
		i.Packages, i.SysPath = append([]string{site}, i.Packages...), append(i.SysPath, site)
		if _, held := guests.Hold(filepath.ToSlash(site), nil); held {
			i.GuestWritable = []string{site}
		}
	}
	return i, nil
}
