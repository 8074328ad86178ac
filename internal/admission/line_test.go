package admission

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/cordon-sandbox/cordon/run"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// callerContext returns a context of a caller with the patience of a service.
func callerContext(ctx context.Context, name string, q Quota) context.Context {
	return WithCaller(ctx, &Caller{Name: name, Quota: q, Patience: DefaultPatience})
}

// requests are the requests of a test. In a name such as a.1/x, a is the caller and x the
// resource.
type requests struct {
	t      *testing.T
	line   *Line
	quotas map[string]Quota
	began  []string // in the order of their turns
	turns  map[string]*Turn
	bounds map[string]*Bound // by the part of a name after a slash
	cancel map[string]context.CancelFunc
	ended  map[string]error
	done   chan func() // results of the goroutines, applied in the goroutine of the test
}

func newRequests(t *testing.T, o Options, quotas map[string]Quota) *requests {
	g := &requests{t: t, line: NewLine(o), quotas: quotas, turns: map[string]*Turn{}, bounds: map[string]*Bound{},
		cancel: map[string]context.CancelFunc{}, ended: map[string]error{}, done: make(chan func(), 10_000)}
	t.Cleanup(func() {
		for _, cancel := range g.cancel {
			cancel()
		}
		for g.collect(); len(g.turns) > 0; g.collect() {
			for name := range g.turns {
				g.end(name)
			}
		}
	})
	return g
}

func (g *requests) arrive(names ...string) {
	for _, name := range names {
		who, _, _ := strings.Cut(name, ".")
		_, resource, _ := strings.Cut(name, "/")
		ctx, cancel := context.WithCancel(callerContext(g.t.Context(), who, g.quotas[who]))
		g.cancel[name] = cancel
		go func() {
			turn, err := g.line.Enter(ctx, g.bounds[resource])
			g.done <- func() {
				if err != nil {
					g.ended[name] = err
					return
				}
				g.began = append(g.began, name)
				g.turns[name] = &turn
			}
		}()
		g.collect()
	}
}

// collect waits until all goroutines are blocked, and applies their results.
func (g *requests) collect() {
	synctest.Wait()
	for len(g.done) > 0 {
		(<-g.done)()
	}
}

func (g *requests) end(name string) {
	g.t.Helper()
	turn := g.turns[name]
	if turn == nil {
		g.t.Fatalf("%s has no turn: %v", name, g.ended[name])
	}
	delete(g.turns, name)
	turn.Leave()
	turn.Leave() // the second call has no effect
	g.collect()
}

func (g *requests) giveUp(name string) {
	g.cancel[name]()
	g.collect()
}

// pass advances the fake clock.
func (g *requests) pass(d time.Duration) {
	<-time.After(d)
	g.collect()
}

func (g *requests) wantBegan(want string) {
	g.t.Helper()
	if got := strings.Join(g.began, " "); got != want {
		g.t.Errorf("had their turns: %s\nwant:            %s", got, want)
	}
}

func (g *requests) wantStats(running, waiting int, refused uint64) {
	g.t.Helper()
	if got := g.line.Stats(); got != (Stats{running, waiting, refused}) {
		g.t.Errorf("%+v instead of %d running, %d waiting, %d refused", got, running, waiting, refused)
	}
}

// wantBusy fails the test unless the request was refused as busy with this retry time.
func (g *requests) wantBusy(name string, retry time.Duration, words string) {
	g.t.Helper()
	err := g.ended[name]
	var busy *Busy
	if !errors.As(err, &busy) || !errors.Is(err, run.ErrBusy) {
		g.t.Fatalf("%s: %v instead of busy", name, err)
	}
	if busy.RetryAfter != retry || !strings.Contains(err.Error(), words) {
		g.t.Errorf("%s: %v; want %v, and %q", name, err, retry, words)
	}
}

