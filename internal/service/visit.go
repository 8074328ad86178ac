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
	line        *admission.Line
	who         token.Caller
	leave       func() // the line; nil before its turn
}

// wait returns when it is the request's turn.
func (v *visit) wait(ctx context.Context) error {
	ctx, end := observe.Begin(ctx, observe.Queue)
	leave, err := v.line.Enter(ctx, v.who.Name, v.who.Quota)
	end(err)
	if err != nil {
		return err
	}
	v.leave, v.Started = leave, time.Now()
	if begins := followed(ctx).begins; begins != nil {
		begins()
	}
	return nil
}

func (v *visit) endTurn() {
	if v.leave != nil {
		v.leave()
	}
}

// observed serves a request and reports it to the observers, once, also if it is refused.
// Requests after the end of the service are not reported: the observers are closed by
// then.
func (s *Service) observed(ctx context.Context, who token.Caller, seen observe.Run, do func(context.Context, *visit) (run.Result, error)) (answer Answer, err error) {
	v := &visit{Run: seen, line: s.Line, who: who}
	v.ID, v.Caller, v.Arrived = followed(ctx).id(), who.Name, time.Now()
	ctx, leave, err := s.enter(ctx)
	if err != nil {
		return Answer{}, err
	}
	defer leave()
	if s.Tracer != nil {
		ctx = observe.WithTracer(ctx, s.Tracer)
	}
	ctx, end := observe.Begin(ctx, observe.Request)

	// A panic goes on to the frontend, which may live on: it must not keep the turn, nor the
	// run out of the audit log.
	var result run.Result
	err = run.Errorf(run.Internal, "the service panicked during this run")
	defer func() {
		v.endTurn()
		end(err)
		v.Result, v.Err, v.Ended = result, err, time.Now()
		s.tell(ctx, v.Run)
	}()
	if err := s.Ready(); err != nil {
		return Answer{}, err
	}
	result, err = do(ctx, v)
	v.endTurn() // the guest has ended: a client that reads slowly delays nobody
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
	ctx, leave, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if err := s.Ready(); err != nil {
		return err
	}
	v := &visit{line: s.Line, who: who}
	defer v.endTurn()
	if err := v.wait(ctx); err != nil {
		return s.explained(ctx, err)
	}
	return s.explained(ctx, do(ctx))
}
