package wasm

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// What there is not on this tier says so, and nothing hangs or is done halfway.
func TestScriptsWithoutASystem(t *testing.T) {
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
		{"import os\nos.mkdir('/folder')", run.Raised, "Read-only file system"},
		{"import os\nos.unlink('/dev/null')", run.Raised, "Read-only file system"},
		{"open('/etc/passwd')", run.Raised, "FileNotFoundError"},
		{"open('data.csv')", run.Raised, "relative names are looked for in /tmp"},
		{"import os\nprint(os.listdir('/'), os.listdir('/dev'))", run.Succeeded, "['dev', 'lib', 'tmp'] ['null']"},
		{"import os\nwith open(os.devnull, 'w+') as f: print(f.write('x'), repr(f.read()))", run.Succeeded, "1 ''"},
		{"import os\nprint(open(os.devnull).write('x'))", run.Raised, "not writable"},
		{"import os\nos.write(os.open(os.devnull, os.O_RDONLY), b'x')", run.Raised, "Bad file descriptor"},
		{"import time\na, b = time.process_time(), time.perf_counter()\nsum(range(10 ** 5))\nprint(abs(time.process_time() - a - time.perf_counter() + b) < 0.1)", run.Succeeded, "True"},
		{"import os\nprint(dict(os.environ))", run.Succeeded, "{}"},
		{"import asyncio\nasync def f():\n    await asyncio.sleep(0.01)\n    print('slept')\nasyncio.run(f())", run.Succeeded, "slept"},
	} {
		expect(t, b.script(run.Request{Script: test.script}), test.outcome, test.words)
	}
}

func TestDeterministicScripts(t *testing.T) {
	b := pythonBench(t, Options{Idle: 1})
	req := run.Request{
		Script: "import time, random\ntime.sleep(3600)\nprint(time.time(), random.random())", Deterministic: true,
		Limits: policy.Limits{WallTime: policy.Duration(10 * time.Second)},
	}
	one, two := b.script(req), b.script(req)
	if !one.OK() || one.Stdout != two.Stdout {
		t.Errorf("%q and %q; %s", one.Stdout, two.Stdout, one.Error)
	}
}

// Between a script and what it is granted there are folders, and nothing else in them.
func TestFoldersAroundGrants(t *testing.T) {
	here, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	granted := filepath.Join(here, "c")
	b := pythonBench(t, Options{Idle: 1, Policy: policy.Policy{Read: []string{granted}}})
	r := b.script(run.Request{Script: fmt.Sprintf(`
import os
seen = {where: (folders, files) for where, folders, files in os.walk("/")}
above = os.path.dirname(%[1]q)
result = [seen[above][0], seen[above][1], "hello.c" in seen[%[1]q][1], os.path.isdir(above), os.path.exists(above + "/guest")]`, granted)})
	if want := `[["c"],[],true,true,false]`; string(r.Value) != want || len(r.Violations) > 0 {
		t.Errorf("%s %s %v, want %s", r.Value, r.Error, r.Violations, want)
	}
	for script, violations := range map[string]int{
		fmt.Sprintf("open(%q)", granted+"/none"):         0, // which is there for nobody
		fmt.Sprintf("open(%q)", here+"/guest/main.go"):   1,
		fmt.Sprintf("open(%q, 'w')", granted+"/hello.c"): 1,
		"open('/tmp/none')":                              0,
	} {
		if r := b.script(run.Request{Script: script}); r.Outcome != run.Raised || len(r.Violations) != violations {
			t.Errorf("%s: %s %s %v", script, r.Outcome, r.Error, r.Violations)
		}
	}
	// Who is granted all has no need of it.
	if around([]string{"/lib", "/"}) != nil {
		t.Error("there is a folder around the folder of all")
	}
}
