package pythonwasm

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

const (
	// FileName is the name of the bundle in every directory of the search.
	FileName = "python-wasm.zip"
	// Variable is the environment variable with the path of the bundle.
	Variable = "CORDON_PYTHON_WASM"
)

// NotFoundError lists the paths without a bundle.
type NotFoundError struct {
	Looked []string
}

func (e *NotFoundError) Error() string {
	return fmt.Sprintf("%s, which has Python as WebAssembly, was not found (looked for: %s). "+
		"`make python-wasm` builds it, and the release archive has it beside cordon; "+
		"if it is elsewhere, name it with --python-wasm FILE or %s",
		FileName, strings.Join(e.Looked, ", "), Variable)
}

// Is reports that the error is fs.ErrNotExist.
func (e *NotFoundError) Is(target error) bool { return target == fs.ErrNotExist }

// Find returns the path of the bundle: the one that the caller or the environment names, or
// the first in the usual directories. A named bundle must exist, so that a typing error does
// not select another one.
func Find(explicit string) (path string, err error) {
	return host().find(explicit)
}

// surroundings are the parts of the system that the usual paths depend on.
type surroundings struct {
	system     string // as in runtime.GOOS
	executable string
	home       string
	getenv     func(string) string
}

func host() surroundings {
	s := surroundings{system: runtime.GOOS, getenv: os.Getenv}
	// If they are unknown, fewer paths are searched.
	s.home, _ = os.UserHomeDir()
	if executable, err := os.Executable(); err == nil {
		s.executable = executable
		// If the program is a link, use the directory of its target.
		if real, err := filepath.EvalSymlinks(executable); err == nil {
			s.executable = real
		}
	}
	return s
}

func (s surroundings) find(explicit string) (string, error) {
	if explicit != "" {
		return named(explicit, "--python-wasm")
	}
	if path := s.getenv(Variable); path != "" {
		return named(path, Variable)
	}
	places := s.usualPaths()
	for _, path := range places {
		if isFile(path) == nil {
			return path, nil
		}
	}
	return "", &NotFoundError{Looked: places}
}

func named(path, by string) (string, error) {
	if err := isFile(path); err != nil {
		return "", fmt.Errorf("the Python bundle that %s names: %w", by, err)
	}
	return path, nil
}

func isFile(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return &fs.PathError{Op: "open", Path: path, Err: errors.New("not a file")}
	}
	return nil
}

// usualPaths returns the usual paths, the nearest to this program first.
func (s surroundings) usualPaths() []string {
	var directories []string
	if s.executable != "" {
		bin := filepath.Dir(s.executable)
		directories = append(directories, bin, filepath.Join(bin, "..", "lib", "cordon"))
	}
	if data := s.dataDirectory(); data != "" {
		directories = append(directories, filepath.Join(data, "cordon"))
	}
	if s.system != "windows" {
		directories = append(directories, "/usr/local/lib/cordon", "/usr/lib/cordon")
	}
	var places []string
	for _, directory := range directories {
		if path := filepath.Join(directory, FileName); !slices.Contains(places, path) {
			places = append(places, path)
		}
	}
	return places
}

// dataDirectory returns the user's directory for data of programs, or "".
func (s surroundings) dataDirectory() string {
	switch s.system {
	case "windows":
		return s.getenv("LocalAppData")
	case "darwin":
		return under(s.home, "Library", "Application Support")
	}
	// The standard says to ignore a relative path.
	if data := s.getenv("XDG_DATA_HOME"); filepath.IsAbs(data) {
		return data
	}
	return under(s.home, ".local", "share")
}

func under(home string, names ...string) string {
	if home == "" {
		return ""
	}
	return filepath.Join(append([]string{home}, names...)...)
}
