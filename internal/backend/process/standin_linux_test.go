package process

import (
	"context"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/zygote"
	"github.com/cordon-sandbox/cordon/run"
)

// behind returns a pool whose fork server does not start before the test permits it.
func behind(t *testing.T, idle int) (p *pool, permit func()) {
	t.Helper()
	b := open(t, Options{Idle: 1})
	r := b.kinds[noRules].recipe
	r.idle = idle
	standIn, err := b.startSingle(t.Context(), r, r.scratch)
	if err != nil {
		t.Fatal(err)
	}
	p = newPool(b, r)
	permitted := make(chan struct{})
	start := p.start
	p.start = func(ctx context.Context) (*zygote.Zygote, error) {
		select {
		case <-permitted:
			return start(ctx)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	p.openBehind(standIn)
	t.Cleanup(func() {
		p.stopAll()
		p.clear()
	})
	return p, func() { close(permitted) }
}

// A caller does not wait for the fork server if it is the first.
func TestStandInServesTheFirstCaller(t *testing.T) {
	p, permit := behind(t, 2)
	m, err := p.take(t.Context(), p.scratch)
	if err != nil {
		t.Fatal(err)
	}
	if m != p.standIn {
		t.Error("the first worker is not the stand-in")
	}
	permit()
	for range 3 {
		other, err := p.take(t.Context(), p.scratch)
		if err != nil {
			t.Fatal(err)
		}
		if other.server == m.server {
			t.Error("a stand-in was taken twice")
		}
		other.Close()
	}
	m.Close()
	awaitEnd(t, m.server)
}

// A stand-in that nobody needed ends, and a forked worker replaces it.
func TestUnneededStandInEnds(t *testing.T) {
	const idle = 3
	p, permit := behind(t, idle)
	permit()
	awaitEnd(t, p.standIn.server)
	for range idle {
		m, err := p.take(t.Context(), p.scratch)
		if err != nil {
			t.Fatal(err)
		}
		if m == p.standIn {
			t.Error("the stand-in was taken after its end")
		}
		defer m.Close()
	}
}

// A pool that is closed while its fork server starts leaves no stand-in.
func TestStandInEndsWithThePool(t *testing.T) {
	p, _ := behind(t, 2)
	p.stopAll()
	if !p.standIn.server.Gone() {
		t.Error("the stand-in is still alive")
	}
}

// The first run has the walls and the answers of all others.
func TestFirstRunIsLikeOthers(t *testing.T) {
	b := open(t, Options{})
	const script = `
import os, sys
try:
    open("/etc/shadow").read()
except OSError as error:
    refused = type(error).__name__
try:
    os.fork()
except OSError as error:
    refused += " " + type(error).__name__
result = [context, refused, os.getpid(), os.getuid(), sorted(os.environ), sys.path]
`
	var first run.Result
	for i := range 3 {
		result := runJob(t, b, jobOf(b, script, 1))
		if result.Outcome != run.Succeeded {
			t.Fatalf("run %d: %s, %v", i, result.Outcome, result.Exception)
		}
		if i == 0 {
			first = result
		} else if string(result.Value) != string(first.Value) {
			t.Errorf("run %d: %s, and the first one: %s", i, result.Value, first.Value)
		}
	}
}
