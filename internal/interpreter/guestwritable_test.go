//go:build !windows

package interpreter

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/hostpath"
	"github.com/cordon-sandbox/cordon/run"
)

// workspaceTree has an installed Python, one that a guest has put into its workspace, and
// virtual environments in the workspace that a guest may have changed.
func workspaceTree(t *testing.T) string {
	const settings = "include-system-site-packages = false\n"
	return tree(t, map[string]string{
		"opt/bin/python3":                                            "->python3.12",
		"opt/bin/python3.12":                                         "ELF",
		"opt/lib/python3.12/os.py":                                   "",
		"hidden/bin/python3.12":                                      "ELF", // real, but not in a directory of the search
		"hidden/lib/python3.12/os.py":                                "",
		"home/.pyenv/versions/3.12.1/bin/python3.12":                 "ELF",
		"home/.pyenv/versions/3.12.1/lib/python3.12/os.py":           "",
		"home/.local/share/uv/python/cpython-3/bin/python3.12":       "ELF",
		"home/.local/share/uv/python/cpython-3/lib/python3.12/os.py": "",
		"secret/key": "private",

		"w/evil/bin/python3.12":       "ELF",
		"w/evil/bin/python3":          "->python3.12",
		"w/evil/lib/python3.12/os.py": "",

		"w/good/pyvenv.cfg":                     "home = ROOT/opt/bin\n" + settings,
		"w/good/bin/python3":                    "->/opt/bin/python3",
		"w/good/lib/python3.12/site-packages":   "/",
		"w/pyenv/pyvenv.cfg":                    "home = ROOT/home/.pyenv/versions/3.12.1/bin\n" + settings,
		"w/pyenv/bin/python3":                   "->/home/.pyenv/versions/3.12.1/bin/python3.12",
		"w/pyenv/lib/python3.12/site-packages":  "/",
		"w/uv/pyvenv.cfg":                       "home = ROOT/home/.local/share/uv/python/cpython-3/bin\n" + settings,
		"w/uv/bin/python3":                      "->/home/.local/share/uv/python/cpython-3/bin/python3.12",
		"w/uv/lib/python3.12/site-packages":     "/",
		"w/copied/pyvenv.cfg":                   "home = ROOT/opt/bin\n" + settings,
		"w/copied/bin/python3":                  "ELF",
		"w/copied/lib/python3.12/site-packages": "/",
		"w/replaced/pyvenv.cfg":                 "home = ROOT/opt/bin\n" + settings,
		"w/replaced/bin/python3":                "#!/bin/sh\ntouch ROOT/canary\n",
		"w/relinked/pyvenv.cfg":                 "home = ROOT/opt/bin\n" + settings,
		"w/relinked/bin/python3":                "->/w/evil/bin/python3",
		"w/rehomed/pyvenv.cfg":                  "home = ROOT/w/evil/bin\n" + settings,
		"w/rehomed/bin/python3":                 "ELF",
		"w/executable/pyvenv.cfg":               "home = ROOT/opt/bin\nexecutable = ROOT/w/evil/bin/python3\n" + settings,
		"w/executable/bin/python3":              "ELF",
		"w/elsewhere/pyvenv.cfg":                "home = ROOT/hidden/bin\n" + settings,
		"w/elsewhere/bin/python3":               "->/hidden/bin/python3.12",
		"w/around/pyvenv.cfg":                   "home = ROOT/out\n" + settings,
		"w/around/bin/python3":                  "ELF",
		"out":                                   "->/w/evil/bin", // a link of the user into the workspace
		"w/leak/pyvenv.cfg":                     "home = ROOT/opt/bin\n" + settings,
		"w/leak/bin/python3":                    "->/opt/bin/python3",
		"w/leak/lib/python3.12/site-packages":   "->/secret",
		"w/bare/python3":                        "->/opt/bin/python3",
		"w/shim/shims/python3":                  strings.ReplaceAll(pyenvShim, "ROOT/pyenv", "ROOT/home/.pyenv"),
		"bin/python3":                           "->/w/link",
		"w/link":                                "->/opt/bin/python3",
	})
}

