package process

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/policy"
)

// TestContextSizes checks that a context arrives whole, whether it fits into the worker's
// first read or comes in many parts.
func TestContextSizes(t *testing.T) {
	limits := policy.Limits{Memory: 512 * policy.MiB}
	b := open(t, Options{Policy: policy.Policy{Limits: limits, Maxima: limits}})
	for _, size := range []int{0, 1, 3900, 4000, 4090, 4096, 5000, 1 << 16, 1<<20 + 1, 40 << 20} {
		text := strings.Repeat("0123456789abcdefghijklmnopqrstu", size/31+1)[:size]
		want := fmt.Sprintf("%q", fmt.Sprintf("%x", sha256.Sum256([]byte(text))))
		r := runJob(t, b, jobOf(b, "import hashlib\nresult = hashlib.sha256(context.encode()).hexdigest()", text))
		if string(r.Value) != want {
			t.Errorf("%d bytes: %s %s, want %s; %s", size, r.Outcome, r.Value, want, r.Error)
		}
	}
}
