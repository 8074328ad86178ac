package process

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/internal/zygote"
	"github.com/cordon-sandbox/cordon/policy"
)

// orphanage is a pool without fillers, in which a test injects faults.
func orphanage(t *testing.T) *pool {
	t.Helper()
	b := open(t, Options{Idle: 1})
	r := b.kinds[noRules].recipe
	r.idle = 0
	first, err := b.startZygote(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	p := newPool(b, r)
	p.openWith(first)
	t.Cleanup(p.stopAll)
	return p
}

// A filler whose fork servers die one after the other, while each of them gives a worker
// to another filler, continues. Its error would reach a caller whose own server did not
// die.
func TestForkSurvivesDyingServers(t *testing.T) {
	p := orphanage(t)
	killed := 0
	p.ask = func(ctx context.Context, z *zygote.Zygote, scratch policy.Bytes, warm bool) (*member, error) {
		if killed < 3*maxBarren {
			neighbours, err := p.forkFrom(ctx, z, scratch, warm)
			if err != nil {
				t.Error(err)
				return nil, err
			}
			p.recordFork(z)
			neighbours.Close()
			z.Close()
			killed++
		}
		return p.forkFrom(ctx, z, scratch, warm)
	}
	m, err := p.fork(t.Context(), p.scratch, false)
	if err != nil {
		t.Fatalf("after %d servers: %v", killed, err)
	}
	m.Close()
	if killed != 3*maxBarren {
		t.Errorf("%d servers were killed", killed)
	}
}

// Servers that never give a worker are not started forever. Their error is reported, and
// the next caller tries again.
func TestServersWithoutWorkersAreReported(t *testing.T) {
	p := orphanage(t)
	asked, kill := 0, true
	p.ask = func(ctx context.Context, z *zygote.Zygote, scratch policy.Bytes, warm bool) (*member, error) {
		asked++
		if kill {
			z.Close()
		}
		return p.forkFrom(ctx, z, scratch, warm)
	}
	if m, err := p.fork(t.Context(), p.scratch, false); err == nil || asked != maxBarren {
		t.Errorf("%v after %d servers: %v", m, asked, err)
	}
	kill = false
	m, err := p.fork(t.Context(), p.scratch, false)
	if err != nil {
		t.Fatal(err)
	}
	m.Close()
}

// A fork server may be killed while it starts.
func TestForkSurvivesFailedStart(t *testing.T) {
	p := orphanage(t)
	start, gone, failed := p.start, errors.New("killed while it starts"), 0
	p.start = func(ctx context.Context) (*zygote.Zygote, error) {
		if failed++; failed < maxBarren {
			return nil, gone
		}
		return start(ctx)
	}
	p.zygote.Close()
	m, err := p.fork(t.Context(), p.scratch, false)
	if err != nil {
		t.Fatal(err)
	}
	m.Close()
	if failed != maxBarren {
		t.Errorf("%d starts", failed)
	}

	p.start = func(context.Context) (*zygote.Zygote, error) {
		failed++
		return nil, gone
	}
	p.zygote.Close()
	failed = 0
	if _, err := p.fork(t.Context(), p.scratch, false); !errors.Is(err, gone) || failed != maxBarren {
		t.Errorf("%v after %d starts", err, failed)
	}
}

// A caller whose context has ended does not wait for the next server.
func TestForkEndsWithItsContext(t *testing.T) {
	p := orphanage(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	p.ask = func(ctx context.Context, z *zygote.Zygote, scratch policy.Bytes, warm bool) (*member, error) {
		cancel()
		z.Close()
		return p.forkFrom(ctx, z, scratch, warm)
	}
	if _, err := p.fork(ctx, p.scratch, false); err == nil || ctx.Err() == nil {
		t.Errorf("%v", err)
	}
}
