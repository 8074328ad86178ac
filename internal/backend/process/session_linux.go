package process

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/backend/hook"
	"github.com/cordon-sandbox/cordon/internal/egress"
	"github.com/cordon-sandbox/cordon/internal/report"
	"github.com/cordon-sandbox/cordon/internal/wire"
	"github.com/cordon-sandbox/cordon/internal/workdir"
	"github.com/cordon-sandbox/cordon/internal/zygote"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// stepGrace is how long a step may take to end after it was interrupted. Most end at once;
// one that is inside a long call of a library ends when that returns.
const stepGrace = time.Second

var _ backend.SessionOpener = (*Backend)(nil)

// session is a worker that keeps its globals from one step to the next.
type session struct {
	backend     *Backend
	member      *member
	restricted  bool
	limits      policy.Limits   // of the worker
	enforcement run.Enforcement // of all its steps
	connection  *connection     // nil without a network
	work        *backend.Lazy[*workdir.Dir]

	// turns guard the fields below.
	turns   *backend.Turns
	steps   int
	traffic []run.Traffic // of all steps before
	idle    *time.Timer   // of the next check between steps
}

// OpenSession leases a worker that waits for steps.
func (b *Backend) OpenSession(ctx context.Context, o backend.SessionOptions) (backend.Session, error) {
	s, err := backend.UntilStarted(ctx, func() (*session, error) { return b.openSession(ctx, o) })
	if err != nil {
		return nil, err
	}
	if !b.sessions.Add(s) {
		return nil, errors.Join(backend.ErrClosed(), s.Close())
	}
	return s, nil
}

func (b *Backend) openSession(ctx context.Context, o backend.SessionOptions) (*session, error) {
	pass, err := b.gate.Enter(ctx)
	if err != nil {
		return nil, err
	}
	defer pass.Leave()
	rules := b.rulesOf(backend.Job{Request: run.Request{Script: run.Script{Restricted: o.Restricted}}})
	p, err := b.workersFor(ctx, rules)
	if err != nil {
		return nil, err
	}
	m, err := p.take(ctx, o.Limits.Scratch)
	if err != nil {
		return nil, err
	}
	m.replace() // it is busy from now on
	s := &session{backend: b, member: m, restricted: o.Restricted, limits: o.Limits, enforcement: b.Enforcement(), turns: backend.NewTurns()}
	s.work = backend.NewLazy(s.openWork)
	if o.Restricted {
		s.enforcement.Walls[policy.WallLanguage] = b.enforcedRules(rules)
	}
	s.connection = b.connect(m.Worker)
	if err := s.open(ctx); err != nil {
		m.Close()
		_, closing := s.connection.end()
		return nil, errors.Join(err, closing)
	}
	return s, nil
}

// open gives the worker its limits, which it keeps. Its CPU time is for all its steps.
func (s *session) open(ctx context.Context) error {
	if s.member.group != nil {
		if err := s.member.group.SetLimit(groupLimit(s.limits)); err != nil {
			return run.Errorf(run.Internal, "cgroup: %w", err)
		}
	}
	limits := s.limits
	limits.CPUTime = hook.Lifetime
	ending, err := s.member.OpenSession(ctx, zygote.Guest{Limits: limits, Network: s.connection.network(), Work: s.lacksWork() == nil})
	if err == nil && ending.Orphaned {
		return backend.ErrNotStarted
	}
	result, err := s.backend.conclude(s.member, report.Run{Limits: s.limits}, ending, err)
	if err == nil && !result.OK() {
		err = run.Errorf(run.Invalid, "the session cannot be opened: %s", result.Error)
	}
	return err
}

// Restricted reports whether the language rules apply to its steps.
func (s *session) Restricted() bool { return s.restricted }

// Run runs a step. Steps of one session wait for each other.
func (s *session) Run(ctx context.Context, job backend.Job) (run.Result, error) {
	leave, err := s.turns.Enter(ctx, s.backend.gate)
	if err != nil {
		return run.Result{}, err
	}
	defer leave()
	if err := s.keepsItsLimits(job.Limits); err != nil {
		return run.Result{}, err
	}
	if job.Streams.In != nil {
		return run.Result{}, run.Errorf(run.Invalid, "the input of a step is a text: stdin")
	}
	return s.step(ctx, job)
}

func (s *session) step(ctx context.Context, job backend.Job) (run.Result, error) {
	job.NameStep(s.steps + 1)
	work, err := backend.GiveFiles(ctx, s.work, job)
	if err != nil {
		return run.Result{}, err
	}
	ending, err := s.member.Step(ctx, zygote.Guest{
		Script: job.Script.Source, Name: job.Script.Name, Context: job.Script.Context, Stdin: job.Stdin, Variables: job.Script.Variables, Args: job.Script.Args,
		Streams: job.Streams, Limits: job.Limits, OnOutputLimit: job.OnOutputLimit, Patience: s.backend.gate.Patience(), Grace: stepGrace,
	})
	result, err := s.conclude(ending, err, job.Limits)
	if err != nil {
		return result, err
	}
	s.steps++
	result.Enforcement = s.enforcement
	all := s.connection.traffic()
	result.Traffic, s.traffic = egress.Since(s.traffic, all), all
	result.Step = report.ReadStep(ending.Report, job.Limits.Result-result.ValueSize())
	result.Step.Number, result.Step.Survived = s.steps, survived(ending)
	result.Usage.Result = result.ValueSize()
	work.Collect(job.Script, job.Limits.Scratch, &result)
	if !result.Step.Survived {
		return result, s.end(run.Errorf(run.Gone, "the session ended in step %d: %s", s.steps, result.Error))
	}
	s.watch()
	return result, nil
}