// Files in a workspace do not select the executed program.
func TestGuestWritableFilesAreNotExecuted(t *testing.T) {
	root := workspaceTree(t)
	w := filepath.Join(root, "w")
	const none, opt = "", "opt/bin/python3.12"
	for _, c := range []struct {
		dir, path string // the first on PATH, and the executed program
		packages  bool
	}{
		{"w/good/bin", opt, true},
		{"w/copied/bin", opt, true},
		{"w/pyenv/bin", "home/.pyenv/versions/3.12.1/bin/python3.12", true},
		{"w/uv/bin", "home/.local/share/uv/python/cpython-3/bin/python3.12", true},
		{"w/replaced/bin", opt, false},
		{"w/leak/bin", opt, false},

		{"w/evil/bin", none, false},
		{"w/relinked/bin", none, false},
		{"w/rehomed/bin", none, false},
		{"w/executable/bin", none, false},
		{"w/elsewhere/bin", none, false},
		{"w/around/bin", none, false},
		{"w/bare", none, false},
		{"w/shim/shims", none, false},
		{"bin", none, false},
		{"out", none, false},
	} {
		t.Run(c.dir, func(t *testing.T) {
			dir := filepath.Join(root, c.dir)
			h := fakeHost("/", map[string]string{"HOME": filepath.Join(root, "home"), "PATH": dir + ":" + filepath.Join(root, "opt/bin")})
			h.guests = hostpath.Guests{w}
			got, err := h.findOnPath("python3")
			if c.path == none {
				if run.ClassOf(err) != run.NotExecutable || !strings.Contains(fmt.Sprint(err), "--python") {
					t.Fatalf("got %+v, %v", got, err)
				}
				// The search continues to the installed one.
				got, err = h.find("")
				c.path = opt
			}
			if err != nil || got.Path != filepath.Join(root, c.path) {
				t.Fatalf("got %s, %v", got.Path, err)
			}
			if packages := filepath.Join(filepath.Dir(dir), "lib/python3.12/site-packages"); c.packages {
				if !slices.Contains(got.SysPath, packages) || slices.Contains(got.TrustedPath(), packages) {
					t.Errorf("sys.path is %v, and %v before a guest runs", got.SysPath, got.TrustedPath())
				}
			} else if slices.Contains(got.SysPath, packages) {
				t.Errorf("%s is on sys.path", packages)
			}
			for _, name := range got.TrustedPath() {
				if hostpath.Under(name, w) {
					t.Errorf("%s is trusted", name)
				}
			}
		})
	}
	t.Run("named by the user", func(t *testing.T) {
		h := fakeHost("/", nil)
		h.guests = hostpath.Guests{w}
		for dir, path := range map[string]string{"good": opt, "relinked": "w/evil/bin/python3.12", "rehomed": "w/evil/bin/python3.12"} {
			got, err := h.find(filepath.Join(w, dir, "bin/python3"))
			if err != nil || got.Path != filepath.Join(root, path) || len(got.GuestWritable) > 0 {
				t.Errorf("%s: got %+v, %v", dir, got, err)
			}
		}
	})
}

// The result is the version that each shim would start. A file in the current directory
// can only select a version in the manager's own tree.
func TestVersionManagers(t *testing.T) {
	files := map[string]string{
		"asdf/shims/python3":            "#!/bin/sh\n# asdf-plugin: python 3.12.1\nexec asdf exec \"python3\" \"$@\"\n",
		"data/mise/shims/python3":       "->/usr/bin/mise",
		"usr/bin/mise":                  "ELF",
		"home/.tool-versions":           "nodejs 20.1.0\npython 3.11.7 system # both\n",
		"home/.config/mise/config.toml": "[settings]\npython = \"3.10\"\n[tools]\nnode = \"20\"\n\"python\" = [\"3.11\", '3.12']\n",
		"plain":                         "/",
		"asdf-project/.tool-versions":   "python 3.12.1\n",
		"asdf-project/deep":             "/",
		"mise-project/mise.toml":        "[tools]\npython = \"3.12\"\n",
		"evil/.tool-versions":           "python path:ROOT/evil ../../evil /evil ref:x\n",
		"evil/mise.toml":                "[tools]\npython = \"../../../evil\"\n",
		"evil/bin/python3":              "ELF",
		"other/bin/python3":             "->python3.10",
		"other/bin/python3.10":          "ELF",
		"other/lib/python3.10/os.py":    "",
	}
	for _, tree := range []string{"asdf/installs/python", "data/mise/installs/python"} {
		for _, v := range []string{"3.11.7", "3.12.1"} {
			minor := v[:strings.LastIndexByte(v, '.')]
			files[tree+"/"+v+"/bin/python3"] = "->python" + minor
			files[tree+"/"+v+"/bin/python"+minor] = "ELF"
			files[tree+"/"+v+"/lib/python"+minor+"/os.py"] = ""
		}
	}
	root := tree(t, files)
	const asdf, mise = "asdf/installs/python/", "data/mise/installs/python/"
	for _, c := range []struct{ shims, cwd, version, want string }{
		{"asdf", "plain", "", asdf + "3.11.7/bin/python3.11"},
		{"asdf", "asdf-project/deep", "", asdf + "3.12.1/bin/python3.12"},
		{"asdf", "asdf-project", "3.11.7", asdf + "3.11.7/bin/python3.11"},
		{"asdf", "asdf-project", "system", "other/bin/python3.10"},
		{"asdf", "evil", "", "other/bin/python3.10"},
		{"data/mise", "plain", "", mise + "3.11.7/bin/python3.11"},
		{"data/mise", "mise-project", "", mise + "3.12.1/bin/python3.12"},
		{"data/mise", "asdf-project", "", mise + "3.12.1/bin/python3.12"},
		{"data/mise", "plain", "3.12", mise + "3.12.1/bin/python3.12"},
		{"data/mise", "evil", "", "other/bin/python3.10"},
	} {
		t.Run(c.shims+" in "+c.cwd+" "+c.version, func(t *testing.T) {
			h := fakeHost(filepath.Join(root, c.cwd), map[string]string{
				"PATH": filepath.Join(root, c.shims, "shims") + ":" + filepath.Join(root, "other/bin"), "HOME": filepath.Join(root, "home"),
				"ASDF_PYTHON_VERSION": c.version, "MISE_PYTHON_VERSION": c.version,
			})
			h.guests = hostpath.Guests{h.cwd}
			if got, err := h.find(""); err != nil || got.Path != filepath.Join(root, c.want) {
				t.Errorf("got %s, %v", got.Path, err)
			}
		})
	}
}
