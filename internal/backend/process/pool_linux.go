package process

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/cgroup"
	"github.com/cordon-sandbox/cordon/internal/zygote"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// maxAge is after how much time a fork server is replaced, if not by the count
// of its workers before: no hash secret and no address layout lives for ever.
const maxAge = 15 * time.Minute

// forkers ask for workers at the same time: while one warms up on one core,
// the zygote forks the next on another.
const forkers = 2

// maxBarren is how many fork servers in a row may fail to start, or die before they
// gave a single worker, before that is reported. One that has given workers does not
// count: whoever kills servers now and then delays callers, and fails none of them.
const maxBarren = 3

// retryDelay keeps a host that cannot fork from being asked in a loop.
const retryDelay = 100 * time.Millisecond

// member is a worker with its cgroup.
type member struct {
	*zygote.Worker
	server *zygote.Zygote
	group  *cgroup.Group // nil without a cgroup
	done   atomic.Int32  // of two: the worker is dead, and nobody asks about it
	// replace asks for a successor, once.
	replace func()
}

func newMember(z *zygote.Zygote) *member { return &member{server: z, replace: func() {}} }

// fits says whether a worker with some limits can serve a run with others: it
// can narrow them, but for the size of its scratch space. The result's comes with
// each guest.
func fits(run, worker policy.Limits) bool {
	run.Result = worker.Result
	_, _, _, wider := run.Above(worker)
	return !wider && run.Scratch == worker.Scratch
}

// interpreterShare is what a worker's own pages may take in its cgroup before
// the guest has used anything: those that it copied from the fork server.
const interpreterShare = 16 * policy.MiB

func groupLimit(l policy.Limits) int64 { return int64(l.Memory + interpreterShare) }

// lease takes a cgroup, and gives the descriptor by which a worker joins it, or
// -1.
func (m *member) lease(b *Backend, limits policy.Limits) (join int, err error) {
	groups, err := b.groupPool()
	if err != nil || groups == nil {
		return -1, err
	}
	if m.group, err = groups.Lease(cgroup.Limits{Memory: groupLimit(limits)}); err != nil {
		return -1, run.Errorf(run.Internal, "cgroup: %w", err)
	}
	if fds := m.group.JoinFDs(); len(fds) == 1 {
		return fds[0], nil
	}
	return -1, nil
}

// enroll puts a worker that could not join its cgroup by itself there, ahead of
// demand: that may wait for all cores.
func (m *member) enroll(join int) error {
	if m.group == nil || join >= 0 {
		return nil
	}
	if err := m.group.Add(m.PID); err != nil {
		m.Close()
		return run.Errorf(run.Internal, "cgroup: %w", err)
	}
	return nil
}

// letGo cleans up when it is called for the second time: as a rule by the
// fork server's report, while the caller has its result already.
func (m *member) letGo() {
	if m.done.Add(1) < 2 {
		return
	}
	if m.Worker != nil {
		m.Worker.Close()
	}
	switch {
	case m.group == nil:
	case m.Worker != nil && m.Reaped():
		m.group.ReturnEmpty()
	default:
		m.group.Return()
	}
	m.replace()
}

// Close ends the worker; nobody asks about it after that.
func (m *member) Close() {
	m.Worker.Kill(zygote.KilledDone)
	m.letGo()
}

// pool keeps workers ready. One that is taken is replaced when it is dead, when
// its guest takes long, or at once when few are left: a fork takes the better
// part of a core for a millisecond, which a short run on a small machine would
// feel.
type pool struct {
	backend *Backend
	recipe

	ready chan struct{} // one token for each worker in resting
	wants chan struct{} // one token for each place there that is not filled
	fails chan error    // why no worker came, for one who waits for it

	replacing sync.Mutex // held while a fork server starts, for tens of milliseconds

	mu      sync.Mutex
	resting []*member // those of a replaced fork server first, the newest last
	zygote  *zygote.Zygote
	started time.Time
	retired []*zygote.Zygote // replaced, and perhaps not done yet
	barren  int              // servers in a row that gave nothing
	proven  *zygote.Zygote   // the last server that gave a worker
	mourned *zygote.Zygote   // the last server whose death was counted

	// start starts a fork server, and ask has it fork a worker. Tests replace them.
	start func(context.Context) (*zygote.Zygote, error)
	ask   func(context.Context, *zygote.Zygote, policy.Limits, bool) (*member, error)

	ctx     context.Context
	stop    context.CancelFunc
	fillers sync.WaitGroup
}

func newPool(b *Backend, first *zygote.Zygote, r recipe) *pool {
	p := &pool{
		backend: b, recipe: r, zygote: first, started: time.Now(),
		ready: make(chan struct{}, r.idle), wants: make(chan struct{}, r.idle),
		fails: make(chan error),
	}
	p.start = func(ctx context.Context) (*zygote.Zygote, error) { return b.startZygote(ctx, r) }
	p.ask = p.forkFrom
	p.ctx, p.stop = context.WithCancel(context.Background())
	for range r.idle {
		p.wants <- struct{}{}
	}
	for range min(forkers, r.idle) {
		p.fillers.Go(p.fill)
	}
	return p
}

