package process

import (
	"strconv"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/internal/zygote"
	"github.com/cordon-sandbox/cordon/run"
)

// A fork server is replaced after so many workers, those that wait go with it,
// and no run notices.
func TestForkServerIsReplaced(t *testing.T) {
	const each = 6
	b := open(t, Options{Idle: 3, MaxForks: each})
	servers := map[*zygote.Zygote]bool{}
	const runs = 5 * each
	for i := range runs {
		// The word keeps it in one pool.
		result := runJob(t, b, jobOf(b, "import sys; result = context + 1", i))
		if result.Outcome != run.Succeeded || string(result.Value) != strconv.Itoa(i+1) {
			t.Fatalf("run %d: %s, %s, %v", i, result.Outcome, result.Value, result.Exception)
		}
		b.loaded.mu.Lock()
		servers[b.loaded.zygote] = true
		b.loaded.mu.Unlock()
	}
	// Workers that wait when their server goes are not used.
	if len(servers) < runs/each {
		t.Errorf("%d runs with %d workers a server made %d servers", runs, each, len(servers))
	}
	b.loaded.mu.Lock()
	current := b.loaded.zygote
	b.loaded.mu.Unlock()
	for z := range servers {
		if z != current {
			awaitEnd(t, z)
		}
	}
}

// The workers that wait are always those of the current server.
func TestOldWorkersAreDismissed(t *testing.T) {
	b := open(t, Options{Idle: 4, MaxForks: 4})
	b.loaded.mu.Lock()
	first := b.loaded.zygote
	b.loaded.mu.Unlock()
	for range 1 + forkers { // who ask at the same time may all be served
		runJob(t, b, jobOf(b, "import sys", nil))
	}
	awaitEnd(t, first)
}

func awaitEnd(t *testing.T, z *zygote.Zygote) {
	t.Helper()
	select {
	case <-z.Done():
	case <-time.After(time.Minute):
		t.Fatal("a replaced fork server is still there: somebody holds a worker of its")
	}
}
