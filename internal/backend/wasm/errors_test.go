package wasm

import (
	"testing"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// A guest that reaches a limit gets the matching error. wazero alone would report EIO.
func TestScriptsGetTheRightErrno(t *testing.T) {
	b := pythonBench(t, Options{Idle: 1})
	r := b.script(run.Request{
		Limits: policy.Limits{Scratch: policy.MiB, OpenFiles: 20},
		Script: run.Script{Source: `
import errno, os
def error(act):
    try:
        act()
    except OSError as e:
        return errno.errorcode[e.errno]
def full():
    with open("/tmp/full", "wb", buffering=0) as f:
        while True: f.write(bytes(10000))
kept = []
def many():
    while True: kept.append(open("/lib/python311.zip", "rb"))
result = [error(full), error(lambda: os.mkdir("/tmp/" + "x" * 300)), error(many), error(lambda: open("/tmp/one more", "w"))]
del kept`},
	})
	if want := `["ENOSPC","ENAMETOOLONG","EMFILE","EMFILE"]`; string(r.Value) != want {
		t.Errorf("%s %s, want %s", r.Value, r.Error, want)
	}
}

func TestModulesGetTheRightErrno(t *testing.T) {
	_, write, _ := outside(t)
	onBoth(t, func(t *testing.T, options Options) {
		options.Policy = policy.Policy{Write: []string{write}}
		b := newBench(t, options)
		m := b.open(goGuest(t))
		r := b.run(m, run.Request{Module: run.ModuleRun{Args: []string{"fill", write + "/much", "64"}}, Limits: policy.Limits{Disk: 4 * policy.MiB}})
		expect(t, r, run.OutOfDisk, "No space left on device")
		r = b.run(m, run.Request{Module: run.ModuleRun{Args: []string{"write", write + "/new", "x"}}, Limits: policy.Limits{OpenFiles: 3}})
		expect(t, r, run.Succeeded, "Too many open files")
	})
}
