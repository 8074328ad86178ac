package wasm

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// python makes interpreters for scripts of one kind: by the language rules, or without.
// Each guest has a new one: a copy of the memory of one that has started, of which most
// are made before they are wanted.
type python struct {
	interpreter *interpreter
	rules       *policy.Language
	preload     []string

	mu    sync.Mutex
	image *image
	made  int // of this image

	ready    chan *instance
	wanted   chan struct{} // somebody found none
	ctx      context.Context
	end      context.CancelFunc
	making   sync.WaitGroup
	unwanted error // how the last one was closed that was made ahead
}

func newPython(ctx context.Context, i *interpreter, rules *policy.Language, preload []string, idle int) (*python, error) {
	p := &python{
		interpreter: i, rules: rules, preload: preload,
		ready: make(chan *instance, idle), wanted: make(chan struct{}, 1),
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
func (p *python) boot(ctx context.Context) ([]byte, error) {
	began := time.Now()
	seed, err := newSeed()
	if err != nil {
		return nil, run.Wrap(run.Internal, err)
	}
	memory, err := p.interpreter.boot(ctx, p.rules, p.preload, seed)
	if err == nil {
		p.interpreter.backend.meter.Setups.Since(began)
	}
	return memory, err
}

// firstImage is for a single run one that was kept, if there is one: to start an
// interpreter takes longer than most of what such a run does.
func (p *python) firstImage(ctx context.Context, single bool) (*image, error) {
	if !single {
		return p.newImage(ctx)
	}
	memory, err := p.kept()
	if err != nil {
		if memory, err = p.boot(ctx); err != nil {
			return nil, err
		}
		p.keep(memory)
	}
	return p.interpreter.image(memory, uint64(len(memory)))
}

// newImage starts an interpreter, and looks at what one guest changes in it.
func (p *python) newImage(ctx context.Context) (*image, error) {
	memory, err := p.boot(ctx)
	if err != nil {
		return nil, err
	}
	image, err := p.interpreter.image(memory, uint64(len(memory)))
	if err != nil {
		return nil, err
	}
	if err := p.probe(ctx, image); err != nil {
		image.close()
		return nil, err
	}
	return image, nil
}

// probe runs a small script, and looks which pages it changed.
func (p *python) probe(ctx context.Context, image *image) (err error) {
	probe, err := p.interpreter.fresh(image)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, probe.close()) }()
	job := backend.Job{Request: run.Request{Script: run.Script{Source: "result = 1 + 1", Restricted: p.rules != nil}}, Limits: policy.DefaultLimits()}
	r, err := probe.run(ctx, job, false)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil || !r.OK():
		return errors.Join(run.Errorf(run.Internal, "CPython started, and ran nothing: %s", r.Error), err)
	}
	if image.hot, err = probe.guest.memory.region.changed(image.length); err != nil {
		image.hot = nil // guests copy them as they come
	}
	return nil
}

// makeAhead keeps as many instances ready as there is room for.
func (p *python) makeAhead() {
	for {
		made, err := p.fresh()
		if err != nil {
			// Whoever comes makes his own, and is told why he cannot.
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
			p.unwanted = made.close()
			return
		}
	}
}

// fresh makes an instance of the present image.
func (p *python) fresh() (*instance, error) {
	began := time.Now()
	p.mu.Lock()
	image := p.image
	image.hold() // a rotation may let go of it meanwhile
	defer image.close()
	p.made++
	rotate := p.made == p.interpreter.backend.options.RotateAfter
	p.mu.Unlock()
	if rotate {
		p.making.Go(p.rotate)
	}
	made, err := p.interpreter.fresh(image)
	if err != nil {
		return nil, err
	}
	made.guest.memory.region.warm(image.hot)
	p.interpreter.backend.meter.Forks.Since(began)
	return made, nil
}

// own is how much memory an interpreter has before a guest comes.
func (p *python) own() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.image.base
}

// rotate replaces the image, while the old one goes on serving.
func (p *python) rotate() {
	next, err := p.newImage(p.ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.made = 0
	if err != nil {
		return // and tries again later
	}
	p.image.close()
	p.image = next
}

// lease gives an instance: one that is ready, as a rule.
func (p *python) lease() (*instance, error) {
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

// Close ends what is made ahead. Nobody runs by then.
func (p *python) Close() error {
	p.end()
	p.making.Wait()
	err := p.unwanted
	for len(p.ready) > 0 {
		err = errors.Join(err, (<-p.ready).close())
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.image.close()
	return err
}
