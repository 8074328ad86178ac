package process

import (
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cordon-sandbox/cordon/internal/zygote"
	"github.com/cordon-sandbox/cordon/run"
)

// A fork server is replaced after MaxForks workers and ends, and no run notices.
func TestForkServerIsReplaced(t *testing.T) {
	const each = 6
	b := open(t, Options{Idle: 3, MaxForks: each})
	servers := map[*zygote.Zygote]bool{}
	const runs = 5 * each
	for i := range runs {
		// The word "import" keeps it in one pool.
		result := runJob(t, b, jobOf(b, "import sys; result = context + 1", i))
		if result.Outcome != run.Succeeded || string(result.Value) != strconv.Itoa(i+1) {
			t.Fatalf("run %d: %s, %s, %v", i, result.Outcome, result.Value, result.Exception)
		}
		servers[currentServer(t, b)] = true
	}
	if len(servers) < runs/each {
		t.Errorf("%d runs with %d workers a server made %d servers", runs, each, len(servers))
	}
	current := currentServer(t, b)
	for z := range servers {
		if z != current {
			awaitEnd(t, z)
		}
	}
}

// The workers of a replaced fork server are used first, so that it can end.
func TestWorkersOfReplacedServerAreUsedFirst(t *testing.T) {
	const idle = 4
	b := open(t, Options{Idle: idle, MaxForks: idle})
	first := currentServer(t, b)
	for range 2*idle + forkers { // concurrent forks may all be served
		runJob(t, b, jobOf(b, "import sys", nil))
	}
	awaitEnd(t, first)
}

// A fork server that is old is replaced with the next fork.
func TestForkServerAges(t *testing.T) {
	const idle = 2
	b := open(t, Options{Idle: idle})
	first := currentServer(t, b)
	plainPool(b).mu.Lock()
	plainPool(b).started = time.Now().Add(-maxAge)
	plainPool(b).mu.Unlock()
	for range 2*idle + forkers {
		runJob(t, b, jobOf(b, "import sys", nil))
	}
	awaitEnd(t, first)
}

// No caller waits for a starting fork server while a worker is idle.
func TestTakeDoesNotWaitForServerStart(t *testing.T) {
	b := open(t, Options{Idle: 1})
	<-plainPool(b).ready // a worker is idle
	plainPool(b).ready <- struct{}{}
	plainPool(b).replacing.Lock()
	defer plainPool(b).replacing.Unlock()
	runJob(t, b, jobOf(b, "import sys", nil))
}

func awaitEnd(t *testing.T, z *zygote.Zygote) {
	t.Helper()
	select {
	case <-z.Done():
	case <-time.After(time.Minute):
		t.Fatal("a replaced fork server is still alive: one of its workers is in use")
	}
}

// The order in which workers are taken, whenever their server is replaced.
func TestWorkersAreTakenInOrder(t *testing.T) {
	before, after := &zygote.Zygote{}, &zygote.Zygote{}
	p := &pool{ready: make(chan struct{}, 6), zygote: before}
	names := map[*member]string{}
	add := func(name string, server *zygote.Zygote) {
		m := &member{server: server}
		names[m] = name
		p.add(m)
	}
	add("old 1", before)
	add("old 2", before)
	if got := names[p.next()]; got != "old 2" {
		t.Errorf("before it is replaced: %s, and not the newest", got)
	}
	add("old 3", before)
	p.zygote = after
	add("new 1", after)
	add("late", before)
	add("new 2", after)
	var got []string
	for len(p.resting) > 0 {
		got = append(got, names[p.next()])
	}
	if diff := cmp.Diff([]string{"late", "old 1", "old 3", "new 2", "new 1"}, got); diff != "" {
		t.Error(diff)
	}
}

// currentServer returns the fork server, which is started if there is none. It is not
// replaced if it is due.
func currentServer(t *testing.T, b *Backend) *zygote.Zygote {
	t.Helper()
	plainPool(b).mu.Lock()
	started := plainPool(b).zygote
	plainPool(b).mu.Unlock()
	if started != nil {
		return started
	}
	z, err := plainPool(b).current(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// plainPool is the pool of scripts without rules, with the policy's modules.
func plainPool(b *Backend) *pool { return b.kinds[noRules].opened().(*pool) }
