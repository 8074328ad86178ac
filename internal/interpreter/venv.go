package interpreter

import (
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/cordon-sandbox/cordon/internal/hostpath"
	"github.com/cordon-sandbox/cordon/run"
)

// venv is the content of a pyvenv.cfg.
type venv struct {
	root       string
	home       string // the base's directory of binaries
	executable string // the base's binary; since 3.11
	system     bool   // the base's packages are visible too
}

// parseVenv parses a pyvenv.cfg as the site module does: keys in any case, unknown ones
// ignored, and the base's packages visible unless a line says otherwise.
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

// findVenv looks for pyvenv.cfg beside the binary or one directory up. The name must be
// the one before links are resolved, because the python of a virtual environment is a link
// to its base.
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

// base returns the real binary to run for a virtual environment whose python resolves to
// real. The copy in an environment made with --copies cannot find its library without the
// environment, so its base runs instead.
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
		"%s belongs to a virtual environment whose base Python (home = %q) no longer exists: create the environment again", found, v.home)
}

// packages returns the environment's directories, then the base's if they are visible.
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