func (p *pool) fill() {
	for {
		select {
		case <-p.ctx.Done():
			return
		case <-p.wants:
		}
		// When the pool is empty somebody waits, or will soon.
		m, err := p.fork(p.ctx, p.limits, len(p.ready) > 0)
		if err == nil {
			p.add(m)
			continue
		}
		p.wants <- struct{}{}
		select {
		case <-p.ctx.Done():
			return
		case p.fails <- err:
		case <-time.After(retryDelay):
		}
	}
}

// fork gives a checked worker in its cgroup. No guest has started yet: when the
// fork server dies over it, or while it starts, the next one is asked. How many have
// died is counted for the pool and not here: a filler may meet one death after the
// other while its neighbour serves everybody, and its error would go to a caller who
// came behind all of them.
func (p *pool) fork(ctx context.Context, limits policy.Limits, warm bool) (*member, error) {
	for {
		z, err := p.current(ctx)
		var m *member
		if err == nil {
			m, err = p.ask(ctx, z, limits, warm)
		}
		switch {
		case err == nil:
			p.gave(z)
			return m, nil
		case p.ctx.Err() != nil:
			return nil, backend.ErrClosed()
		case ctx.Err() != nil || z != nil && z.Alive() || p.gaveNothing(z):
			return nil, err
		}
	}
}

// gave notes that a fork server has given a worker.
func (p *pool) gave(z *zygote.Zygote) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.barren, p.proven = 0, z
}

// gaveNothing counts a fork server that is dead, or nil for one that did not start,
// once. It says whether too many in a row gave nothing.
func (p *pool) gaveNothing(z *zygote.Zygote) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if z == nil || z != p.proven && z != p.mourned {
		p.barren++
		p.mourned = z
	}
	return p.barren >= maxBarren
}

func (p *pool) forkFrom(ctx context.Context, z *zygote.Zygote, limits policy.Limits, warm bool) (m *member, err error) {
	began := time.Now()
	m = newMember(z)
	join, err := m.lease(p.backend, limits)
	if err != nil {
		return nil, err
	}
	if m.Worker, err = z.Fork(ctx, limits, warm, join, m.letGo); err != nil {
		m.letGo()
		return nil, run.Errorf(run.Internal, "%w", err)
	}
	if err = m.enroll(join); err == nil {
		p.meter.Forks.Since(began)
	}
	return m, err
}

// current gives the fork server, a new one when the old one is dead or due.
// Who takes a worker meanwhile does not wait for it.
func (p *pool) current(ctx context.Context) (*zygote.Zygote, error) {
	p.replacing.Lock()
	defer p.replacing.Unlock()
	if z := p.server(); z != nil {
		return z, nil
	}
	if p.ctx.Err() != nil {
		return nil, backend.ErrClosed() // nobody would end another
	}
	z, err := p.start(ctx)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.retired = append(slices.DeleteFunc(p.retired, (*zygote.Zygote).Gone), p.zygote)
	p.zygote.Retire()
	p.zygote, p.started = z, time.Now()
	return z, nil
}

// server gives the fork server, nil when it is dead or due.
func (p *pool) server() *zygote.Zygote {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.zygote.Alive() && p.zygote.Forks() < p.backend.options.MaxForks && time.Since(p.started) < maxAge {
		return p.zygote
	}
	return nil
}

// take gives a worker that can have the limits. One with the policy's own is
// ready; one with wider limits is forked for the purpose, since limits cannot
// be raised.
func (p *pool) take(ctx context.Context, limits policy.Limits) (*member, error) {
	if !fits(limits, p.limits) {
		return p.fork(ctx, limits, false)
	}
	select { // at once, as a rule
	case <-p.ready:
		return p.lease(), nil
	default:
	}
	select {
	case <-p.ready:
		return p.lease(), nil
	case err := <-p.fails:
		return nil, err
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-p.ctx.Done():
		return nil, backend.ErrClosed()
	}
}

// add has the worker wait for its guest: in front, if its fork server was
// replaced while it came.
func (p *pool) add(m *member) {
	p.mu.Lock()
	if m.server == p.zygote {
		p.resting = append(p.resting, m)
	} else {
		p.resting = slices.Insert(p.resting, 0, m)
	}
	p.mu.Unlock()
	p.ready <- struct{}{} // never blocks: a want is a place
}

// lease gives the worker that a token of ready stands for.
func (p *pool) lease() *member {
	m := p.next()
	m.replace = sync.OnceFunc(func() { p.wants <- struct{}{} })
	if len(p.ready) <= cap(p.ready)/2 {
		m.replace()
	}
	return m
}

// next gives the newest worker, whose memory is still in the caches. Those that
// a replaced fork server has left go before, or they might wait for ever.
func (p *pool) next() *member {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := 0
	if p.resting[0].server == p.zygote {
		i = len(p.resting) - 1
	}
	m := p.resting[i]
	p.resting = slices.Delete(p.resting, i, i+1)
	return m
}

func (p *pool) waiting() int { return len(p.ready) }

// stopAll ends the fork servers, and with them every worker, busy or not.
func (p *pool) stopAll() {
	p.stop()
	p.replacing.Lock() // one that starts is there by then, and none starts after
	defer p.replacing.Unlock()
	p.mu.Lock()
	zygotes := append(slices.Clone(p.retired), p.zygote)
	p.mu.Unlock()
	for _, z := range zygotes {
		z.Close()
	}
}

// clear lets go of the workers that nobody wanted.
func (p *pool) clear() {
	p.fillers.Wait()
	for {
		select {
		case <-p.ready:
			p.next().Close()
		default:
			return
		}
	}
}
