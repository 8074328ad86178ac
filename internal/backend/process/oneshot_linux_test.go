package process

import (
	"encoding/json"
	"testing"

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
