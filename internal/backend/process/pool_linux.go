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

// maxAge is the age at which a fork server is replaced, unless it has forked MaxForks
// workers before. No hash secret and no address layout lives forever.
const maxAge = 15 * time.Minute

// forkers is the number of concurrent forks: while one worker warms up on one core, the
// zygote forks the next on another.
const forkers = 2

// maxBarren is how many fork servers in a row may fail to start, or die without having
// forked a worker, before that is an error. A server that has forked workers does not
// count: killing servers now and then delays callers, but fails none of them.
const maxBarren = 3

// retryDelay limits the retries on a host that cannot fork.
const retryDelay = 100 * time.Millisecond

// member is a worker with its cgroup.
type member struct {
	*zygote.Worker
	server *zygote.Zygote
	group  *cgroup.Group // nil without a cgroup
	done   atomic.Int32  // counts to two: the worker is dead, and its user is done
	// replace requests a successor, once.
	replace func()
}

func newMember(z *zygote.Zygote) *member { return &member{server: z, replace: func() {}} }

// interpreterShare is the memory for pages that a worker copies from the fork server.
// They count in its cgroup before the guest uses anything.
const interpreterShare = 16 * policy.MiB

func groupLimit(l policy.Limits) int64 { return int64(l.Memory + interpreterShare) }

// lease takes a cgroup with the usual limit, and returns the descriptor through which a
// worker joins it, or -1. A run with another limit sets it when it starts.
func (m *member) lease(b *Backend) (join int, err error) {
	groups, err := b.groupPool()
	if err != nil || groups == nil {
		return -1, err
	}
	if m.group, err = groups.Lease(cgroup.Limits{Memory: groupLimit(b.options.Policy.Limits)}); err != nil {
		return -1, run.Errorf(run.Internal, "cgroup: %w", err)
	}
	if fds := m.group.JoinFDs(); len(fds) == 1 {
		return fds[0], nil
	}
	return -1, nil
}

// enroll moves a worker that could not join its cgroup itself. It does so ahead of
// demand, because the kernel may wait for all cores.
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

// letGo cleans up when it is called for the second time. That is usually the fork
// server's report, when the caller already has its result.
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

// Close ends the worker, which must not be used afterwards.
func (m *member) Close() {
	m.Worker.Kill(zygote.KilledDone)
	m.letGo()
}

// pool keeps workers ready. A worker that is taken is replaced when it is dead, when its
// guest takes long, or at once if few are left: a fork uses most of a core for a
// millisecond, which would slow down a short run on a small machine.
type pool struct {
	backend *Backend
	recipe

	ready chan struct{} // one token for each worker in resting
	wants chan struct{} // one token for each missing worker
	fails chan error    // why no worker was forked, for a waiting caller

	replacing sync.Mutex // held while a fork server starts, for tens of milliseconds

	// standIn is the first worker, which has an interpreter of its own, or nil. It serves a
	// caller that comes before the fork server has forked a worker.
	standIn *member

	mu      sync.Mutex
	resting []*member      // idle workers: those of a replaced fork server first, the newest last
	zygote  *zygote.Zygote // nil before the first one has started
	started time.Time
	retired []*zygote.Zygote // replaced, and perhaps still alive
	barren  int              // servers in a row that forked no worker
	proven  *zygote.Zygote   // the last server that forked a worker
	counted *zygote.Zygote   // the last server whose death was counted

	// start starts a fork server, and ask forks a worker from it. Tests replace them.
	start func(context.Context) (*zygote.Zygote, error)
	ask   func(ctx context.Context, z *zygote.Zygote, scratch policy.Bytes, warm bool) (*member, error)

	ctx     context.Context
	stop    context.CancelFunc
	fillers sync.WaitGroup
}

func newPool(b *Backend, r recipe) *pool {
	p := &pool{
		backend: b, recipe: r,
		ready: make(chan struct{}, r.idle), wants: make(chan struct{}, r.idle),
		fails: make(chan error),
	}
	p.start = func(ctx context.Context) (*zygote.Zygote, error) { return b.startZygote(ctx, r) }
	p.ask = p.forkFrom
	p.ctx, p.stop = context.WithCancel(context.Background())
	return p
}

// openWith starts to fill the pool from a fork server.
func (p *pool) openWith(first *zygote.Zygote) {
	p.zygote, p.started = first, time.Now()
	p.open(p.idle)
}

// openBehind starts the fork server in the background. Meanwhile there is one worker.
func (p *pool) openBehind(standIn *member) {
	p.standIn, p.resting, p.retired = standIn, []*member{standIn}, []*zygote.Zygote{standIn.server}
	p.ready <- struct{}{}
	p.open(p.idle - 1)
}

func (p *pool) open(missing int) {
	for range missing {
		p.wants <- struct{}{}
	}
	for range min(forkers, p.idle) {
		p.fillers.Go(p.fill)
	}
}

