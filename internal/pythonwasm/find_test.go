package pythonwasm

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// at returns surroundings below a directory of the test.
func at(root, system string, env map[string]string) surroundings {
	return surroundings{
		system:     system,
		executable: filepath.Join(root, "opt", "bin", "cordon"),
		home:       filepath.Join(root, "home"),
		getenv:     func(name string) string { return env[name] },
	}
}

func put(t *testing.T, path string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("found"), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestTheNearestBundleIsFound(t *testing.T) {
	root := t.TempDir()
	s := at(root, "linux", nil)
	// From the last path to the first: each bundle that is added wins.
	for _, name := range []string{
		"home/.local/share/cordon/python-wasm.zip",
		"opt/lib/cordon/python-wasm.zip",
		"opt/bin/python-wasm.zip",
	} {
		want := put(t, filepath.Join(root, filepath.FromSlash(name)))
		if got, err := s.find(""); err != nil || got != want {
			t.Errorf("find() = %q, %v; want %q", got, err, want)
		}
	}
}

func TestNamedBundleWinsAndMustExist(t *testing.T) {
	root := t.TempDir()
	put(t, filepath.Join(root, "opt", "bin", FileName))
	byEnv := put(t, filepath.Join(root, "env.zip"))
	byCaller := put(t, filepath.Join(root, "caller.zip"))
	missing := filepath.Join(root, "missing.zip")

	tests := []struct {
		name, explicit, env string
		want                string // or a part of the error
	}{
		{"by the caller", byCaller, byEnv, byCaller},
		{"by the environment", "", byEnv, byEnv},
		{"by the caller, missing", missing, byEnv, "--python-wasm names"},
		{"by the environment, missing", "", missing, "CORDON_PYTHON_WASM names"},
		{"a directory", root, "", "not a file"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := at(root, "linux", map[string]string{Variable: test.env}).find(test.explicit)
			if filepath.IsAbs(test.want) {
				if err != nil || got != test.want {
					t.Errorf("find(%q) = %q, %v; want %q", test.explicit, got, err, test.want)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("find(%q) = %q, %v; want an error with %q", test.explicit, got, err, test.want)
			}
		})
	}
}

func TestUsualPaths(t *testing.T) {
	root := t.TempDir()
	beside := []string{
		filepath.Join(root, "opt", "bin", FileName),
		filepath.Join(root, "opt", "lib", "cordon", FileName),
	}
	unix := []string{
		filepath.Join("/usr/local/lib/cordon", FileName),
		filepath.Join("/usr/lib/cordon", FileName),
	}
	data := filepath.Join(root, "data")
	home := filepath.Join(root, "home")
	tests := []struct {
		name, system string
		env          map[string]string
		want         [][]string
	}{
		{"linux", "linux", nil, [][]string{beside, {filepath.Join(home, ".local", "share", "cordon", FileName)}, unix}},
		{"linux with XDG", "linux", map[string]string{"XDG_DATA_HOME": data}, [][]string{beside, {filepath.Join(data, "cordon", FileName)}, unix}},
		{"linux with a relative XDG", "linux", map[string]string{"XDG_DATA_HOME": "data"}, [][]string{beside, {filepath.Join(home, ".local", "share", "cordon", FileName)}, unix}},
		{"macOS", "darwin", map[string]string{"XDG_DATA_HOME": data}, [][]string{beside, {filepath.Join(home, "Library", "Application Support", "cordon", FileName)}, unix}},
		{"windows", "windows", map[string]string{"LocalAppData": data}, [][]string{beside, {filepath.Join(data, "cordon", FileName)}}},
		{"windows without a user", "windows", nil, [][]string{beside}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got, want := at(root, test.system, test.env).usualPaths(), slices.Concat(test.want...); !slices.Equal(got, want) {
				t.Errorf("places() = %q\nwant %q", got, want)
			}
		})
	}
	t.Run("nothing is known", func(t *testing.T) {
		s := surroundings{system: "linux", getenv: func(string) string { return "" }}
		if got := s.usualPaths(); !slices.Equal(got, unix) {
			t.Errorf("places() = %q, want %q", got, unix)
		}
	})
}

func TestNotFoundSaysWhatToDo(t *testing.T) {
	s := at(t.TempDir(), "windows", nil)
	_, err := s.find("")
	if !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("find() = %v, want a file that does not exist", err)
	}
	for _, part := range append(s.usualPaths(), "make python-wasm", "release archive", "--python-wasm FILE", Variable) {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error does not mention %q: %v", part, err)
		}
	}
}

func TestFindUsesThisProcess(t *testing.T) {
	path := put(t, filepath.Join(t.TempDir(), "mine.zip"))
	t.Setenv(Variable, path)
	if got, err := Find(""); err != nil || got != path {
		t.Errorf("Find() = %q, %v; want %q", got, err, path)
	}
	if s := host(); s.executable == "" {
		t.Error("a test knows its executable")
	}
}
