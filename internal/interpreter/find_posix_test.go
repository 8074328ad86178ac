//go:build !windows

package interpreter

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cordon-sandbox/cordon/run"
)

var debian = map[string]string{
	"usr/bin/python3":                               "->python3.11",
	"usr/bin/python3.11":                            "ELF",
	"bin":                                           "->usr/bin",
	"usr/lib/python3.11/os.py":                      "",
	"usr/lib/python3.11/lib-dynload":                "/",
	"usr/lib/python3/dist-packages":                 "/",
	"usr/local/lib/python3.11/dist-packages":        "/",
	"usr/local/lib/python3.11/site-packages":        "/", // of a Python in /usr/local
	"venv/pyvenv.cfg":                               "home = ROOT/usr/bin\ninclude-system-site-packages = false\nversion = 3.11.2\n",
	"venv/bin/python3":                              "->/usr/bin/python3",
	"venv/bin/python":                               "->python3",
	"venv/lib/python3.11/site-packages":             "/",
	"open/pyvenv.cfg":                               "HOME=ROOT/usr/bin\nInclude-System-Site-Packages = True\n",
	"open/bin/python3":                              "->/usr/bin/python3",
	"open/lib/python3.11/site-packages":             "/",
	"copy/pyvenv.cfg":                               "home = ROOT/usr/bin\ninclude-system-site-packages = false\n",
	"copy/bin/python3":                              "ELF",
	"copy/lib/python3.11/site-packages":             "/",
	"orphan/pyvenv.cfg":                             "home = ROOT/gone/bin\n",
	"orphan/bin/python3":                            "ELF",
	"opt/conda/bin/python":                          "->python3.12",
	"opt/conda/bin/python3.12":                      "ELF",
	"opt/conda/lib/python3.12/os.py":                "",
	"opt/conda/lib/python3.12/lib-dynload":          "/",
	"opt/conda/lib/python3.12/site-packages":        "/",
	"opt/conda/lib/python312.zip":                   "zip",
	"opt/free/bin/python3.13t":                      "ELF",
	"opt/free/lib/python3.13t/os.py":                "",
	"opt/free/lib/python3.13/os.py":                 "",
	"fedora/usr/bin/python3":                        "->python3.12",
	"fedora/usr/bin/python3.12":                     "ELF",
	"fedora/usr/lib64/python3.12/os.py":             "",
	"fedora/usr/lib64/python3.12/lib-dynload":       "/",
	"fedora/usr/lib64/python3.12/site-packages":     "/",
	"fedora/usr/lib/python3.12/site-packages":       "/",
	"fedora/usr/local/lib/python3.12/site-packages": "/",
	"plain/bin/python3":                             "ELF",
	"plain/lib/python3.10/os.py":                    "",
	"plain/lib64":                                   "->lib",
}