func TestTurns(t *testing.T) {
	for _, tt := range []struct {
		name   string
		o      Options
		quotas map[string]Quota
		do     func(g *requests)
	}{
		{"one caller keeps its order", Options{Concurrent: 1, Queue: 3}, nil, func(g *requests) {
			g.arrive("a.1", "a.2", "a.3", "a.4")
			g.end("a.1")
			g.end("a.2")
			g.end("a.3")
			g.wantBegan("a.1 a.2 a.3 a.4")
		}},
		{"callers take turns, no matter how many requests each has", Options{Concurrent: 1, Queue: 9}, nil, func(g *requests) {
			g.arrive("a.1", "a.2", "a.3", "a.4", "b.1", "b.2", "c.1")
			for _, name := range []string{"a.1", "a.2", "b.1", "c.1", "a.3", "b.2"} {
				g.end(name)
			}
			g.wantBegan("a.1 a.2 b.1 c.1 a.3 b.2 a.4")
		}},
		{"the full queue answers at once", Options{Concurrent: 1, Queue: 1}, nil, func(g *requests) {
			g.arrive("a.1", "a.2", "a.3")
			g.wantBusy("a.3", time.Second, "1 requests wait already")
			g.wantStats(1, 1, 1)
		}},
		{"without a queue, no request waits", Options{Concurrent: 1}, nil, func(g *requests) {
			g.arrive("a.1", "b.1")
			g.wantBusy("b.1", time.Second, "")
			g.end("a.1")
			g.arrive("b.2")
			g.wantBegan("a.1 b.2")
		}},
		{"the caller with the longest queue loses its newest request", Options{Concurrent: 1, Queue: 3}, nil, func(g *requests) {
			g.arrive("a.1", "a.2", "a.3", "a.4", "b.1")
			g.wantBusy("a.4", time.Second, "2 requests of a wait already, and others came")
			g.wantStats(1, 3, 1)
			g.arrive("b.2")
			g.wantBusy("b.2", time.Second, "") // otherwise b would have the longest queue
			g.arrive("c.1")
			g.wantBusy("a.3", time.Second, "")
			g.arrive("d.1")
			g.wantBusy("d.1", time.Second, "") // each has one: the earlier ones stay
			g.end("a.1")
			g.end("a.2")
			g.end("b.1")
			g.wantBegan("a.1 a.2 b.1 c.1")
		}},
		{"a caller above its own concurrency does not delay others", Options{Concurrent: 3, Queue: 9}, map[string]Quota{"a": {Concurrent: 1}}, func(g *requests) {
			g.arrive("a.1", "a.2", "a.3", "b.1", "b.2", "b.3")
			g.wantBegan("a.1 b.1 b.2")
			g.end("b.1")
			g.wantBegan("a.1 b.1 b.2 b.3")
			g.end("a.1")
			g.end("a.2")
			g.wantBegan("a.1 b.1 b.2 b.3 a.2 a.3")
		}},
		{"a larger quota lets waiting requests run", Options{Concurrent: 3, Queue: 9}, map[string]Quota{"a": {Concurrent: 1}}, func(g *requests) {
			g.arrive("a.1", "a.2", "a.3")
			g.wantStats(1, 2, 0)
			g.quotas["a"] = Quota{Concurrent: 3}
			g.arrive("a.4")
			g.wantStats(3, 1, 0)
			if g.turns["a.4"] != nil {
				g.t.Error("the last request ran before the others")
			}
		}},
		{"above the rate, busy until there is a token again", Options{Concurrent: 9, Queue: 9}, map[string]Quota{"a": {Rate: 0.5, Burst: 2}}, func(g *requests) {
			g.arrive("a.1", "a.2", "a.3", "b.1")
			g.wantBusy("a.3", 2*time.Second, "a may begin 0.5 runs a second")
			g.wantBegan("a.1 a.2 b.1")
			g.end("a.1")
			g.end("a.2") // the end of a run gives no token back
			g.pass(2*time.Second - 1)
			g.arrive("a.4")
			g.wantBusy("a.4", time.Second, "")
			g.pass(1)
			g.arrive("a.5", "a.6")
			g.wantBusy("a.6", 2*time.Second, "")
			g.wantBegan("a.1 a.2 b.1 a.5")
		}},
		{"a waiting request counts against the rate", Options{Concurrent: 1, Queue: 9}, map[string]Quota{"a": {Rate: 0.5, Burst: 2}}, func(g *requests) {
			g.arrive("b.1", "a.1", "a.2", "a.3")
			g.wantBusy("a.3", 2*time.Second, "a may begin 0.5 runs a second")
			g.wantStats(1, 2, 1)
		}},
		{"a refused request does not count against the rate", Options{Concurrent: 1}, map[string]Quota{"a": {Rate: 0.1, Burst: 1}}, func(g *requests) {
			g.arrive("b.1", "a.1", "a.2")
			g.wantBusy("a.1", time.Second, "wait already")
			g.wantBusy("a.2", time.Second, "wait already")
			g.end("b.1")
			g.arrive("a.3")
			g.wantBegan("b.1 a.3")
		}},
		{"without a burst, the requests of one second may start at once", Options{Concurrent: 9}, map[string]Quota{"a": {Rate: 2.5}}, func(g *requests) {
			g.arrive("a.1", "a.2", "a.3", "a.4")
			g.wantBegan("a.1 a.2 a.3")
		}},
		{"requests before a change of the rate still count", Options{Concurrent: 9}, map[string]Quota{"a": {Rate: 1, Burst: 2}}, func(g *requests) {
			g.arrive("a.1", "a.2")
			g.quotas["a"] = Quota{Rate: 10, Burst: 4}
			g.arrive("a.3")
			g.wantBusy("a.3", time.Second, "")
			g.pass(100 * time.Millisecond)
			g.arrive("a.4", "a.5")
			g.wantBegan("a.1 a.2 a.4")
		}},
		{"a request that has waited long enough is refused", Options{Concurrent: 1, Queue: 2}, nil, func(g *requests) {
			g.arrive("a.1", "a.2")
			g.pass(DefaultPatience - 1)
			g.wantStats(1, 1, 0)
			g.pass(1)
			g.wantBusy("a.2", time.Second, "no turn came within 30s")
			g.wantStats(1, 0, 1)
		}},
		{"a canceled request leaves at once", Options{Concurrent: 1, Queue: 2}, nil, func(g *requests) {
			g.arrive("a.1", "b.1", "c.1")
			g.giveUp("b.1")
			if !errors.Is(g.ended["b.1"], context.Canceled) || errors.Is(g.ended["b.1"], run.ErrBusy) {
				g.t.Errorf("ended with %v", g.ended["b.1"])
			}
			g.wantStats(1, 1, 0)
			g.end("a.1")
			g.wantBegan("a.1 c.1")
		}},
		{"Retry-After grows with the queue", Options{Concurrent: 2, Queue: 3}, map[string]Quota{"c": {Concurrent: 1}}, func(g *requests) {
			g.arrive("a.1", "b.1")
			g.pass(8 * time.Second)
			g.end("a.1")
			g.end("b.1")
			g.arrive("a.2", "b.2", "a.3", "b.3", "c.1", "d.1")
			g.wantBusy("d.1", 16*time.Second, "") // four turns of 8 s, two at a time
		}},
		{"Retry-After is at most a minute", Options{Concurrent: 1}, nil, func(g *requests) {
			g.arrive("a.1")
			g.pass(time.Hour)
			g.end("a.1")
			g.arrive("a.2", "a.3")
			g.wantBusy("a.3", time.Minute, "")
		}},
		{"only requests for a full resource wait for it", Options{Concurrent: 3, Queue: 9}, nil, func(g *requests) {
			g.bounds["hook"] = NewBound(1)
			g.arrive("a.1/hook", "a.2/hook", "a.3/hook", "a.4", "b.1/hook", "b.2")
			g.wantBegan("a.1/hook a.4 b.2")
			g.wantStats(3, 3, 0)
			g.end("a.4")
			g.end("b.2")
			g.wantStats(1, 3, 0)
			g.end("a.1/hook")
			g.end("a.2/hook")
			g.end("b.1/hook")
			g.wantBegan("a.1/hook a.4 b.2 a.2/hook b.1/hook a.3/hook")
		}},
		{"requests for a full resource count in the queue", Options{Concurrent: 3, Queue: 1}, nil, func(g *requests) {
			g.bounds["hook"] = NewBound(1)
			g.arrive("a.1/hook", "a.2/hook", "a.3/hook")
			g.wantBusy("a.3/hook", time.Second, "1 requests wait already")
			g.giveUp("a.2/hook")
			g.end("a.1/hook")
			g.arrive("a.4/hook")
			g.wantBegan("a.1/hook a.4/hook")
		}},
		{"a closed line refuses all requests", Options{Concurrent: 1, Queue: 9}, nil, func(g *requests) {
			g.arrive("a.1", "a.2", "b.1")
			over := errors.New("over")
			g.line.Close(over)
			g.arrive("c.1")
			for _, name := range []string{"a.2", "b.1", "c.1"} {
				if !errors.Is(g.ended[name], over) {
					g.t.Errorf("%s: %v", name, g.ended[name])
				}
			}
			g.wantStats(1, 0, 0)
			g.end("a.1")
			g.wantStats(0, 0, 0)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { tt.do(newRequests(t, tt.o, tt.quotas)) })
		})
	}
}

func TestEnterWithAnEndedContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	l := NewLine(Options{Concurrent: 1})
	if _, err := l.Enter(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if got := l.Stats(); got != (Stats{}) {
		t.Errorf("%+v", got)
	}
}

// If a request is canceled at the moment it gets a turn, the turn goes to the next request.
func TestTurnOfCanceledRequestGoesToNext(t *testing.T) {
	l := NewLine(Options{Concurrent: 1, Queue: 2})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for range 50 { // select may choose either case
		first, err := l.Enter(callerContext(t.Context(), "a", Quota{}), nil)
		if err != nil {
			t.Fatal(err)
		}
		second := Turn{line: l}
		w, err := l.join(&second, &Caller{Name: "b"})
		if err != nil {
			t.Fatal(err)
		}
		first.Leave()
		if err := l.wait(ended, w, 0); err == nil {
			second.Leave()
		}
		if got := l.Stats(); got.Running != 0 {
			t.Fatalf("%+v", got)
		}
	}
}

// A caller without a name waits as long as its context lasts.
func TestAnonymousCallerWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLine(Options{Concurrent: 1, Queue: 1})
		first, err := l.Enter(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 100*DefaultPatience)
		defer cancel()
		began := time.Now()
		if _, err := l.Enter(ctx, nil); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != 100*DefaultPatience {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		first.Leave()
		if len(l.callers.byName) != 0 {
			t.Errorf("callers: %v", l.callers.byName)
		}
	})
}

