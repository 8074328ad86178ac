package wasm

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Features that this tier lacks raise errors; none hangs or works halfway.
func TestMissingFeaturesRaiseErrors(t *testing.T) {
	b := pythonBench(t, Options{Idle: 1})
	for _, test := range []struct {
		script  string
		outcome run.Outcome
		words   string
	}{
		{"import threading\nthreading.Thread(target=print).start()", run.Raised, "the wasm tier has no threads"},
		{"import subprocess\nsubprocess.run(['ls'])", run.Raised, "the wasm tier starts no other programs"},
		{"import multiprocessing\nmultiprocessing.Process(target=print).start()", run.Raised, "the wasm tier starts no other programs"},
		{"import socket\nsocket.create_connection(('localhost', 80))", run.Raised, "the wasm tier has no network"},
		{"open('/lib/file', 'w')", run.Raised, "Read-only file system"},
		{"open('/lib/python311.zip', 'r+')", run.Raised, "Read-only file system"},
		{"open('/file', 'w')", run.Raised, "Read-only file system"},
		{"import os\nos.mkdir('/directory')", run.Raised, "Read-only file system"},
		{"import os\nos.unlink('/dev/null')", run.Raised, "Read-only file system"},
		{"open('/etc/passwd')", run.Raised, "FileNotFoundError"},
		{"open('data.csv')", run.Raised, "relative names are looked for in /tmp"},
		{"import os\nprint(os.listdir('/'), os.listdir('/dev'))", run.Succeeded, "['dev', 'lib', 'tmp', 'work'] ['null']"},
		{"import os\nwith open(os.devnull, 'w+') as f: print(f.write('x'), repr(f.read()))", run.Succeeded, "1 ''"},
		{"import os\nprint(open(os.devnull).write('x'))", run.Raised, "not writable"},
		{"import os\nos.write(os.open(os.devnull, os.O_RDONLY), b'x')", run.Raised, "Bad file descriptor"},
		{"import time\na, b = time.process_time(), time.perf_counter()\nsum(range(10 ** 5))\nprint(abs(time.process_time() - a - time.perf_counter() + b) < 0.1)", run.Succeeded, "True"},
		{"import os\nprint(dict(os.environ))", run.Succeeded, "{}"},
		{"import asyncio\nasync def f():\n    await asyncio.sleep(0.01)\n    print('slept')\nasyncio.run(f())", run.Succeeded, "slept"},
	} {
		expect(t, b.script(run.Request{Script: run.Script{Source: test.script}}), test.outcome, test.words)
	}
}

func TestDeterministicScripts(t *testing.T) {
	b := pythonBench(t, Options{Idle: 1})
	req := run.Request{
		Script: run.Script{Source: "import time, random\ntime.sleep(3600)\nprint(time.time(), random.random())", Deterministic: true},
		Limits: policy.Limits{WallTime: 10 * time.Second},
	}
	one, two := b.script(req), b.script(req)
	if !one.OK() || one.Stdout != two.Stdout {
		t.Errorf("%q and %q; %s", one.Stdout, two.Stdout, one.Error)
	}
}

// The directories above a grant contain nothing but the path to it, also in the script's own
// /tmp.
func TestDirectoriesAroundGrants(t *testing.T) {
	for _, parent := range []string{"/tmp", "/var/tmp"} {
		t.Run(parent, func(t *testing.T) { testDirectoriesAround(t, parent) })
	}
}

func testDirectoriesAround(t *testing.T, parent string) {
	top, err := os.MkdirTemp(parent, "cordon-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(top) })
	above := filepath.Join(top, "above")
	granted, single := filepath.Join(above, "granted"), filepath.Join(top, "other", "single")
	for _, name := range []string{granted + "/file", above + "/secret/file", single, top + "/other/secret"} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte("text"), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	b := pythonBench(t, Options{Idle: 1, Policy: policy.Policy{Read: []string{granted, single}}})
	r := b.script(run.Request{Script: run.Script{Source: fmt.Sprintf(`
import os
seen = {where: (directories, files) for where, directories, files in os.walk("/")}
above, granted, single = %q, %q, %q
try:
    os.rename(%q, "/tmp/moved")
except OSError:
    pass
result = [sorted(seen[os.path.dirname(above)][0]), seen[above], seen[granted], seen[os.path.dirname(single)],
    open(granted + "/file").read() + open(single).read(), os.path.exists(above + "/secret")]`, above, granted, single, top)}})
	if want := `[["above","other"],[["granted"],[]],[[],["file"]],[[],["single"]],"texttext",false]`; string(r.Value) != want || len(r.Violations) > 0 {
		t.Errorf("got  %s %s %v\nwant %s", r.Value, r.Error, r.Violations, want)
	}
	for script, violations := range map[string]int{
		fmt.Sprintf("open(%q)", granted+"/none"):      0, // it does not exist on the host either
		fmt.Sprintf("open(%q)", above+"/secret/file"): 1,
		fmt.Sprintf("open(%q, 'w')", granted+"/file"): 1,
		fmt.Sprintf("open(%q, 'w')", above+"/new"):    1,
		"open('/tmp/none')":                           0,
	} {
		if r := b.script(run.Request{Script: run.Script{Source: script}}); r.Outcome != run.Raised || len(r.Violations) != violations {
			t.Errorf("%s: %s %s %v", script, r.Outcome, r.Error, r.Violations)
		}
	}
	if entries, err := os.ReadDir(above); err != nil || len(entries) != 2 {
		t.Errorf("on the host there are %v, %v", entries, err)
	}
}
