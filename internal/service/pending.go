package service

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/jsonform"
	"github.com/cordon-sandbox/cordon/internal/kept"
	"github.com/cordon-sandbox/cordon/internal/observe"
	"github.com/cordon-sandbox/cordon/internal/opened"
	"github.com/cordon-sandbox/cordon/internal/tiers"
	"github.com/cordon-sandbox/cordon/internal/token"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// maxPending bounds the pending runs of one caller that are not done, and the bytes of their
// requests: no connection bounds them.
var maxPending = kept.Bound{Count: 64, Bytes: 64 << 20}

// maxRequestID bounds what a list shows of a request, in bytes.
const maxRequestID = 255

// keptResults bounds the Results of pending runs, by caller and in total.
var keptResults = kept.Options[*pendingRun]{
	For:      10 * time.Minute,
	PerOwner: kept.Bound{Count: 1000, Bytes: 64 << 20},
	Total:    kept.Bound{Count: 10_000, Bytes: 256 << 20},
}

// RunState says how far a pending run is.
type RunState string

// The states of a pending run, in their order.
const (
	RunQueued  RunState = "queued"
	RunRunning RunState = "running"
	RunDone    RunState = "done"
)

// RunStates lists the states.
func RunStates() []RunState { return []RunState{RunQueued, RunRunning, RunDone} }

// RunInfo describes a pending run to its owner.
type RunInfo struct {
	ID string `json:"run"`
	// Request is the id that the request has, if any.
	Request  string      `json:"id,omitempty"`
	State    RunState    `json:"state"`
	Accepted time.Time   `json:"accepted"`
	Began    time.Time   `json:"began,omitzero"`
	Ended    time.Time   `json:"ended,omitzero"`
	Outcome  run.Outcome `json:"outcome,omitempty"`
	// Err is why a run that is done has no Result.
	Err error `json:"-"`
}

// pendingRun is a run that goes on without a client. Its goroutine alone uses item and
// reserved.
type pendingRun struct {
	table    *pendingRuns
	owner    string
	size     int64 // of the request
	reserved bool
	item     *kept.Item[*pendingRun] // nil until the run is accepted
	admitted chan error              // receives nil when it is accepted, or why it is refused
	done     chan struct{}           // closed at its end
	cancel   context.CancelFunc

	mu     sync.Mutex
	info   RunInfo
	result run.Result
}

// pendingRuns has the pending runs of all callers.
type pendingRuns struct {
	runs   *kept.Store[*pendingRun]
	gone   opened.Graves  // whose Results are not kept any longer
	ending sync.WaitGroup // of the goroutines

	mu    sync.Mutex
	under map[string]kept.Bound // by owner: the runs that are not done
}

const pendingKind = "run" // in messages

func newPendingRuns(o kept.Options[*pendingRun]) *pendingRuns {
	p := &pendingRuns{under: map[string]kept.Bound{}}
	o.Lost = func(one *kept.Item[*pendingRun], why string) { p.gone.Bury(one.Owner, one.Key, why) }
	p.runs = kept.NewStore(o)
	return p
}

// Start begins a pending run, which goes on without its client. It returns when the Runner has
// accepted the request: the run has its turn, or waits for it as long as the service lasts. size
// is the memory of the request. ended is called when an accepted run has ended, with the error of
// one that has no Result.
func (s *Service) Start(ctx context.Context, who token.Caller, frontend observe.Frontend, req run.Request, size int64, ended func(error)) (RunInfo, error) {
	_, leave, err := s.enter(s.life) // the service does not end before the goroutine is counted
	if err != nil {
		return RunInfo{}, err
	}
	defer leave()
	id := followed(ctx).id()
	one := &pendingRun{
		table: s.pending, owner: who.Name, size: size, admitted: make(chan error, 1), done: make(chan struct{}),
		info: RunInfo{ID: id, Request: req.ID, State: RunQueued, Accepted: time.Now()},
	}
	ctx, one.cancel = context.WithCancel(context.WithoutCancel(ctx))
	ctx = context.WithValue(ctx, followerKey{}, follower{runID: id, waits: one.accept, begins: one.begin, patient: true})
	s.pending.ending.Go(func() {
		defer one.cancel()
		result, err := s.runPending(ctx, who, frontend, req, one)
		if one.end(result, err); one.item != nil {
			ended(err)
		}
	})
	err = <-one.admitted
	info, _ := one.now()
	return info, err
}

// runPending runs a request to its end.
func (s *Service) runPending(ctx context.Context, who token.Caller, frontend observe.Frontend, req run.Request, one *pendingRun) (result run.Result, err error) {
	defer func() {
		if p := recover(); p != nil { // as net/http does for other requests
			result, err = run.Result{}, run.Errorf(run.Internal, "panic: %v\n%s", p, debug.Stack())
		}
	}()
	var permitted run.Request
	answer, err := s.run(ctx, who, frontend, req, func(v *visit, p run.Request) error {
		v.kept, permitted = true, p
		return one.reserve()
	})
	if errors.Is(err, context.Canceled) && run.ClassOf(err) != run.Closed {
		return s.neverRan(permitted), nil
	}
	return answer.Result, err
}

