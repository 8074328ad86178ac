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

// Pool makes instances of an interpreter for scripts of one kind: with the language rules,
// or without. Each script gets a new one, a copy of the memory of one that has started.
// Most are made before a request needs them.
type Pool struct {
	interpreter *Interpreter
	rules       *policy.Language
	preload     []string

	mu    sync.Mutex
	image *memory.Image
	made  int // of this image

	ready    chan *Instance
	wanted   chan struct{} // a request found none
	ctx      context.Context
	end      context.CancelFunc
	making   sync.WaitGroup
	unwanted error // of closing the last one that was made ahead
}

// NewPool starts the interpreter, and keeps idle instances ready.
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

// boot starts an interpreter with a seed of its own, and gives its memory.
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

// firstImage takes a kept image for a single run, if there is one: starting an interpreter
// takes longer than most of what such a run does.
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

// newImage starts an interpreter, and finds out what one guest changes in it.
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

// probe runs a small script, and notes which pages it changes.
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
		return errors.Join(run.Errorf(run.Internal, "CPython started, and runs no script: %s", r.Error), err)
	}
	if image.Hot, err = probe.guest.Memory.Region.Changed(image.Length); err != nil {
		image.Hot = nil // guests copy them one by one
	}
	return nil
}

// makeAhead keeps as many instances ready as there is room for.
func (p *Pool) makeAhead() {
	for {
		made, err := p.fresh()
		if err != nil {
			// The next request makes its own, or gets the error.
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

// fresh makes an instance of the present image.
func (p *Pool) fresh() (*Instance, error) {
	began := time.Now()
	p.mu.Lock()
	image := p.image
	image.Hold() // a rotation may close it meanwhile
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

// own is how much memory an interpreter has before its guest.
func (p *Pool) own() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.image.Base
}

// rotate replaces the image, while the old one goes on serving.
func (p *Pool) rotate() {
	next, err := p.newImage(p.ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.made = 0
	if err != nil {
		return // and tries again later
	}
	p.image.Close()
	p.image = next
}

// Ready is how many instances wait.
func (p *Pool) Ready() int { return len(p.ready) }

// Lease gives an instance: one that is ready, as a rule.
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

// Close is for when no script runs.
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
