package interpreter

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"strings"
)

// A version manager puts shims on PATH: small programs that find the chosen version and
// start it. Cordon does not start them. A shim reads files in the current directory, which
// a guest may have written, and takes tens of milliseconds. Cordon reads these files
// itself, and uses from them only the name of a version that is installed in the manager's
// own tree.

// manager is a version manager whose files cordon can read.
type manager struct {
	name string
	// root reports whether a file is a shim of the manager, and returns its tree.
	root func(found, real string, start []byte) (string, bool)
	// versions returns the chosen versions, the preferred first.
	versions func(h *host, root string) []string
	// installs is the directory of the versions, below the root.
	installs string
	// The manager's directory of interpreters: from an environment variable, or the
	// usual one below the home directory.
	variable, habit string
}

var managers = []manager{
	{"pyenv", pyenvRoot, (*host).pyenvVersions, "versions", "PYENV_ROOT", ".pyenv"},
	{"asdf", asdfRoot, (*host).asdfVersions, "installs/python", "ASDF_DATA_DIR", ".asdf"},
	{"mise", miseRoot, (*host).miseVersions, "installs/python", "MISE_DATA_DIR", ".local/share/mise"},
	// These have no shims.
	{name: "uv", variable: "UV_PYTHON_INSTALL_DIR", habit: ".local/share/uv/python"},
	{name: "rye", habit: ".rye/py"},
	{name: "conda", variable: "CONDA_ROOT", habit: ".conda"},
	{name: "miniconda", habit: "miniconda3"},
	{name: "anaconda", habit: "anaconda3"},
	{name: "miniforge", habit: "miniforge3"},
}

// systemVersion means the Python on PATH after the shims.
const systemVersion = "system"

func (h *host) managerOf(found, real string, start []byte) (m manager, root string, ok bool) {
	for _, m := range managers {
		if m.root == nil {
			continue
		}
		if root, ok := m.root(found, real, start); ok {
			return m, root, true
		}
	}
	return manager{}, "", false
}

// target returns the binary that a shim would run for program.
func (m manager) target(h *host, root, program string) (string, error) {
	versions := m.versions(h, root)
	for _, v := range versions {
		if v == systemVersion {
			return "", fmt.Errorf("%s is set to %q", m.name, v)
		}
		if dir := installed(h.fsys, path.Join(root, m.installs), v); dir != "" {
			if bin := path.Join(dir, "bin", program); isExecutable(h.fsys, bin) {
				return bin, nil
			}
		}
	}
	if len(versions) == 0 {
		return "", errors.New(m.name + " has no version chosen")
	}
	return "", fmt.Errorf("%s's chosen version is not installed", m.name)
}

// tree returns the manager's directory of interpreters, or "".
func (m manager) tree(h *host) string {
	if root := h.getenv(m.variable); m.variable != "" && path.IsAbs(root) {
		return path.Join(root, m.installs)
	}
	if home := h.getenv("HOME"); path.IsAbs(home) {
		return path.Join(home, m.habit, m.installs)
	}
	return ""
}

// pyenvRoot reads the root from the shim. Like the shim, it ignores the environment.
func pyenvRoot(_, real string, script []byte) (string, bool) {
	if !isShimScript(real, script, "pyenv") {
		return "", false
	}
	for line := range strings.Lines(string(script)) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), "export PYENV_ROOT="); ok {
			if value = strings.Trim(value, `"'`); path.IsAbs(value) {
				return path.Clean(value), true
			}
		}
	}
	return path.Dir(path.Dir(real)), true
}

func asdfRoot(_, real string, script []byte) (string, bool) {
	return path.Dir(path.Dir(real)), isShimScript(real, script, "asdf exec")
}

// miseRoot recognizes a shim of mise by its path: it is a link to mise itself.
func miseRoot(found, real string, _ []byte) (string, bool) {
	base := path.Base(real)
	return path.Dir(path.Dir(found)), path.Base(path.Dir(found)) == "shims" && (base == "mise" || base == "rtx")
}

func isShimScript(real string, script []byte, word string) bool {
	return path.Base(path.Dir(real)) == "shims" && bytes.HasPrefix(script, []byte("#!")) && bytes.Contains(script, []byte(word))
}

// readUpward calls read for a directory and its parents until one returns a result.
func readUpward(start string, read func(dir string) []string) []string {
	if !path.IsAbs(start) {
		return nil
	}
	for dir := path.Clean(start); ; dir = path.Dir(dir) {
		if v := read(dir); v != nil || dir == "/" {
			return v
		}
	}
}

func (h *host) asdfVersions(string) []string {
	if v := words(h.getenv("ASDF_PYTHON_VERSION")); len(v) > 0 {
		return v
	}
	if v := readUpward(h.cwd, h.toolVersions); v != nil {
		return v
	}
	return h.toolVersions(h.getenv("HOME"))
}

func (h *host) miseVersions(string) []string {
	if v := words(h.getenv("MISE_PYTHON_VERSION")); len(v) > 0 {
		return v
	}
	read := func(dir string) []string {
		for _, name := range []string{"mise.toml", ".mise.toml"} {
			if v := h.miseConfig(path.Join(dir, name)); v != nil {
				return v
			}
		}
		return h.toolVersions(dir)
	}
	if v := readUpward(h.cwd, read); v != nil {
		return v
	}
	home := h.getenv("HOME")
	if !path.IsAbs(home) {
		return nil
	}
	if v := h.miseConfig(path.Join(home, ".config/mise/config.toml")); v != nil {
		return v
	}
	return h.toolVersions(home)
}

// toolVersions reads the python line of a .tool-versions.
func (h *host) toolVersions(dir string) []string {
	if !path.IsAbs(dir) {
		return nil
	}
	text, err := readHead(h.fsys, path.Join(dir, ".tool-versions"), 64<<10)
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "#")
		if tool, rest, _ := strings.Cut(strings.TrimSpace(line), " "); tool == "python" {
			return words(rest)
		}
	}
	return nil
}

// miseConfig reads python = "3.12" or python = ["3.12", "3.11"] in the table
// of tools.
func (h *host) miseConfig(name string) []string {
	text, err := readHead(h.fsys, name, 64<<10)
	if err != nil {
		return nil
	}
	table := ""
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "#")
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			table = strings.Trim(line, "[]")
			continue
		}
		key, value, _ := strings.Cut(line, "=")
		if table == "tools" && strings.Trim(strings.TrimSpace(key), `"`) == "python" {
			return words(strings.NewReplacer(`"`, " ", "'", " ", "[", " ", "]", " ", ",", " ").Replace(value))
		}
	}
	return nil
}

// words splits a list of versions and drops paths.
func words(text string) []string {
	var versions []string
	for _, v := range strings.Fields(text) {
		versions = appendVersion(versions, v)
	}
	return versions
}