// neverRan returns the Result of a run that its caller canceled before its turn.
func (s *Service) neverRan(req run.Request) run.Result {
	r := run.Result{
		ID: req.ID, Status: run.Canceled.Status(), Outcome: run.Canceled, ErrorType: run.Canceled.ErrorType(),
		Error: "the caller canceled the run before it began",
	}
	// The Runner has made the same choice without an error.
	chosen, _ := tiers.All().Select(backend.Ask{System: runtime.GOOS, Policy: s.policy, Guest: req.Kind(), Tier: req.Tier, Trust: req.Trust})
	r.Enforcement.Tier = chosen.Tier
	return r
}

// reserve counts a run that is not done.
func (one *pendingRun) reserve() error {
	if n := len(one.info.Request); n > maxRequestID {
		return run.Wrap(run.Invalid, &policy.FieldError{Field: "id", Err: fmt.Errorf("it has %d bytes: write at most %d for an asynchronous run", n, maxRequestID)})
	}
	p := one.table
	p.mu.Lock()
	defer p.mu.Unlock()
	switch u := p.under[one.owner]; {
	case u.Count >= maxPending.Count:
		return run.Errorf(run.Busy, "%d runs of %s are not done: wait until one is, or cancel one", u.Count, one.owner)
	case u.Count > 0 && u.Bytes+one.size > maxPending.Bytes:
		return run.Errorf(run.Busy, "the requests of %s for runs that are not done have %v, of at most %v: wait until one is done, or cancel one",
			one.owner, policy.Bytes(u.Bytes).Rounded(), policy.Bytes(maxPending.Bytes))
	}
	one.reserved = true
	p.add(one, 1)
	return nil
}

// add changes what is counted for the owner of a run. The caller holds the lock.
func (p *pendingRuns) add(one *pendingRun, runs int) {
	u := p.under[one.owner]
	u.Count, u.Bytes = u.Count+runs, u.Bytes+int64(runs)*one.size
	if p.under[one.owner] = u; u.Count == 0 {
		delete(p.under, one.owner)
	}
}

// accept makes the run known to its owner.
func (one *pendingRun) accept() {
	if one.item == nil {
		one.item, _ = one.table.runs.Begin(one.owner, one.info.ID, one) // the id is new
		one.admitted <- nil
	}
}

func (one *pendingRun) begin() {
	one.mu.Lock()
	one.info.State, one.info.Began = RunRunning, time.Now()
	one.mu.Unlock()
	one.accept()
}

// end keeps how the run ended, unless it was refused.
func (one *pendingRun) end(result run.Result, err error) {
	if one.reserved {
		one.table.mu.Lock()
		one.table.add(one, -1)
		one.table.mu.Unlock()
	}
	one.mu.Lock()
	one.result, one.info.Err, one.info.Outcome = result, err, result.Outcome
	one.info.State, one.info.Ended = RunDone, time.Now()
	one.mu.Unlock()
	if err == nil {
		one.accept() // if it has not even waited
	}
	if one.item == nil {
		one.admitted <- err
		return
	}
	one.table.runs.Keep(one.item, jsonform.Size(result))
	close(one.done)
}

func (one *pendingRun) now() (RunInfo, run.Result) {
	one.mu.Lock()
	defer one.mu.Unlock()
	return one.info, one.result
}

// find returns a run of an owner.
func (p *pendingRuns) find(owner, id string) (*kept.Item[*pendingRun], error) {
	if item := p.runs.Find(owner, id); item != nil {
		return item, nil
	}
	if err := p.gone.Find(pendingKind, owner, id); err != nil {
		return nil, err
	}
	return nil, run.Errorf(run.Unknown, "no run has the id %q: it was never accepted here, or is forgotten", id)
}

// PendingRuns lists the caller's own pending runs and those whose Results are kept, the oldest
// first.
func (s *Service) PendingRuns(who token.Caller) (list []RunInfo) {
	for _, item := range s.pending.runs.List(who.Name) {
		info, _ := item.Value.now()
		list = append(list, info)
	}
	return list
}

// PendingRun describes one of them.
func (s *Service) PendingRun(who token.Caller, id string) (RunInfo, error) {
	item, err := s.pending.find(who.Name, id)
	if err != nil {
		return RunInfo{}, err
	}
	info, _ := item.Value.now()
	return info, nil
}

// AwaitRun waits until one of the caller's own pending runs is done, or until ctx ends. The
// answer has the Result of a run that is done and has one.
func (s *Service) AwaitRun(ctx context.Context, who token.Caller, id string) (RunInfo, Answer, error) {
	item, err := s.pending.find(who.Name, id)
	if err != nil {
		return RunInfo{}, Answer{}, err
	}
	select {
	case <-item.Value.done:
	case <-ctx.Done():
	}
	info, result := item.Value.now()
	if info.State != RunDone || info.Err != nil {
		return info, Answer{}, nil
	}
	answer, err := s.Again(who, result)
	return info, answer, err
}

// CancelRun cancels one of the caller's own pending runs, whose Result is kept, or forgets one
// that is done.
func (s *Service) CancelRun(who token.Caller, id string) error {
	item, err := s.pending.find(who.Name, id)
	if err != nil {
		return err
	}
	if info, _ := item.Value.now(); info.State == RunDone {
		s.pending.runs.Drop(item)
	} else {
		item.Value.cancel()
	}
	return nil
}
