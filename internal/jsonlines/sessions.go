package jsonlines

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/cordon-sandbox/cordon/internal/jsonform"
	"github.com/cordon-sandbox/cordon/internal/opened"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// maxSessions bounds the open sessions: each keeps an interpreter. One more is refused as
// busy, because closing another one would lose its state.
const maxSessions = 32

// The answers to steps that were canceled before they began.
var (
	errInterrupted   = errors.New("the step was interrupted before it began")
	errSessionClosed = errors.New("the session was closed before this step began")
)

// Session is what the frontend needs of a *cordon.Session.
type Session interface {
	Run(ctx context.Context, req run.Request) (run.Result, error)
	Files() (run.Files, error)
	Variables(ctx context.Context) (list []run.Variable, omitted int, err error)
	Close() error
}

// newSessions returns a table whose ids are an s and a small number: those of hooks are
// numbers.
func newSessions() *opened.Table[Session] {
	var made atomic.Uint64
	return opened.NewTable[Session](opened.Options{
		Kind: "session", PerOwner: maxSessions, Remember: true, NewID: func() string { return "s" + strconv.FormatUint(made.Add(1), 10) },
	})
}

// step is one step of an open session.
type step struct {
	Session string `json:"session"`
	jsonform.Request
}

// parseStep parses the step of an order.
func (o *order) parseStep() error {
	o.step = &step{}
	if err := jsonform.ParseObject(o.Step, o.step); err != nil {
		return err
	}
	o.Step = nil // a context can be large
	switch {
	case o.step.Session == "":
		return wrongField("session", "is missing: write the id of an open session")
	case o.step.ID != "":
		return wrongField("id", "belongs to the line: write it beside step")
	}
	o.step.ID = o.ID
	return nil
}

// standsAlone refuses fields of a run beside an order for a session, because they would have no
// effect there.
func (o *order) standsAlone(key, advice string) error {
	beside := o.Request
	beside.ID = ""
	if reflect.ValueOf(beside).IsZero() {
		return nil
	}
	return wrongField(key, "has fields of a run beside it: "+advice)
}

func wrongField(field, words string) error {
	return run.Errorf(run.Invalid, "request: %w", &policy.FieldError{Field: field, Err: errors.New(words)})
}

// session returns the id of the session in whose order of lines an order has its place, or "".
func (o *order) session() string {
	switch {
	case o.step != nil:
		return o.step.Session
	case o.isFiles() && !o.Now:
		_, id := o.which()
		return id
	case o.VariableList != "":
		return o.VariableList
	case isSession(o.Close):
		return o.Close
	}
	return ""
}

// follow makes a job wait for the earlier ones of its session. The caller holds the mutex.
func (s *server) follow(j *job) {
	id := j.order.session()
	if id == "" {
		return
	}
	j.done = make(chan struct{})
	if earlier := s.pending[id]; len(earlier) > 0 {
		j.after = earlier[len(earlier)-1].done
	}
	s.pending[id] = append(s.pending[id], j)
}

// doneWith lets the next job of the same session begin. The caller holds the mutex.
func (s *server) doneWith(j *job) {
	id := j.order.session()
	if id == "" {
		return
	}
	close(j.done)
	s.pending[id] = slices.DeleteFunc(s.pending[id], func(other *job) bool { return other == j })
	if len(s.pending[id]) == 0 {
		delete(s.pending, id)
	}
}

// waitForTurn waits for the earlier orders of the same session: they are carried out in the
// order of their lines.
func (j *job) waitForTurn() error {
	if j.after == nil {
		return nil
	}
	select {
	case <-j.after:
		return nil
	case <-j.ctx.Done():
		return j.ctx.Err()
	}
}

// interrupt cancels the first step of a session that has no answer yet. Without one, it does
// nothing.
func (s *server) interrupt(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, j := range s.pending[id] {
		if j.order.step != nil {
			j.cancel(errInterrupted)
			return
		}
	}
}

// endSteps cancels all steps of a session that is about to be closed.
func (s *server) endSteps(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, j := range s.pending[id] {
		if j.order.step != nil {
			j.cancel(errSessionClosed)
		}
	}
}

func (s *server) openSession(ctx context.Context, o order) (any, error) {
	var options run.SessionOptions
	if err := jsonform.ParseObject(o.Session, &options); err != nil {
		return nil, err
	}
	if err := s.Fixed.bindSession(&options); err != nil {
		return nil, err
	}
	if err := s.sessions.Reserve(owner); err != nil {
		return nil, err
	}
	made, err := s.OpenSession(ctx, options)
	if err != nil {
		s.sessions.Release(owner)
		return nil, err
	}
	if ctx.Err() != nil { // the caller does not read the id, and could not close it
		s.sessions.Release(owner)
		return nil, errors.Join(ctx.Err(), made.Close())
	}
	return openAnswer{ID: o.ID, Status: run.StatusOK, Session: s.sessions.Add(owner, "", made)}, nil
}

func (s *server) runStep(ctx context.Context, o order) (any, error) {
	req := o.step.Run()
	if err := s.Fixed.bind(&req); err != nil {
		return nil, err
	}
	one, err := s.sessions.Use(owner, o.step.Session)
	if err != nil {
		return nil, err
	}
	defer s.sessions.Done(one)
	result, err := one.Held.Run(ctx, req)
	if err == nil && result.Step != nil && !result.Step.Survived {
		s.sessions.End(one, "step "+strconv.Itoa(result.Step.Number)+" ended it: "+result.Error)
	}
	s.sessions.EndIfGone(one, err)
	return result, err
}

// variableSize is about the most that a variable has in an answer.
const variableSize = 1 << 10

// variables is the answer with those of a session.
type variables struct {
	ID        string         `json:"id"`
	Status    run.Status     `json:"status"`
	Variables []run.Variable `json:"variables"`
	Omitted   int            `json:"omitted,omitempty"`
}

func (s *server) listVariables(ctx context.Context, o order) (any, error) {
	one, err := s.sessions.Use(owner, o.VariableList)
	if err != nil {
		return nil, err
	}
	defer s.sessions.Done(one)
	list, omitted, err := one.Held.Variables(ctx)
	s.sessions.EndIfGone(one, err)
	return variables{o.ID, run.StatusOK, append([]run.Variable{}, list...), omitted}, err
}

// close closes a hook or a session. Its steps were canceled when the line was read.
func (s *server) close(id string) error {
	if isSession(id) {
		return s.sessions.CloseOne(owner, id)
	}
	return s.hooks.CloseOne(owner, id)
}

func isSession(id string) bool { return strings.HasPrefix(id, "s") }