// TestLayouts compares the results with the known layouts of these systems.
func TestLayouts(t *testing.T) {
	root := tree(t, debian)
	at := func(names ...string) []string {
		var all []string
		for _, name := range names {
			all = append(all, filepath.Join(root, name))
		}
		return all
	}
	debianOwn := []string{"usr/lib/python3.11", "usr/lib/python3.11/lib-dynload"}
	debianPackages := []string{"usr/local/lib/python3.11/dist-packages", "usr/lib/python3/dist-packages"}
	for _, c := range []struct {
		asked, path, prefix, venv string
		version                   [2]int
		own, packages             []string
	}{
		{"usr/bin/python3", "usr/bin/python3.11", "usr", "", [2]int{3, 11}, debianOwn, debianPackages},
		{"bin/python3", "usr/bin/python3.11", "usr", "", [2]int{3, 11}, debianOwn, debianPackages},
		{"venv/bin/python", "usr/bin/python3.11", "usr", "venv", [2]int{3, 11}, debianOwn,
			[]string{"venv/lib/python3.11/site-packages"}},
		{"open/bin/python3", "usr/bin/python3.11", "usr", "open", [2]int{3, 11}, debianOwn,
			append([]string{"open/lib/python3.11/site-packages"}, debianPackages...)},
		{"copy/bin/python3", "usr/bin/python3.11", "usr", "copy", [2]int{3, 11}, debianOwn,
			[]string{"copy/lib/python3.11/site-packages"}},
		{"opt/conda/bin/python", "opt/conda/bin/python3.12", "opt/conda", "", [2]int{3, 12},
			[]string{"opt/conda/lib/python312.zip", "opt/conda/lib/python3.12", "opt/conda/lib/python3.12/lib-dynload"},
			[]string{"opt/conda/lib/python3.12/site-packages"}},
		{"opt/free/bin/python3.13t", "opt/free/bin/python3.13t", "opt/free", "", [2]int{3, 13},
			[]string{"opt/free/lib/python3.13t"}, nil},
		{"fedora/usr/bin/python3", "fedora/usr/bin/python3.12", "fedora/usr", "", [2]int{3, 12},
			[]string{"fedora/usr/lib64/python3.12", "fedora/usr/lib64/python3.12/lib-dynload"},
			[]string{"fedora/usr/local/lib/python3.12/site-packages", "fedora/usr/lib64/python3.12/site-packages", "fedora/usr/lib/python3.12/site-packages"}},
		{"plain/bin/python3", "plain/bin/python3", "plain", "", [2]int{3, 10}, []string{"plain/lib/python3.10"}, nil},
	} {
		t.Run(c.asked, func(t *testing.T) {
			got, err := fakeHost("/", nil).find(filepath.Join(root, c.asked))
			if err != nil {
				t.Fatal(err)
			}
			want := Interpreter{
				Path: filepath.Join(root, c.path), Found: filepath.Join(root, c.asked), Version: c.version,
				Prefix: filepath.Join(root, c.prefix), Packages: at(c.packages...), SysPath: at(append(c.own, c.packages...)...),
			}
			for _, dir := range want.SysPath {
				if want.Stdlib == "" && !strings.HasSuffix(dir, ".zip") {
					want.Stdlib = dir
				}
			}
			if c.venv != "" {
				want.VirtualEnv = filepath.Join(root, c.venv)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error("want (-), got (+):\n", diff)
			}
		})
	}
}

const pyenvShim = "#!/bin/sh\nexport PYENV_ROOT=\"ROOT/pyenv\"\nexec ROOT/pyenv/libexec/pyenv exec \"${0##*/}\" \"$@\"\n"

func pyenvTree(more map[string]string) map[string]string {
	files := map[string]string{
		"pyenv/shims/python3":        pyenvShim,
		"pyenv/shims/python3.12":     pyenvShim,
		"pyenv/version":              "# ours\n3.11.7 # trailing words\n",
		"project/.python-version":    "3.12\n",
		"evil/.python-version":       "../../evil\n/evil\n",
		"evil/bin/python3":           "ELF",
		"system/.python-version":     "system\n",
		"project/deep/down":          "/",
		"other/bin/python3":          "->python3.10",
		"other/bin/python3.10":       "ELF",
		"other/lib/python3.10/os.py": "",
	}
	for _, v := range []string{"3.8.18", "3.11.7", "3.12.1", "3.12.10", "3.12.9"} {
		minor := v[:strings.LastIndexByte(v, '.')]
		files["pyenv/versions/"+v+"/bin/python3"] = "->python" + minor
		files["pyenv/versions/"+v+"/bin/python"+minor] = "ELF"
		files["pyenv/versions/"+v+"/lib/python"+minor+"/os.py"] = ""
	}
	files["pyenv/versions/3.12-dev/bin/python3"] = "ELF"
	files["pyenv/versions/mine/pyvenv.cfg"] = "home = ROOT/pyenv/versions/3.11.7/bin\ninclude-system-site-packages = false\n"
	files["pyenv/versions/mine/bin/python3"] = "->/pyenv/versions/3.11.7/bin/python3"
	files["pyenv/versions/mine/lib/python3.11/site-packages"] = "/"
	maps.Copy(files, more)
	return files
}

