package interpreter

import (
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/cordon-sandbox/cordon/internal/hostpath"
	"github.com/cordon-sandbox/cordon/run"
)

// venv is what a pyvenv.cfg says.
type venv struct {
	root       string
	home       string // the base's directory of binaries
	executable string // the base's binary; written since 3.11
	system     bool   // the base's packages are seen too
}

// parseVenv reads the text of a pyvenv.cfg as the site module does: keys in
// any case, unknown ones ignored, and the base's packages seen unless a line
// says otherwise.
func parseVenv(text string) venv {
	v := venv{system: true}
	for line := range strings.Lines(text) {
		key, value, ok := strings.Cut(line, "=")
		if !ok {
			continue
		}
		value = strings.TrimSpace(value)
		switch strings.ToLower(strings.TrimSpace(key)) {
		case "home":
			v.home = value
		case "executable":
			v.executable = value
		case "include-system-site-packages":
			v.system = strings.EqualFold(value, "true")
		}
	}
	return v
}

// findVenv looks for pyvenv.cfg beside the binary or one directory up. The name
// must be the one that was asked for: a virtual environment's python is a link
// out of it, and following the link first would lose the environment.
func findVenv(fsys fs.FS, found string) (venv, bool) {
	dir := path.Dir(found)
	for _, root := range []string{dir, path.Dir(dir)} {
		if text, err := readHead(fsys, path.Join(root, "pyvenv.cfg"), 64<<10); err == nil {
			v := parseVenv(string(text))
			v.root = root
			return v, true
		}
	}
	return venv{}, false
}

// base gives the real binary to run for a virtual environment whose own
// binary resolved to real. An environment made with --copies holds a copy that
// cannot find its library without the environment around it; its base can.
func (v venv) base(fsys fs.FS, found, real string) (string, error) {
	root, _, err := resolve(fsys, v.root)
	if err != nil || !hostpath.Under(real, root) {
		return real, nil
	}
	var names []string
	if path.IsAbs(v.executable) {
		names = append(names, v.executable)
	}
	if path.IsAbs(v.home) {
		for _, base := range []string{path.Base(found), "python3", "python"} {
			names = append(names, path.Join(v.home, base))
		}
	}
	for _, name := range names {
		if r, _, err := resolve(fsys, name); err == nil && !hostpath.Under(r, root) && isExecutable(fsys, r) {
			return r, nil
		}
	}
	return "", run.Errorf(run.NotExecutable,
		"%s belongs to a virtual environment whose base Python (home = %q) is gone: make the environment again", found, v.home)
}

// packages are the environment's own directories, then the base's if it shows them.
func (v venv) packages(fsys fs.FS, l layout) []string {
	dirs := l.sitePackages(v.root)
	if v.system {
		dirs = append(dirs, l.basePackages(fsys)...)
	}
	return existing(fsys, dirs)
}

// readHead reads at most limit bytes of a file.
func readHead(fsys fs.FS, name string, limit int64) ([]byte, error) {
	real, _, err := resolve(fsys, name)
	if err != nil {
		return nil, err
	}
	f, err := fsys.Open(inFS(real))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit))
}
