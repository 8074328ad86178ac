package wasm

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// A module can open as many files as its request allows, in addition to the standard streams.
func TestOpenFilesOfModules(t *testing.T) {
	read, _, _ := outside(t)
	b := newBench(t, Options{Cache: testCache, Policy: policy.Policy{Read: []string{read}}})
	m := b.open(goGuest(t))
	for limit, want := range map[int]string{10: "7\n", 20: "17\n"} {
		r := b.run(m, run.Request{Module: run.ModuleRun{Args: []string{"open", read + "/file", "1000"}}, Limits: policy.Limits{OpenFiles: limit}})
		if r.Stdout != want {
			t.Errorf("%d: %q %s", limit, r.Stdout, r.Error)
		}
	}
}

// All mounts of a script share one count, limited by its request.
func TestOpenFilesOfScripts(t *testing.T) {
	read, _, _ := outside(t)
	b := pythonBench(t, Options{Idle: 1, Policy: policy.Policy{Read: []string{read}}})
	script := fmt.Sprintf(`
open("/tmp/x", "w").close()
kept = []
try:
    while len(kept) < 1000:
        kept.append(open(("/lib/python311.zip", "/tmp/x", %q)[len(kept) %% 3], "rb"))
except OSError:
    pass
result = len(kept)
del kept`, read+"/file")
	for limit, want := range map[int]string{16: "13", 100: "97"} {
		if r := b.script(run.Request{Script: run.Script{Source: script}, Limits: policy.Limits{OpenFiles: limit}}); string(r.Value) != want {
			t.Errorf("of %d: %s %s", limit, r.Value, r.Error)
		}
	}
}

// A script cannot change files of the host, even if modules may.
func TestScriptsDoNotWriteToGrants(t *testing.T) {
	read, write, _ := outside(t)
	if err := os.WriteFile(filepath.Join(write, "file"), []byte("granted"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := pythonBench(t, Options{Idle: 1, Policy: policy.Policy{Read: []string{read}, Write: []string{write}}})
	for _, directory := range []string{read, write} {
		for _, change := range []string{"open('%s/new', 'w').write('x')", "import os; os.mkdir('%s/new')", "open('%s/file', 'a').write('x')", "open('%s/file', 'w')", "import os; os.unlink('%s/file')"} {
			r := b.script(run.Request{Script: run.Script{Source: fmt.Sprintf(change, directory)}})
			if r.Outcome != run.Raised {
				t.Errorf(change+": %s %s", directory, r.Outcome, r.Error)
			}
		}
	}
	for _, directory := range []string{read, write} {
		if text, err := os.ReadFile(filepath.Join(directory, "file")); err != nil || string(text) != "granted" {
			t.Errorf("%s: %q %v", directory, text, err)
		}
		if _, err := os.Lstat(filepath.Join(directory, "new")); err == nil {
			t.Errorf("something new is in %s", directory)
		}
	}
}

// Attempts are counted, separately for each run of a session, and their number is bounded.
func TestViolationsAreCounted(t *testing.T) {
	read, _, _ := outside(t)
	b := pythonBench(t, Options{Idle: 1, Policy: policy.Policy{Read: []string{read}}})
	s := b.session(false)
	const try = `
import os
def tries(path):
    try:
        os.mkdir(path)
    except OSError:
        pass
for _ in range(5): tries(%q)`
	for range 2 {
		r := runIn(t, s, fmt.Sprintf(try, read+"/new"))
		if len(r.Violations) != 1 || r.Violations[0].Op != "mkdir" || r.Violations[0].Count != 5 {
			t.Errorf("%v %s", r.Violations, r.Error)
		}
	}
	r := runIn(t, s, fmt.Sprintf("for i in range(1000): tries(%q + str(i))", read+"/new"))
	if len(r.Violations) != 100 {
		t.Errorf("%d violations %s", len(r.Violations), r.Error)
	}
}
