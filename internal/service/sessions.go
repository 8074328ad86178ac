package service

import (
	"context"
	"time"

	"github.com/cordon-sandbox/cordon/internal/observe"
	"github.com/cordon-sandbox/cordon/internal/opened"
	"github.com/cordon-sandbox/cordon/internal/token"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

const (
	// maxSessions bounds the open sessions of one caller: each keeps an interpreter.
	maxSessions = 32
	// sessionIdleTimeout is how long a session stays open without a step.
	sessionIdleTimeout = 30 * time.Minute
)

// Session is what the service needs of a *cordon.Session.
type Session interface {
	Run(ctx context.Context, req run.Request) (run.Result, error)
	Interrupt()
	Files() (run.Files, error)
	Variables(ctx context.Context) ([]run.Variable, int, error)
	Close() error
}

// SessionInfo describes an open session to its owner.
type SessionInfo struct {
	ID     string    `json:"session"`
	Opened time.Time `json:"opened"`
	Used   time.Time `json:"used"`
	// Busy says that a step runs, or waits for its turn.
	Busy bool `json:"busy"`
}

// OpenSession opens a session and returns the id by which its owner uses it. It stays open
// until it is closed, a step ends it, nobody uses it for half an hour, or the service ends.
func (s *Service) OpenSession(ctx context.Context, who token.Caller, o run.SessionOptions) (id string, err error) {
	if o, err = s.permitSession(who, o); err != nil {
		return "", err
	}
	if s.Options.OpenSession == nil {
		return "", run.Errorf(run.Unsupported, "there are no sessions here")
	}
	if err := s.sessions.Reserve(who.Name); err != nil {
		return "", err
	}
	defer func() {
		if id == "" {
			s.sessions.Release(who.Name)
		}
	}()
	// As for a hook, it is added before the request ends.
	err = s.inTurn(ctx, who, func(ctx context.Context) error {
		made, err := s.Options.OpenSession(ctx, o)
		if err == nil {
			id = s.sessions.Add(who.Name, "", made)
		}
		return err
	})
	return id, err
}

// permitSession narrows a session to what its caller may open.
func (s *Service) permitSession(who token.Caller, o run.SessionOptions) (run.SessionOptions, error) {
	permitted, err := s.permit(who, run.Request{Tier: o.Tier, Trust: o.Trust, Limits: o.Limits, Script: run.Script{Restricted: o.Restricted}})
	o.Tier, o.Limits, o.Restricted = permitted.Tier, permitted.Limits, permitted.Script.Restricted
	return o, err
}

// Step runs a step of one of the caller's own sessions.
func (s *Service) Step(ctx context.Context, who token.Caller, frontend observe.Frontend, id string, req run.Request) (Answer, error) {
	seen := observe.Run{Frontend: frontend, Kind: observe.Script, Code: req.Script.Source}
	return s.observed(ctx, who, seen, func(ctx context.Context, v *visit) (run.Result, error) {
		if req.Kind() != policy.GuestScript {
			return run.Result{}, run.Errorf(run.Invalid, "a step is a script: send a command as a run")
		}
		one, err := s.sessions.Use(who.Name, id)
		if err != nil {
			return run.Result{}, err
		}
		defer s.sessions.Done(one)
		if err := s.roomFor(who, req.Limits); err != nil {
			return run.Result{}, err
		}
		if req.Script.Files, err = s.permitFiles(req.Script.Files); err != nil {
			return run.Result{}, err
		}
		if field, got, limit, above := req.Limits.Above(s.maxima(who)); above {
			return run.Result{}, aboveMaximum(who, field, got, limit)
		}
		result, err := one.Held.Run(v.queued(ctx), req)
		switch {
		case err == nil && result.Step != nil && !result.Step.Survived:
			s.sessions.End(one, "a step ended it: "+result.Error)
		case err != nil && run.ClassOf(err) == run.Internal && ctx.Err() == nil:
			s.sessions.End(one, "its sandbox failed")
		default:
			s.sessions.EndIfGone(one, err)
		}
		return result, err
	})
}

// InFiles calls do with the files of one of the caller's own sessions. The session is in use
// meanwhile.
func (s *Service) InFiles(who token.Caller, id string, do func(run.Files) error) error {
	one, err := s.sessions.Use(who.Name, id)
	if err != nil {
		return err
	}
	defer s.sessions.Done(one)
	files, err := one.Held.Files()
	if err == nil {
		err = do(files)
	}
	s.sessions.EndIfGone(one, err)
	return err
}

// Variables lists the variables of one of the caller's own sessions, and counts those above a
// bound.
func (s *Service) Variables(ctx context.Context, who token.Caller, id string) (list []run.Variable, omitted int, err error) {
	one, err := s.sessions.Use(who.Name, id)
	if err != nil {
		return nil, 0, err
	}
	defer s.sessions.Done(one)
	err = s.inTurn(ctx, who, func(ctx context.Context) (err error) {
		list, omitted, err = one.Held.Variables(ctx)
		return err
	})
	s.sessions.EndIfGone(one, err)
	return list, omitted, err
}

// Interrupt interrupts the running step of one of the caller's own sessions.
func (s *Service) Interrupt(who token.Caller, id string) error {
	one, err := s.sessions.Use(who.Name, id)
	if err != nil {
		return err
	}
	defer s.sessions.Done(one)
	one.Held.Interrupt()
	return nil
}

// CloseSession closes one of the caller's own sessions, and cancels its steps.
func (s *Service) CloseSession(who token.Caller, id string) error {
	_, leave, err := s.enter(s.life)
	if err != nil {
		return err
	}
	defer leave()
	return s.sessions.CloseOne(who.Name, id)
}

// Sessions lists the caller's own sessions, the oldest first.
func (s *Service) Sessions(who token.Caller) (list []SessionInfo) {
	for _, one := range s.sessions.List(who.Name) {
		list = append(list, infoOf(one))
	}
	return list
}

func infoOf(one opened.Info) SessionInfo {
	return SessionInfo{ID: one.ID, Opened: one.Made, Used: one.Used, Busy: one.Busy}
}

// Session describes one of the caller's own sessions. That does not use the session, which
// stays idle.
func (s *Service) Session(who token.Caller, id string) (SessionInfo, error) {
	one, err := s.sessions.Info(who.Name, id)
	return infoOf(one), err
}

// OpenSessions returns the number of open sessions.
func (s *Service) OpenSessions() int { return s.sessions.Len() }
