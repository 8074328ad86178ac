package service

import (
	"github.com/cordon-sandbox/cordon/internal/jsonform"
	"github.com/cordon-sandbox/cordon/internal/token"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Answer is a Result on its way to a client. It counts against the budget of its caller
// until a frontend calls Sent: when the client has it, or will never get it.
type Answer struct {
	run.Result
	release func()
}

// Sent releases the answer's share of the budget. It may be called more than once.
func (a Answer) Sent() {
	if a.release != nil {
		a.release()
	}
}

// Again returns an answer for a result that a frontend has kept and sends once more.
func (s *Service) Again(who token.Caller, result run.Result) (Answer, error) {
	release, err := s.Answers.Hold(who.Name, jsonform.Size(result))
	return Answer{result, release}, err
}

// hold counts the answer of a run that has ended against the budget. If it does not fit, it
// is dropped.
func (s *Service) hold(who token.Caller, result run.Result) (Answer, error) {
	answer, err := s.Again(who, result)
	if err != nil {
		return Answer{}, run.Errorf(run.Busy, "the run has ended, and its answer of %s is dropped: %w", policy.Bytes(jsonform.Size(result)).Rounded(), err)
	}
	return answer, nil
}

// roomFor returns an error if the budget has no room for the largest possible answer to a
// request. It is called before the run, so that no result is lost.
func (s *Service) roomFor(who token.Caller, limits policy.Limits) error {
	l := limits.Or(s.policy.Limits)
	return s.Answers.Room(who.Name, int64(l.Result+2*l.Output))
}
