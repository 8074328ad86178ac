package process

import (
	"testing"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// A dying process frees shared memory after it has closed its files, so its channel
// closes long before the process ends.
func TestKillForMemoryIsReportedThoughFreeingTakesLong(t *testing.T) {
	for _, size := range []policy.Bytes{64 * policy.MiB, policy.GiB} {
		t.Run(size.String(), func(t *testing.T) {
			b := open(t, Options{Policy: policy.Policy{Limits: policy.Limits{Memory: size}}})
			requireHost(t, b, policy.WallCgroup)
			for range 3 {
				r := runJob(t, b, jobOf(b, `
import mmap
kept = []
while True:
    m = mmap.mmap(-1, 64 << 20)
    for i in range(0, len(m), 4096):
        m[i] = 1
    kept.append(m)`, nil))
				if r.Outcome != run.OutOfMemory {
					t.Errorf("%s: %s", r.Outcome, r.Error)
				}
			}
		})
	}
}
