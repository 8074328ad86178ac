package wasm

import (
	"bytes"
	"os"
	"runtime/debug"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// The memory of guests is released.
func TestMemoryReturns(t *testing.T) {
	hosttest.Slow(t, "takes long under the race detector")
	b := newBench(t, Options{Cache: testCache})
	m := b.open(goGuest(t))
	greedy := run.Request{Module: run.ModuleRun{Args: []string{"memory", "100"}}, Limits: policy.Limits{Memory: policy.GiB}}
	deep := b.open(moduleOf(nil, 0x10, 0))
	maps := func() int {
		debug.FreeOSMemory()
		data, err := os.ReadFile("/proc/self/maps")
		if err != nil {
			t.Fatal(err)
		}
		return bytes.Count(data, []byte("\n"))
	}
	expect(t, b.run(m, greedy), run.Succeeded, "100")
	before := maps()
	for range 20 {
		expect(t, b.run(m, greedy), run.Succeeded, "100")
		expect(t, b.run(deep, run.Request{}), run.Trapped, "")
	}
	if after := maps(); after > before+5 {
		t.Errorf("%d mappings before, %d after", before, after)
	}
}