// conclude makes a Result from the evidence of what the worker was asked, and ends the session
// if its sandbox has failed.
func (s *session) conclude(ending zygote.Ending, err error, limits policy.Limits) (run.Result, error) {
	result, err := s.backend.conclude(s.member, report.Run{Limits: limits, Restricted: s.restricted, Modules: s.backend.watchesModules()}, ending, err)
	if err != nil && !errors.Is(err, run.ErrInvalid) { // which was not sent
		err = errors.Join(err, s.end(run.Errorf(run.Gone, "the session ended, because its sandbox failed")))
	}
	return result, err
}

// survived reports whether the worker can be asked again. One that sent something else than its
// one answer cannot be relied on to send the next.
func survived(ending zygote.Ending) bool {
	return ending.Report != nil && ending.Killed == "" && ending.Exit == nil
}

// askTime is how long objects may take to describe themselves.
const askTime = time.Second

// Variables lists the global variables, and counts those above the bound.
func (s *session) Variables(ctx context.Context) (list []run.Variable, omitted int, err error) {
	result, told, err := s.ask(ctx, "its variables were listed", s.member.Variables)
	if err != nil {
		return nil, 0, err
	}
	if list, omitted, err = report.Variables(told); err != nil {
		return nil, 0, run.Errorf(run.Invalid, "the session does not list its variables: %s", result.Error)
	}
	return list, omitted, nil
}

// Complete lists what the name at the end of a line can become.
func (s *session) Complete(ctx context.Context, line string) ([]string, error) {
	_, told, err := s.ask(ctx, "a name was completed", func(ctx context.Context, g zygote.Guest) (zygote.Ending, error) {
		return s.member.Complete(ctx, line, g)
	})
	return report.Completions(told), err
}

// ask asks the session something that is no step, and returns its report.
func (s *session) ask(ctx context.Context, when string, question func(context.Context, zygote.Guest) (zygote.Ending, error)) (run.Result, wire.Dict, error) {
	leave, err := s.turns.Enter(ctx, s.backend.gate)
	if err != nil {
		return run.Result{}, nil, err
	}
	defer leave()
	limits := s.limits
	limits.WallTime, limits.CPUTime = min(limits.WallTime, askTime), min(limits.CPUTime, askTime)
	ending, err := question(ctx, zygote.Guest{Limits: limits, OnOutputLimit: policy.OutputTruncate, Patience: s.backend.gate.Patience(), Grace: stepGrace})
	result, err := s.conclude(ending, err, limits)
	switch {
	case err != nil:
		return result, nil, err
	case !survived(ending):
		err := run.Errorf(run.Gone, "the session ended when %s: %s", when, result.Error)
		return result, nil, errors.Join(err, s.end(err))
	}
	s.watch()
	return result, ending.Report, ctx.Err()
}

// minCheck bounds how often an idle session is checked.
const minCheck = time.Second

// watch checks the session as soon as its threads can have used up the CPU time of a step,
// unless another step begins before. The caller has the turn.
func (s *session) watch() {
	used, err := s.member.CPUTime()
	left := s.limits.CPUTime - used
	switch {
	case err != nil:
		_ = s.end(run.Errorf(run.Gone, "the session ended: its process is gone")) // nobody waits for it
		return
	case left <= 0:
		_ = s.end(run.Errorf(run.Gone, "the session ended: between two steps, its threads used up the CPU time limit of %v", s.limits.CPUTime))
		return
	}
	wait := max(left/time.Duration(max(1, s.limits.CPUs)), minCheck)
	if s.idle == nil {
		s.idle = time.AfterFunc(wait, s.checkIdle)
	} else {
		s.idle.Reset(wait)
	}
}

// checkIdle checks a session in which no step runs. After a step, it is watched again.
func (s *session) checkIdle() {
	if s.turns.Try() {
		defer s.turns.Leave()
		s.watch()
	}
}

// keepsItsLimits refuses limits of a step that belong to the whole session.
func (s *session) keepsItsLimits(asked policy.Limits) error {
	for _, row := range policy.LimitTable() {
		if own := row.Of(s.limits); row.OfSession && row.Of(asked) != own {
			return run.Wrap(run.Invalid, &policy.FieldError{Field: "limits." + row.Key,
				Err: fmt.Errorf("the session was opened with %s, and keeps it: open another session", row.Text(own))})
		}
	}
	return nil
}

// Close ends the session and its running step.
func (s *session) Close() error {
	defer s.backend.sessions.Remove(s) // last: until then closing the Runner waits for it
	s.member.Kill(zygote.KilledCanceled)
	if s.turns.Take() != nil {
		return nil // it is over
	}
	defer s.turns.Leave()
	return s.end(run.Errorf(run.Gone, "the session is closed"))
}

// end frees what the session has. The caller has the turn.
func (s *session) end(why error) error {
	s.turns.End(why)
	if s.idle != nil {
		s.idle.Stop()
	}
	s.member.Close()
	_, err := s.connection.end()
	return errors.Join(err, s.work.Close())
}
