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
	// FileName is what the bundle is called in every place where it is looked for.
	FileName = "python-wasm.zip"
	// Variable names the bundle in the environment.
	Variable = "CORDON_PYTHON_WASM"
)

// NotFoundError says where there was no bundle.
type NotFoundError struct {
	Looked []string
}

func (e *NotFoundError) Error() string {
	return fmt.Sprintf("there is no %s, with which Python runs as WebAssembly (looked for: %s). "+
		"`make python-wasm` builds it, and the release archive has it beside cordon; "+
		"name it with --python-wasm FILE or %s if it lies elsewhere",
		FileName, strings.Join(e.Looked, ", "), Variable)
}

// Is makes it a file that does not exist.
func (e *NotFoundError) Is(target error) bool { return target == fs.ErrNotExist }

// Find returns the path of the bundle: the one that is named, by the caller or else by
// the environment, or the first one that lies in a usual place. One that is named has
// to be there, so that a mistake in its name does not end in another bundle.
func Find(explicit string) (path string, err error) {
	return host().find(explicit)
}

// surroundings are what a place depends on.
type surroundings struct {
	system     string // as in runtime.GOOS
	executable string
	home       string
	getenv     func(string) string
}

func host() surroundings {
	s := surroundings{system: runtime.GOOS, getenv: os.Getenv}
	// Without them there are fewer places to look.
	s.home, _ = os.UserHomeDir()
	if executable, err := os.Executable(); err == nil {
		s.executable = executable
		// A link in a bin directory does not move what lies beside the program.
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
	places := s.places()
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

// places are the usual ones, the nearest to this program first.
func (s surroundings) places() []string {
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

// dataDirectory is where programs keep what belongs to one user, or "".
func (s surroundings) dataDirectory() string {
	switch s.system {
	case "windows":
		return s.getenv("LocalAppData")
	case "darwin":
		return under(s.home, "Library", "Application Support")
	}
	// A relative one is to be ignored, says the standard.
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