func (p *pool) fill() {
	for {
		select {
		case <-p.ctx.Done():
			return
		case <-p.wants:
		}
		// When the pool is empty, a caller waits or will wait soon.
		m, err := p.fork(p.ctx, p.scratch, len(p.ready) > 0)
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

// fork returns a checked worker in its cgroup. No guest has started yet, so if the fork
// server dies meanwhile, the next one is asked. The pool counts the deaths, not this
// function: one filler may see several deaths while another serves all callers, and its
// error would reach a caller that came after all of them.
func (p *pool) fork(ctx context.Context, scratch policy.Bytes, warm bool) (*member, error) {
	for {
		z, err := p.current(ctx)
		var m *member
		if err == nil {
			m, err = p.ask(ctx, z, scratch, warm)
		}
		switch {
		case err == nil:
			p.recordFork(z)
			return m, nil
		case p.ctx.Err() != nil:
			return nil, backend.ErrClosed()
		case ctx.Err() != nil || z != nil && z.Alive() || p.countBarren(z):
			return nil, err
		}
	}
}

// recordFork records that a fork server has forked a worker.
func (p *pool) recordFork(z *zygote.Zygote) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.barren, p.proven = 0, z
}

// countBarren counts a dead fork server once; nil stands for one that did not start. It
// reports whether too many in a row forked no worker.
func (p *pool) countBarren(z *zygote.Zygote) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if z == nil || z != p.proven && z != p.counted {
		p.barren++
		p.counted = z
	}
	return p.barren >= maxBarren
}

func (p *pool) forkFrom(ctx context.Context, z *zygote.Zygote, scratch policy.Bytes, warm bool) (m *member, err error) {
	began := time.Now()
	m = newMember(z)
	join, err := m.lease(p.backend)
	if err != nil {
		return nil, err
	}
	if m.Worker, err = z.Fork(ctx, scratch, warm, join, m.letGo); err != nil {
		m.letGo()
		return nil, run.Errorf(run.Internal, "%w", err)
	}
	if err = m.enroll(join); err == nil {
		p.meter.Forks.Since(began)
	}
	return m, err
}

// current returns the fork server, or starts a new one if the old one is dead or due.
// Callers that take an idle worker meanwhile do not wait for it.
func (p *pool) current(ctx context.Context) (*zygote.Zygote, error) {
	p.replacing.Lock()
	defer p.replacing.Unlock()
	if z := p.server(); z != nil {
		return z, nil
	}
	if p.ctx.Err() != nil {
		return nil, backend.ErrClosed() // nothing would end another
	}
	z, err := p.start(ctx)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.retired = slices.DeleteFunc(p.retired, (*zygote.Zygote).Gone)
	if p.zygote != nil {
		p.retired = append(p.retired, p.zygote)
		p.zygote.Retire()
	}
	p.zygote, p.started = z, time.Now()
	return z, nil
}

// server returns the fork server, or nil if there is none, or if it is dead or due.
func (p *pool) server() *zygote.Zygote {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.zygote != nil && p.zygote.Alive() && p.zygote.Forks() < p.backend.options.MaxForks && time.Since(p.started) < maxAge {
		return p.zygote
	}
	return nil
}

// take returns a worker. Those that wait have a scratch space of the usual size; one with
// another size is forked on demand.
func (p *pool) take(ctx context.Context, scratch policy.Bytes) (*member, error) {
	if scratch != p.scratch {
		return p.fork(ctx, scratch, false)
	}
	select { // usually ready at once
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

// add puts a worker into the pool: in front, if its fork server was replaced meanwhile. The
// first one replaces the stand-in, which takes more memory and is slower, if nobody needed
// it.
func (p *pool) add(m *member) {
	p.mu.Lock()
	unneeded := slices.Index(p.resting, p.standIn)
	switch {
	case unneeded >= 0:
		p.resting[unneeded] = m // and has its token
	case m.server == p.zygote:
		p.resting = append(p.resting, m)
	default:
		p.resting = slices.Insert(p.resting, 0, m)
	}
	p.mu.Unlock()
	if unneeded >= 0 {
		p.standIn.Close()
		p.wants <- struct{}{}
		return
	}
	p.ready <- struct{}{} // never blocks: there is room for each want
}

// lease takes the worker that belongs to a token of ready.
func (p *pool) lease() *member {
	m := p.next()
	m.replace = sync.OnceFunc(func() { p.wants <- struct{}{} })
	if len(p.ready) <= cap(p.ready)/2 {
		m.replace()
	}
	return m
}

// next returns the newest worker, whose memory is still in the caches. Workers of a
// replaced fork server come first; otherwise they might wait forever.
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

// stopAll kills the fork servers, and with them every worker, busy or not.
func (p *pool) stopAll() {
	p.stop()
	p.replacing.Lock() // a starting server is stored by now, and none starts later
	defer p.replacing.Unlock()
	p.mu.Lock()
	zygotes := slices.Clone(p.retired)
	if p.zygote != nil {
		zygotes = append(zygotes, p.zygote)
	}
	p.mu.Unlock()
	for _, z := range zygotes {
		z.Close()
	}
}

// clear frees the idle workers.
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
