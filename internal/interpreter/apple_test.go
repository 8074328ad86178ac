//go:build !windows

package interpreter

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/run"
)

// mac returns a Mac with the stub and the given files.
func mac(t *testing.T, path string, files map[string]string) *host {
	t.Helper()
	files["usr/bin/python3"] = "ELF"
	root := tree(t, files)
	h := fakeHost("/", map[string]string{"PATH": path})
	h.system, h.fsys = "darwin", os.DirFS(root)
	return h
}

const tools = "Library/Developer/CommandLineTools"

var toolsPython = map[string]string{
	tools + "/usr/bin/python3": "->../../Library/Frameworks/Python3.framework/Versions/3.9/bin/python3.9",
	tools + "/Library/Frameworks/Python3.framework/Versions/3.9/bin/python3.9":        "ELF",
	tools + "/Library/Frameworks/Python3.framework/Versions/3.9/lib/python3.9/os.py":  "",
	tools + "/Library/Frameworks/Python3.framework/Versions/3.9/lib/python3.9/x/y.py": "",
}

func TestAppleStubIsNeverStarted(t *testing.T) {
	for _, asked := range []string{"", "python3", "/usr/bin/python3"} {
		i, err := mac(t, "/usr/bin:/bin", toolsPython).find(asked)
		if err != nil || i.Path != "/"+tools+"/Library/Frameworks/Python3.framework/Versions/3.9/bin/python3.9" || i.Found != appleStub || i.Version != [2]int{3, 9} {
			t.Errorf("%q: %+v, %v", asked, i, err)
		}
	}
	_, err := mac(t, "/usr/bin", map[string]string{}).find("python3")
	if run.ClassOf(err) != run.NotFound || !strings.Contains(err.Error(), "xcode-select --install") {
		t.Errorf("%v does not say what to do", err)
	}
}

func TestChosenDeveloperTools(t *testing.T) {
	files := map[string]string{"Applications/Beta.app/usr/bin/python3.13": "ELF", "Applications/Beta.app/usr/lib/python3.13/os.py": ""}
	for name, text := range toolsPython {
		files[name] = text
	}
	h := mac(t, "/usr/bin", files)
	root := tree(t, files) // its links are absolute, as on a Mac
	h.fsys = os.DirFS(root)
	for link, target := range map[string]string{
		"private/var/db/xcode_select_link":      "/Applications/Beta.app",
		"Applications/Beta.app/usr/bin/python3": "python3.13",
	} {
		name := filepath.Join(root, link)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, name); err != nil {
			t.Fatal(err)
		}
	}
	if i, err := h.find(""); err != nil || i.Path != "/Applications/Beta.app/usr/bin/python3.13" {
		t.Errorf("%+v, %v", i, err)
	}
}

// An installed Python is preferred to the stub, also if PATH is empty.
func TestHomebrewIsPreferredToTheStub(t *testing.T) {
	const keg = "opt/homebrew/Cellar/python@3.13/3.13.1/Frameworks/Python.framework/Versions/3.13"
	files := map[string]string{
		"opt/homebrew/bin/python3":    "->../Cellar/python@3.13/3.13.1/Frameworks/Python.framework/Versions/3.13/bin/python3.13",
		keg + "/bin/python3.13":       "ELF",
		keg + "/lib/python3.13/os.py": "",
	}
	if i, err := mac(t, "", files).find(""); err != nil || i.Prefix != "/"+keg {
		t.Errorf("%+v, %v", i, err)
	}
}
