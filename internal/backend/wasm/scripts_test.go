package wasm

import (
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
		{"open('/lib/file', 'w')", run.Raised, "OSError"},
		{"import os\nos.listdir('/')", run.Raised, "PermissionError"},
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
