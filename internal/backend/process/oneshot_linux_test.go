package process

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/tuning"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// A backend with OneShot also serves other runs: those that do not fit its worker, and
// later ones.
func TestOneShotServesFurtherRuns(t *testing.T) {
	p := systemPython
	p.Limits = policy.Limits{Memory: 64 * policy.MiB}
	b := open(t, Options{Policy: p, OneShot: true})
	for _, test := range []struct {
		name            string
		memory, scratch policy.Bytes
	}{
		{"the policy's", 64 * policy.MiB, 16 * policy.MiB},
		{"the same again", 64 * policy.MiB, 16 * policy.MiB},
		{"narrower", 32 * policy.MiB, 16 * policy.MiB},
		{"wider", 128 * policy.MiB, 16 * policy.MiB},
		{"more scratch", 64 * policy.MiB, 32 * policy.MiB},
	} {
		job := jobOf(b, `
import os
space = os.statvfs("/tmp")
size, data = 0, []
try:
    while size < 200:
        data.append(bytearray(4 << 20))
        size += 4
except MemoryError:
    del data
result = [size, space.f_blocks * space.f_bsize >> 20]
`, nil)
		job.Limits.Memory, job.Limits.Scratch = test.memory, test.scratch
		result := runJob(t, b, job)
		if result.Outcome != run.Succeeded {
			t.Fatalf("%s: %s, %v", test.name, result.Outcome, result.Exception)
		}
		var got [2]int64
		if err := json.Unmarshal(result.Value, &got); err != nil {
			t.Fatal(err)
		}
		if most := int64(test.memory / policy.MiB); got[0] > most || got[0] < most-12 {
			t.Errorf("%s: %d MiB of memory, want up to %d", test.name, got[0], most)
		}
		if want := int64(test.scratch / policy.MiB); b.plan.Root != nil && got[1] != want {
			t.Errorf("%s: %d MiB of scratch, want %d", test.name, got[1], want)
		}
	}
}

// An unused backend leaves nothing behind after Close.
func TestUnusedOneShotLeavesNothing(t *testing.T) {
	b, err := New(t.Context(), Options{Policy: systemPython, OneShot: true})
	if err != nil {
		t.Fatal(err)
	}
	server := b.kinds[noRules].opened().(*singles).ready.server
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if !server.Gone() {
		t.Error("its fork server is still alive")
	}
}

// A single run loads what describes failures and values only when it is needed, from
// bytecode or from source. Its report is the same as that of a run in a pool.
func TestSingleRunReportsLikeAPool(t *testing.T) {
	pool := open(t, Options{Policy: systemPython})
	singles := map[string]*Backend{
		"single":                   open(t, Options{Policy: systemPython, OneShot: true}),
		"single, without bytecode": open(t, Options{Policy: systemPython, OneShot: true, Untuned: tuning.Bytecode}),
	}
	for _, script := range []string{
		"x = [1]\nresult = {'a': x}",
		"def f():\n    raise ValueError('no')\nf()",
		"x = 1\nif",
		"x = 2\nimport sys\nsys.exit(3)",
		"import sys\nsys.exit('a message')",
		"x = object\nresult = {1, 2}",
		"class Text(str): pass\nresult = [Text('a')]",
		"x = float('nan')\nresult = x",
		"x = 'a' * 100\nraise MemoryError",
		"def f(n):\n    return f(n - 1) if n else 1 / 0\nf(200)",
		"import sys\ndef hook(event, args):\n    if event in ('exec', 'compile', 'marshal.loads', 'code.__new__'):\n        raise OSError(event)\nsys.addaudithook(hook)\n1 / 0",
	} {
		jobFor := func(b *Backend) backend.Job {
			job := jobOf(b, script, nil)
			job.Script.Variables = []string{"x"}
			return job
		}
		want := runJob(t, pool, jobFor(pool))
		for name, b := range singles {
			got := runJob(t, b, jobFor(b))
			for _, r := range []*run.Result{&got, &want} {
				r.Usage, r.Enforcement = run.Usage{}, run.Enforcement{}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: %q (-pool +single):\n%s", name, script, diff)
			}
		}
	}
}

// A script whose audit hook prevents that the report of its exception is loaded gets a
// report that says so, and nobody sees our own frames.
func TestSingleRunWhoseReportCannotBeLoaded(t *testing.T) {
	b := open(t, Options{Policy: systemPython, OneShot: true})
	result := runJob(t, b, jobOf(b, `
import sys
def hook(event, args):
    if event in ("exec", "marshal.loads"):
        raise OSError(event)
getattr(sys, "add" "au" "dithook")(hook)
print("before")
1 / 0
`, nil))
	if e := result.Exception; result.Outcome != run.Raised || e == nil || !strings.Contains(e.Message, "audit hook prevents the report") {
		t.Errorf("%s: %+v", result.Outcome, e)
	}
	if result.Stdout != "before\n" || result.Stderr != "" {
		t.Errorf("stdout %q, stderr %q", result.Stdout, result.Stderr)
	}
}
