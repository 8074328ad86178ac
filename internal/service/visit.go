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
	observe.Run // what observers get
	service     *Service
	who         token.Caller
	follower    follower
	asked       bool // the Runner has the request, and has not answered
}

// queued returns a context that names the caller to the Runner's queue. From then on the
// request counts as one that waits.
func (v *visit) queued(ctx context.Context) context.Context {
	v.asked = true
	v.service.waiting.Add(1)
	return admission.WithCaller(ctx, &admission.Caller{
		Name: v.who.Name, Quota: v.who.Quota, Patience: admission.DefaultPatience, Begins: v.begins,
	})
}

// begins is called when the request gets its turn.
func (v *visit) begins() {
	if !v.Started.IsZero() {
		return // code of the Runner asked for another run
	}
	v.Started = time.Now()
	v.service.waiting.Add(-1)
	v.service.running.Add(1)
	if v.follower.begins != nil {
		v.follower.begins()
	}
}

// ends is called when the Runner has answered, once or more often.
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

	// A panic goes on to the frontend, which may live on: it must not keep the run out of
	// the audit log.
	var result run.Result
	err = run.Errorf(run.Internal, "the service panicked during this run")
	defer func() {
		v.ends()
		end(err)
		v.Result, v.Err, v.Ended = result, err, time.Now()
		s.tell(ctx, v.Run)
	}()
	if err := s.Ready(); err != nil {
		return Answer{}, err
	}
	result, err = do(ctx, v)
	v.ends() // with the guest: a client that reads slowly delays nobody
	if err == nil && result.Outcome == run.Canceled && errors.Is(context.Cause(ctx), errEnded) {
		// It was we who ended it. What there is of it is no result of the guest's.
		err = context.Cause(ctx)
	}
	if err != nil {
		return Answer{}, s.explained(ctx, err)
	}
	return s.hold(who, result)
}

// tell reports a run to each observer. The calls are deferred so that all observers get it
// even if one panics.
func (s *Service) tell(ctx context.Context, seen observe.Run) {
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
	return s.explained(ctx, do(v.queued(ctx)))
}