// Begins is called before Enter returns. If it panics, the turn is released.
func TestCallerHearsOfTurn(t *testing.T) {
	l := NewLine(Options{Concurrent: 1})
	begun := 0
	turn, err := l.Enter(WithCaller(t.Context(), &Caller{Name: "a", Begins: func() { begun++ }}), nil)
	if err != nil || begun != 1 {
		t.Fatalf("Begins was called %d times, %v", begun, err)
	}
	if _, err := l.Enter(WithCaller(t.Context(), &Caller{Name: "b", Begins: func() { t.Error("Begins was called") }}), nil); !errors.Is(err, run.ErrBusy) {
		t.Error(err)
	}
	turn.Leave()
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		_, _ = l.Enter(WithCaller(t.Context(), &Caller{Name: "a", Begins: func() { panic("frontend") }}), nil)
	}()
	if got := l.Stats(); got.Running != 0 {
		t.Errorf("%+v", got)
	}
}

func TestCallersAreForgotten(t *testing.T) {
	for _, quota := range []Quota{{}, {Concurrent: 1}, {Rate: 1000, Burst: 1}} {
		synctest.Test(t, func(t *testing.T) {
			l := NewLine(Options{Concurrent: 4, Queue: 4})
			most := 0
			for i := range 50_000 {
				turn, err := l.Enter(callerContext(t.Context(), fmt.Sprint(i), quota), nil)
				if err != nil {
					t.Fatal(err)
				}
				turn.Leave()
				if i%100 == 0 {
					<-time.After(time.Millisecond)
				}
				most = max(most, len(l.callers.byName))
			}
			if most > 400 {
				t.Errorf("with %+v, up to %d callers were known", quota, most)
			}
		})
	}
}

// BenchmarkEnter measures the cost of a turn in a program that embeds cordon.
func BenchmarkEnter(b *testing.B) {
	l := NewLine(Options{Concurrent: 64, Queue: 64})
	for _, tt := range []struct {
		name string
		ctx  context.Context
	}{{"anonymous", b.Context()}, {"named", callerContext(b.Context(), "a", Quota{})}} {
		b.Run(tt.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				turn, err := l.Enter(tt.ctx, nil)
				if err != nil {
					b.Fatal(err)
				}
				turn.Leave()
			}
		})
	}
}
