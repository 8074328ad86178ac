package python

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/backend/wasm/memory"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Pool makes instances for scripts with the language rules, or for those without. Each script
// gets a new instance, with a copy of the memory of an interpreter that has started. Most are
// made before a request needs them.
type Pool struct {
	interpreter *Interpreter
	rules       *policy.Language
	preload     []string

	mu    sync.Mutex
	image *memory.Image
	made  int // instances of this image

	ready    chan *Instance
	wanted   chan struct{} // a request found no instance ready
	ctx      context.Context
	end      context.CancelFunc
	making   sync.WaitGroup
	unwanted error // from closing the last instance that was made ahead
}

// NewPool starts the interpreter and keeps idle instances ready.
func NewPool(ctx context.Context, i *Interpreter, rules *policy.Language, preload []string, idle int) (*Pool, error) {
	p := &Pool{
		interpreter: i, rules: rules, preload: preload,
		ready: make(chan *Instance, idle), wanted: make(chan struct{}, 1),
	}
	p.ctx, p.end = context.WithCancel(context.Background())
	var err error
	if p.image, err = p.firstImage(ctx, idle == 0); err != nil {
		return nil, err
	}
	if idle > 0 {
		p.making.Go(p.makeAhead)
	}
	return p, nil
}

// boot starts an interpreter with a new seed and returns its memory.
func (p *Pool) boot(ctx context.Context) ([]byte, error) {
	began := time.Now()
	seed, err := newSeed()
	if err != nil {
		return nil, run.Wrap(run.Internal, err)
	}
	content, err := p.interpreter.boot(ctx, p.rules, p.preload, seed)
	if err == nil {
		p.interpreter.options.Meter.Setups.Since(began)
	}
	return content, err
}

// firstImage uses a kept image for a single run, if there is one: starting an interpreter
// takes longer than most of such runs.
func (p *Pool) firstImage(ctx context.Context, single bool) (*memory.Image, error) {
	if !single {
		return p.newImage(ctx)
	}
	content, err := p.kept()
	if err != nil {
		if content, err = p.boot(ctx); err != nil {
			return nil, err
		}
		p.keep(content)
	}
	return p.interpreter.image(content, uint64(len(content)))
}

// newImage starts an interpreter and finds out which pages a guest changes.
func (p *Pool) newImage(ctx context.Context) (*memory.Image, error) {
	content, err := p.boot(ctx)
	if err != nil {
		return nil, err
	}
	image, err := p.interpreter.image(content, uint64(len(content)))
	if err != nil {
		return nil, err
	}
	if err := p.probe(ctx, image); err != nil {
		image.Close()
		return nil, err
	}
	return image, nil
}

// probe runs a small script and records which pages it changes.
func (p *Pool) probe(ctx context.Context, image *memory.Image) (err error) {
	probe, err := p.interpreter.fresh(image)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, probe.Close()) }()
	job := backend.Job{Request: run.Request{Script: run.Script{Source: "result = 1 + 1", Restricted: p.rules != nil}}, Limits: policy.DefaultLimits()}
	r, err := probe.Run(ctx, job, false)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil || !r.OK():
		return errors.Join(run.Errorf(run.Internal, "CPython started, but a test script failed: %s", r.Error), err)
	}
	if image.Hot, err = probe.guest.Memory.Region.Changed(image.Length); err != nil {
		image.Hot = nil // pages are then copied when they are touched
	}
	return nil
}

// makeAhead keeps the queue of ready instances full.
func (p *Pool) makeAhead() {
	for {
		made, err := p.fresh()
		if err != nil {
			// The next request makes an instance itself, or gets the error.
			select {
			case <-p.wanted:
				continue
			case <-p.ctx.Done():
				return
			}
		}
		select {
		case p.ready <- made:
		case <-p.ctx.Done():
			p.unwanted = made.Close()
			return
		}
	}
}

// fresh returns an instance of the current image.
func (p *Pool) fresh() (*Instance, error) {
	began := time.Now()
	p.mu.Lock()
	image := p.image
	image.Hold() // a rotation may close it in the meantime
	defer image.Close()
	p.made++
	rotate := p.made == p.interpreter.options.RotateAfter
	p.mu.Unlock()
	if rotate {
		p.making.Go(p.rotate)
	}
	made, err := p.interpreter.fresh(image)
	if err != nil {
		return nil, err
	}
	made.guest.Memory.Region.Warm(image.Hot)
	p.interpreter.options.Meter.Forks.Since(began)
	return made, nil
}

// own returns the memory of the interpreter itself, before a guest runs.
func (p *Pool) own() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.image.Base
}

// rotate replaces the image. The old one serves until the new one is ready.
func (p *Pool) rotate() {
	next, err := p.newImage(p.ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.made = 0
	if err != nil {
		return // it is tried again later
	}
	p.image.Close()
	p.image = next
}

// Ready returns how many instances wait.
func (p *Pool) Ready() int { return len(p.ready) }

// Lease returns an instance, usually one that was made ahead.
func (p *Pool) Lease() (*Instance, error) {
	select {
	case i := <-p.ready:
		return i, nil
	default:
	}
	select {
	case p.wanted <- struct{}{}:
	default:
	}
	return p.fresh()
}

// Close releases the pool. No script may be running.
func (p *Pool) Close() error {
	p.end()
	p.making.Wait()
	err := p.unwanted
	for len(p.ready) > 0 {
		err = errors.Join(err, (<-p.ready).Close())
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.image.Close()
	return err
}