// TestPyenv checks that the result is the version that the shim would start.
func TestPyenv(t *testing.T) {
	root := tree(t, pyenvTree(nil))
	for _, c := range []struct {
		name, cwd, version, want string
	}{
		{"global", "/", "", "pyenv/versions/3.11.7/bin/python3.11"},
		{"from the directory above", "project/deep/down", "", "pyenv/versions/3.12.10/bin/python3.12"},
		{"environment wins", "project", "3.11.7", "pyenv/versions/3.11.7/bin/python3.11"},
		{"first that has it", "/", "3.99:3.12.9:3.11.7", "pyenv/versions/3.12.9/bin/python3.12"},
		{"python- prefix", "/", "python-3.12", "pyenv/versions/3.12.10/bin/python3.12"},
		{"virtual environment", "/", "mine", "pyenv/versions/3.11.7/bin/python3.11"},
		{"system goes on", "system", "", "other/bin/python3.10"},
		{"out of versions is not followed", "evil", "", "other/bin/python3.10"},
		{"too old goes on", "/", "3.8.18", "other/bin/python3.10"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := fakeHost(filepath.Join(root, c.cwd), map[string]string{
				"PATH":          "relative:" + filepath.Join(root, "pyenv/shims") + ":" + filepath.Join(root, "other/bin"),
				"PYENV_VERSION": c.version,
			})
			got, err := h.find("")
			if err != nil {
				t.Fatal(err)
			}
			if want := filepath.Join(root, c.want); got.Path != want {
				t.Errorf("got %s, want %s", got.Path, want)
			}
			if c.version == "mine" && got.VirtualEnv != filepath.Join(root, "pyenv/versions/mine") {
				t.Errorf("virtual environment is %q", got.VirtualEnv)
			}
			if strings.HasPrefix(c.want, "pyenv") && got.Found != filepath.Join(root, "pyenv/shims/python3") {
				t.Errorf("found as %s", got.Found)
			}
		})
	}
}

// A file of an unknown kind is refused if named by path, skipped by the search, and never
// started.
func TestFindStartsNothing(t *testing.T) {
	canary := "#!/bin/sh\ntouch ROOT/canary\n"
	root := tree(t, pyenvTree(map[string]string{
		"wrapper/python3":               canary,
		"pyenv/shims/python3":           strings.Replace(pyenvShim, "exec", "touch ROOT/canary\nexec", 1),
		"asdf/shims/python3":            "#!/bin/sh\ntouch ROOT/canary\nexec asdf exec \"python3\" \"$@\"\n",
		"nested/shims/python3":          strings.ReplaceAll(pyenvShim, "ROOT/pyenv", "ROOT/nested"),
		"nested/version":                "1\n",
		"nested/versions/1/bin/python3": canary,
		"mise/shims/python3":            "->/mise/bin/mise",
		"mise/bin/mise":                 "ELF",
	}))
	for _, c := range []struct{ dir, want string }{
		{"wrapper", "does not start it to find out"},
		{"pyenv/shims", "chosen version is not installed"},
		{"nested/shims", "is a script behind a shim"},
		{"asdf/shims", "has no version chosen"},
		{"mise/shims", "has no version chosen"},
	} {
		t.Run(c.dir, func(t *testing.T) {
			found := filepath.Join(root, c.dir, "python3")
			env := map[string]string{"PYENV_VERSION": "9.9"}
			if c.dir == "nested/shims" {
				env = nil
			}
			_, err := fakeHost("/", env).find(found)
			if run.ClassOf(err) != run.NotExecutable || !strings.Contains(fmt.Sprint(err), c.want) {
				t.Errorf("error is %v, want %q in it", err, c.want)
			}
			h := fakeHost("/", map[string]string{"PYENV_VERSION": env["PYENV_VERSION"], "PATH": filepath.Dir(found) + ":" + filepath.Join(root, "other/bin")})
			if got, err := h.find(""); err != nil || got.Path != filepath.Join(root, "other/bin/python3.10") {
				t.Errorf("search gives %s, %v", got.Path, err)
			}
			if _, err := os.Stat(filepath.Join(root, "canary")); err == nil {
				t.Error("it was started")
			}
		})
	}
}

