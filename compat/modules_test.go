package compat_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// carelessPackage opens files in the ways that packages do, in its own and in other threads.
const carelessPackage = `
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

def read(path):
    return Path(path).read_text()

def read_in_thread(path):
    found = []
    thread = threading.Thread(target=lambda: found.append(read(path)))
    thread.start()
    thread.join()
    return found[0]

def read_in_pool(path):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(Path(path).read_text).result()
`

// Module rules, and the names of modules in violations, are the same on every Python.
func TestModuleRulesOnEveryPython(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"careless.py": carelessPackage, "data/a": "a", "data/b": "b"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	grants := policy.Policy{Read: []string{dir}}
	ruled := grants
	ruled.ModuleRules = map[string]policy.ModuleRule{"careless": {Read: []string{dir + "/data/a"}}}
	script := func(text string) run.Request {
		return run.Request{Script: run.Script{Source: fmt.Sprintf("import sys; sys.path.append(%q)\nimport careless\n", dir) + text}}
	}
	for _, p := range pythons(t) {
		t.Run(p.name, func(t *testing.T) {
			res, err := p.runner(t, grants).Run(t.Context(), script("careless.read('/etc/shadow')"))
			if err != nil || len(res.Violations) != 1 || res.Violations[0].Module != "careless" {
				t.Errorf("without rules: %+v, %v", res.Violations, err)
			}
			r := p.runner(t, ruled)
			for _, function := range []string{"read", "read_in_thread", "read_in_pool"} {
				res, err := r.Run(t.Context(), script(fmt.Sprintf("result = careless.%s(%q)", function, dir+"/data/a")))
				if err != nil || string(res.Value) != `"a"` || len(res.Modules) != 1 || res.Modules[0].Module != "careless" ||
					len(res.Modules[0].Files) != 1 || (res.Modules[0].Threads == 1) != (function != "read") {
					t.Errorf("%s, allowed: %s %+v, %v", function, res.Error, res.Modules, err)
				}
				res, err = r.Run(t.Context(), script(fmt.Sprintf("careless.%s(%q)", function, dir+"/data/b")))
				if err != nil || len(res.Violations) != 1 || res.Violations[0].Module != "careless" || res.Violations[0].Wall != policy.WallLanguage {
					t.Errorf("%s, denied: %s %+v, %v", function, res.Error, res.Violations, err)
				}
			}
		})
	}
}
