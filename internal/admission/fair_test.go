package admission

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"github.com/cordon-sandbox/cordon/run"
)

// Invariants for any order of requests: the bounds of the line and of each caller hold; no
// turn stays free while a request that could have it waits; the requests of a caller keep
// their order; and no caller gets two turns while another waits that could have had one.
func TestFairness(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// The wrapper hides Deadline, which must not be called inside a synctest bubble.
		rapid.Check(struct{ testing.TB }{t}, func(rt *rapid.T) {
			m := newModel(t, rt)
			defer m.finish()
			rt.Repeat(map[string]func(*rapid.T){
				"arrive":  m.arrive,
				"leave":   m.end,
				"give up": m.giveUp,
				"":        m.check,
			})
		})
	})
}

type request struct {
	who, number int
	cancel      context.CancelFunc
	leave       func()
	err         error
	answered    bool
}

// model tracks the requests in a line and checks the line's answers.
type model struct {
	t      *testing.T
	o      Options
	quotas []Quota
	line   *Line

	mu      sync.Mutex
	answers []*request // answered and not processed yet, in the order of the answers
	waiting []*request
	running []*request
	numbers int
	// overtaken[a][b] counts the turns that b gets while a waits and could run.
	overtaken [][]int
}

func newModel(t *testing.T, rt *rapid.T) *model {
	m := &model{t: t, o: Options{
		Concurrent: rapid.IntRange(1, 3).Draw(rt, "concurrent"),
		Queue:      rapid.IntRange(0, 6).Draw(rt, "queue"),
	}}
	m.quotas = make([]Quota, 4)
	m.overtaken = make([][]int, len(m.quotas))
	for i := range m.quotas {
		// Every second caller has a bound of its own.
		m.quotas[i].Concurrent = i % 2 * rapid.IntRange(1, 2).Draw(rt, "own")
		m.overtaken[i] = make([]int, len(m.quotas))
	}
	m.line = NewLine(m.o)
	return m
}

func (m *model) arrive(rt *rapid.T) {
	who := rapid.IntRange(0, len(m.quotas)-1).Draw(rt, "who")
	before := slices.Clone(m.waiting)
	r := &request{who: who, number: m.numbers}
	m.numbers++
	ctx, cancel := context.WithCancel(m.t.Context())
	r.cancel = cancel
	go func() {
		turn, err := m.line.Enter(callerContext(ctx, fmt.Sprint(who), m.quotas[who]), nil)
		m.mu.Lock()
		defer m.mu.Unlock()
		r.leave, r.err, r.answered = turn.Leave, err, true
		m.answers = append(m.answers, r)
	}()
	m.waiting = append(m.waiting, r)
	m.collect(rt)
	if sent := m.evicted(before, r); sent != nil {
		if len(before) < m.o.Queue {
			rt.Fatalf("busy, with %d of %d waiting", len(before), m.o.Queue)
		}
		if own, other := count(before, who), count(before, sent.who); sent != r && other <= own+1 {
			rt.Fatalf("a caller with %d waiting made room for one with %d", other, own)
		}
		if sent == r {
			for other := range m.quotas {
				if count(before, other) > count(before, who)+1 {
					rt.Fatalf("a caller with %d waiting shut out one with %d", count(before, other), count(before, who))
				}
			}
		}
	}
}

// evicted returns the request that was refused because of the newcomer, perhaps the
// newcomer itself.
func (m *model) evicted(before []*request, newcomer *request) *request {
	for _, r := range append(before, newcomer) {
		if r.answered && errors.Is(r.err, run.ErrBusy) {
			return r
		}
	}
	return nil
}

func (m *model) end(rt *rapid.T) {
	if len(m.running) == 0 {
		rt.Skip("no request runs")
	}
	i := rapid.IntRange(0, len(m.running)-1).Draw(rt, "which")
	leave := m.running[i].leave
	m.running[i].cancel()
	m.running = slices.Delete(m.running, i, i+1)
	leave()
	m.collect(rt)
}

func (m *model) giveUp(rt *rapid.T) {
	if len(m.waiting) == 0 {
		rt.Skip("no request waits")
	}
	r := m.waiting[rapid.IntRange(0, len(m.waiting)-1).Draw(rt, "which")]
	r.cancel()
	m.collect(rt)
	if !errors.Is(r.err, context.Canceled) {
		rt.Fatalf("a canceled request got %v", r.err)
	}
}

// collect processes the answers in order. At most one of them is a turn, because each step adds
// or ends one request.
func (m *model) collect(rt *rapid.T) {
	synctest.Wait()
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.answers {
		at := slices.Index(m.waiting, r)
		if r.err == nil {
			if first := slices.IndexFunc(m.waiting, func(o *request) bool { return o.who == r.who }); first != at {
				rt.Fatalf("request %d of caller %d went before request %d", r.number, r.who, m.waiting[first].number)
			}
			for other := range m.quotas {
				if other != r.who && count(m.waiting, other) > 0 && m.mayRun(other) {
					if m.overtaken[other][r.who]++; m.overtaken[other][r.who] > 1 {
						rt.Fatalf("caller %d had two turns while %d waited", r.who, other)
					}
				}
			}
			clear(m.overtaken[r.who])
			m.running = append(m.running, r)
		}
		m.waiting = slices.Delete(m.waiting, at, at+1)
	}
	m.answers = nil
	for who := range m.quotas {
		if count(m.waiting, who) == 0 || !m.mayRun(who) {
			clear(m.overtaken[who])
		}
	}
}

func (m *model) mayRun(who int) bool {
	return m.quotas[who].Concurrent == 0 || count(m.running, who) < m.quotas[who].Concurrent
}

func (m *model) check(rt *rapid.T) {
	got := m.line.Stats()
	if got.Running != len(m.running) || got.Waiting != len(m.waiting) {
		rt.Fatalf("%+v, with %d running and %d waiting", got, len(m.running), len(m.waiting))
	}
	if len(m.running) > m.o.Concurrent || len(m.waiting) > m.o.Queue {
		rt.Fatalf("%+v, above %+v", got, m.o)
	}
	for who := range m.quotas {
		own := m.quotas[who].Concurrent
		if own > 0 && count(m.running, who) > own {
			rt.Fatalf("caller %d has %d turns, above its %d", who, count(m.running, who), own)
		}
		if len(m.running) < m.o.Concurrent && count(m.waiting, who) > 0 && m.mayRun(who) {
			rt.Fatalf("caller %d waits while a turn is free", who)
		}
	}
}

func (m *model) finish() {
	for _, r := range m.waiting {
		r.cancel()
	}
	synctest.Wait()
	for _, r := range m.running {
		r.leave()
		r.cancel()
	}
}

func count(of []*request, who int) (n int) {
	for _, r := range of {
		if r.who == who {
			n++
		}
	}
	return n
}