// TestRefusals checks the class and message of each error.
func TestRefusals(t *testing.T) {
	root := tree(t, map[string]string{
		"old/bin/python3":               "->python3.8",
		"old/bin/python3.8":             "ELF",
		"old/lib/python3.8/os.py":       "",
		"two/bin/python2.7":             "ELF",
		"pypy/bin/python3":              "->pypy3.10",
		"pypy/bin/pypy3.10":             "ELF",
		"broken/python3":                "->nowhere",
		"loop/python3":                  "->python",
		"loop/python":                   "->python3",
		"plain/python3":                 "text",
		"empty/python3":                 "#!",
		"text/python3":                  "#!",
		"directory/python3/bin/python3": "ELF",
		"directory/bare":                "/",
		"orphan/pyvenv.cfg":             "home = ROOT/gone/bin\n",
		"orphan/bin/python3":            "ELF",
	})
	for name, text := range map[string]string{"empty/python3": "", "text/python3": "hello"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		asked string
		class run.Class
		words string
	}{
		{"gone/python3", run.NotFound, "does not exist"},
		{"plain/python3/x", run.NotFound, "does not exist"},
		{"broken/python3", run.NotFound, "nowhere, which does not exist"},
		{"loop/python3", run.NotFound, "loop of symbolic links"},
		{"plain/python3", run.NotExecutable, "chmod +x"},
		{"empty/python3", run.NotExecutable, "empty file"},
		{"text/python3", run.NotExecutable, "neither a program nor a script"},
		{"directory/python3", run.NotExecutable, "directory: the Python in it is"},
		{"directory/bare", run.NotExecutable, "is a directory"},
		{"old/bin/python3", run.Unsupported, "is Python 3.8: cordon needs CPython 3.9"},
		{"two/bin/python2.7", run.Unsupported, "is Python 2.7"},
		{"pypy/bin/python3", run.Unsupported, "PyPy"},
		{"orphan/bin/python3", run.NotExecutable, "create the environment again"},
	} {
		t.Run(c.asked, func(t *testing.T) {
			_, err := fakeHost("/", nil).find(filepath.Join(root, c.asked))
			if run.ClassOf(err) != c.class || !strings.Contains(fmt.Sprint(err), c.words) {
				t.Errorf("got %s: %v; want %s with %q", run.ClassOf(err), err, c.class, c.words)
			}
		})
	}
	t.Run("name", func(t *testing.T) {
		h := fakeHost("/", map[string]string{"PATH": filepath.Join(root, "plain")})
		if _, err := h.find("python3.77"); run.ClassOf(err) != run.NotFound {
			t.Error(err)
		}
		if _, err := h.find("python3"); run.ClassOf(err) != run.NotExecutable {
			t.Error(err)
		}
		if _, err := h.find("a\x00b"); run.ClassOf(err) != run.Invalid {
			t.Error(err)
		}
	})
	t.Run("search tells every reason", func(t *testing.T) {
		old := usualDirs
		usualDirs = nil
		defer func() { usualDirs = old }()
		var dirs []string
		for _, dir := range []string{"broken", "old/bin", "pypy/bin", "plain"} {
			dirs = append(dirs, filepath.Join(root, dir))
		}
		_, err := fakeHost("/", map[string]string{"PATH": strings.Join(dirs, ":")}).find("")
		for _, words := range []string{"broken link", "Python 3.8", "PyPy", "chmod"} {
			if !errors.Is(err, run.ErrNotFound) || !strings.Contains(err.Error(), words) {
				t.Errorf("%q is not in: %v", words, err)
			}
		}
	})
}

// With several standard libraries, the name of the binary or its libpython decides.
func TestSeveralVersions(t *testing.T) {
	root := tree(t, map[string]string{
		"bin/python3.10": "ELF", "bin/python3.12": "ELF", "bin/python3": "ELF",
		"lib/python3.10/os.py": "", "lib/python3.11/os.py": "", "lib/python3.12/os.py": "",
	})
	for _, minor := range []int{10, 12} {
		got, err := fakeHost("/", nil).find(fmt.Sprintf("%s/bin/python3.%d", root, minor))
		if err != nil || got.Version != [2]int{3, minor} {
			t.Errorf("python3.%d: %v, %v", minor, got.Version, err)
		}
	}
	if _, err := fakeHost("/", nil).find(root + "/bin/python3"); run.ClassOf(err) != run.NotExecutable || !strings.Contains(err.Error(), "several standard libraries") {
		t.Error(err)
	}
	needed := []string{"libc.so.6", "libpython3.11.so.1.0"}
	if l, err := layoutByLibrary(os.DirFS("/"), root+"/bin/python3", needed); err != nil || l.version != [2]int{3, 11} {
		t.Errorf("got %v, %v", l, err)
	}
	if l, err := layoutByLibrary(os.DirFS("/"), root+"/bin/python3", []string{"libpython3.13.so.1.0"}); err == nil {
		t.Errorf("got %v", l)
	}
}
