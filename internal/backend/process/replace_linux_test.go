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
	deadline := time.Now().Add(20 * time.Second)
	for z := range servers {
		for z != current && !z.Gone() {
			if time.Now().After(deadline) {
				t.Fatal("a replaced fork server is still there: somebody holds a worker of its")
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
}

// The workers that wait are always those of the current server.
func TestOldWorkersAreDismissed(t *testing.T) {
	b := open(t, Options{Idle: 4, MaxForks: 4})
	full := func() bool { return len(b.loaded.ready) == cap(b.loaded.ready) }
	wait(t, full)
	b.loaded.mu.Lock()
	old := b.loaded.zygote
	b.loaded.mu.Unlock()
	runJob(t, b, jobOf(b, "import sys", nil)) // its replacement is one too many
	wait(t, old.Gone)
}

func wait(t *testing.T, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it never happens")
		}
	}
}
