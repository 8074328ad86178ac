package interpreter

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cordon-sandbox/cordon/internal/hostpath"
)

// interpreterReport is what an interpreter that imports site reports about itself.
type interpreterReport struct {
	Version  [2]int
	Prefix   string
	OS       string
	Packages []string
	Path     []string
}

func askInterpreter(t *testing.T, python string) interpreterReport {
	t.Helper()
	out, err := exec.Command(python, "-I", "-c", `import sys, os, json, site
print(json.dumps({"Version": list(sys.version_info[:2]), "Prefix": sys.base_prefix, "OS": os.__file__,
  "Packages": [p for p in site.getsitepackages() if os.path.isdir(p)], "Path": [p for p in sys.path if os.path.exists(p)]}))`).Output()
	if err != nil {
		t.Fatalf("%s: %v", python, err)
	}
	var got interpreterReport
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	return got
}

// installedHere lists this machine's interpreters, and for each a virtual environment of
// both kinds.
func installedHere(t *testing.T) []string {
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	bases, _ := filepath.Glob(filepath.Join(home, ".pyenv/versions/3.*/bin/python3"))
	for _, name := range []string{"/usr/bin/python3", "/usr/local/bin/python3"} {
		if _, err := os.Stat(name); err == nil {
			bases = append(bases, name)
		}
	}
	bases = slices.DeleteFunc(bases, func(name string) bool {
		real, _ := filepath.EvalSymlinks(name)
		n, ok := parseName(path.Base(real))
		return !ok || n.minor < Oldest
	})
	if len(bases) == 0 && os.Getenv("CORDON_REQUIRE_HOST") == "1" {
		t.Fatal("no Python on this host")
	}
	all := slices.Clone(bases)
	for _, base := range bases {
		for _, how := range []string{"--symlinks", "--copies", "--system-site-packages"} {
			dir := filepath.Join(t.TempDir(), "venv")
			if out, err := exec.Command(base, "-m", "venv", "--without-pip", how, dir).CombinedOutput(); err != nil {
				t.Logf("%s makes no environment %s: %s", base, how, out)
				continue
			}
			all = append(all, filepath.Join(dir, "bin/python3"))
		}
	}
	return all
}

// TestHost compares the result with what each interpreter reports about itself, and looks
// for every library that its binary and modules need.
func TestHost(t *testing.T) {
	for _, python := range installedHere(t) {
		t.Run(strings.ReplaceAll(strings.Trim(python, "/"), "/", "_"), func(t *testing.T) {
			got, err := fakeHost("/", nil).find(python)
			if err != nil {
				t.Fatal(err)
			}
			want := askInterpreter(t, python)
			if diff := cmp.Diff(want, interpreterReport{got.Version, got.Prefix, path.Join(got.Stdlib, "os.py"), want.Packages, got.SysPath}); diff != "" {
				t.Error("the interpreter (-), we (+):\n", diff)
			}
			if !got.venvOnly() && !cmp.Equal(want.Packages, got.Packages) {
				t.Errorf("packages are %v, want %v", got.Packages, want.Packages)
			}
			checkMounts(t, got)
		})
	}
}

// venvOnly reports whether i is a virtual environment, where getsitepackages has other
// rules for the base's packages.
func (i Interpreter) venvOnly() bool { return i.VirtualEnv != "" }

func checkMounts(t *testing.T, i Interpreter) {
	t.Helper()
	mounts, err := i.Mounts()
	if err != nil {
		t.Fatal(err)
	}
	hostFS := os.DirFS("/")
	inside := onlyMounted{hostFS, mounts}
	for _, m := range mounts {
		if real, _, err := resolve(hostFS, path.Dir(m.Path)); err != nil || real != path.Dir(m.Path) {
			t.Errorf("%s has a link in its path", m.Path)
		}
		if m.Kind == Dir && (hostpath.Under(i.Prefix, m.Path) || m.Path == "/usr/lib" || m.Path == "/etc" || hostpath.Under("/root", m.Path)) {
			t.Errorf("%s shows too much of the host", m.Path)
		}
	}
	objects := []string{i.Path}
	modules, _ := filepath.Glob(filepath.Join(i.Stdlib, "lib-dynload", "*.so"))
	read := elfReader(inside)
	for _, name := range append(objects, modules...) {
		o, err := read(name)
		if err != nil {
			t.Errorf("%s is not visible inside: %v", name, err)
			continue
		}
		if o.loader != "" && !isFile(inside, o.loader) {
			t.Errorf("the loader %s is not visible inside", o.loader)
		}
		s := &librarySearch{planner: &planner{fsys: inside, readELF: read}, dirs: []string{"/lib/" + o.triplet, "/usr/lib/" + o.triplet, "/lib64", "/usr/lib64", "/lib", "/usr/lib"}}
		for _, lib := range o.needed {
			if s.locate(lib, o.runpath) == "" {
				t.Errorf("%s needs %s, which is not visible inside", name, lib)
			}
		}
	}
	for _, dir := range i.SysPath {
		if _, err := stat(inside, dir); err != nil {
			t.Errorf("%s of sys.path is not visible inside: %v", dir, err)
		}
	}
}

// onlyMounted is the part of the host that a guest sees.
type onlyMounted struct {
	fs.FS
	mounts []Mount
}

func (o onlyMounted) visible(name string) bool {
	return slices.ContainsFunc(o.mounts, func(m Mount) bool {
		return hostpath.Under(m.Path, "/"+name) || m.Kind == Dir && hostpath.Under("/"+name, m.Path)
	})
}

func (o onlyMounted) Open(name string) (fs.File, error) {
	if !o.visible(name) {
		return nil, fs.ErrNotExist
	}
	return o.FS.Open(name)
}

func (o onlyMounted) Lstat(name string) (fs.FileInfo, error) {
	if !o.visible(name) {
		return nil, fs.ErrNotExist
	}
	return fs.Lstat(o.FS, name)
}

func (o onlyMounted) ReadLink(name string) (string, error) { return fs.ReadLink(o.FS, name) }

// Without a name, the search finds the python3 that this shell would start.
func TestDefaultIsTheShellsPython3(t *testing.T) {
	out, err := exec.Command("python3", "-I", "-S", "-c", "import sys, os; print(os.path.realpath(sys.executable))").Output()
	if err != nil {
		t.Skipf("python3 does not run here: %v", err)
	}
	got, err := Find(Search{})
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.TrimSpace(string(out)); got.Path != want {
		t.Errorf("found %s, the shell runs %s", got.Path, want)
	}
}

func BenchmarkFindAndMounts(b *testing.B) {
	home, err := os.UserHomeDir()
	if err != nil {
		b.Fatal(err)
	}
	for _, python := range []string{"/usr/bin/python3", filepath.Join(home, ".pyenv/shims/python3")} {
		if _, err := os.Stat(python); err != nil {
			continue
		}
		b.Run(strings.ReplaceAll(python[1:], "/", "_"), func(b *testing.B) {
			for b.Loop() {
				i, err := Find(Search{Python: python})
				if err != nil {
					b.Fatal(err)
				}
				if _, err := i.Mounts(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
