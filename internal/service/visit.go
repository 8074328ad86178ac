package service

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/cordon-sandbox/cordon/internal/admission"
	"github.com/cordon-sandbox/cordon/internal/observe"
	"github.com/cordon-sandbox/cordon/internal/token"
	"github.com/cordon-sandbox/cordon/run"
)

// visit is one request in the service.
type visit struct {
	observe.Run // reported to the observers
	service     *Service
	who         token.Caller
	follower    follower
	asked       bool // the Runner has the request, and has not answered
	kept        bool // the service keeps the result: no client waits for it
}

// queued returns a context that names the caller to the Runner's queue. From then on the
// request counts as one that waits.
func (v *visit) queued(ctx context.Context) context.Context {
	v.asked = true
	v.service.waiting.Add(1)
	caller := &admission.Caller{
		Name: v.who.Name, Quota: v.who.Quota, Patience: admission.DefaultPatience, Waits: v.follower.waits, Begins: v.begins,
	}
	if v.follower.patient {
		caller.Patience = 0
	}
	return admission.WithCaller(ctx, caller)
}

// begins is called when the request gets its turn.
func (v *visit) begins() {
	if !v.Started.IsZero() {
		return // the Runner itself started another run
	}
	v.Started = time.Now()
	v.service.waiting.Add(-1)
	v.service.running.Add(1)
	if v.follower.begins != nil {
		v.follower.begins()
	}
}

// ends is called when the Runner has answered. It may be called more than once.
func (v *visit) ends() {
	switch {
	case !v.asked:
	case v.Started.IsZero():
		v.service.waiting.Add(-1)
	default:
		v.service.running.Add(-1)
	}
	v.asked = false
}

// observed serves a request and reports it to the observers, once, also if it is refused.
// Requests after the end of the service are not reported: the observers are closed by
// then.
func (s *Service) observed(ctx context.Context, who token.Caller, seen observe.Run, do func(context.Context, *visit) (run.Result, error)) (answer Answer, err error) {
	v := &visit{Run: seen, service: s, who: who, follower: followed(ctx)}
	v.ID, v.Caller, v.Arrived = v.follower.id(), who.Name, time.Now()
	ctx, leave, err := s.enter(ctx)
	if err != nil {
		return Answer{}, err
	}
	defer leave()
	if s.Tracer != nil {
		ctx = observe.WithTracer(ctx, s.Tracer)
	}
	ctx, end := observe.Begin(ctx, observe.Request)

	// A panic continues to the frontend, which may recover: the run must be in the audit
	// log all the same.
	var result run.Result
	err = run.Errorf(run.Internal, "the service panicked during this run")
	defer func() {
		v.ends()
		end(err)
		v.Result, v.Err, v.Ended = result, err, time.Now()
		s.notify(ctx, v.Run)
	}()
	if err := s.Ready(); err != nil {
		return Answer{}, err
	}
	result, err = do(ctx, v)
	v.ends() // when the guest ends, so that a slow client delays nobody
	if err == nil && result.Outcome == run.Canceled && errors.Is(context.Cause(ctx), errEnded) {
		// The service ended the run, so the partial result is not the guest's.
		err = context.Cause(ctx)
	}
	if err != nil {
		return Answer{}, s.explain(ctx, err)
	}
	if v.kept {
		return Answer{Result: result}, nil
	}
	return s.hold(who, result)
}

// notify reports a run to each observer. The calls are deferred so that all observers get it
// even if one panics.
func (s *Service) notify(ctx context.Context, seen observe.Run) {
	for _, o := range slices.Backward(s.Observers) {
		defer o.Ended(ctx, seen)
	}
}

// inTurn does something that is not a run, in a turn of the caller.
func (s *Service) inTurn(ctx context.Context, who token.Caller, do func(ctx context.Context) error) error {
	v := &visit{service: s, who: who, follower: followed(ctx)}
	ctx, leave, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if err := s.Ready(); err != nil {
		return err
	}
	defer v.ends()
	return s.explain(ctx, do(v.queued(ctx)))
}
