package jsonlines

import (
	"context"
	"encoding/json"

	"github.com/cordon-sandbox/cordon/internal/jsonform"
	"github.com/cordon-sandbox/cordon/internal/openhooks"
	"github.com/cordon-sandbox/cordon/run"
)

// order is the content of a line: the fields of a run, or one of the other orders.
type order struct {
	jsonform.Request
	Check json.RawMessage `json:"check,omitempty"` // a run.Check
	Hook  json.RawMessage `json:"hook,omitempty"`  // a run.HookSpec, to be opened
	Call  *hookCall       `json:"call,omitempty"`
	// Session has a run.SessionOptions, and opens a session. Step has a step of an open one.
	Session   json.RawMessage `json:"session,omitempty"`
	Step      json.RawMessage `json:"step,omitempty"`
	Interrupt string          `json:"interrupt,omitempty"` // the id of a session
	fileOrders
	VariableList string `json:"variable_list,omitempty"` // the id of a session
	Close        string `json:"close,omitempty"`         // the id of a hook or session
	Cancel       string `json:"cancel,omitempty"`        // the id of a line
	Brief        bool   `json:"brief,omitempty"`         // leave usage, traffic, modules and enforcement out of the answer

	step *step // parsed; nil for other orders
}

// hookCall is one call of an open hook.
type hookCall struct {
	Hook string `json:"hook"`
	openhooks.HookCall
}

func parseOrder(text []byte) (order, error) {
	var o order
	if err := jsonform.ParseObject(text, &o); err != nil {
		return order{}, err
	}
	asked := 0
	for _, is := range []bool{
		o.isRun(), o.Check != nil, o.Hook != nil, o.Call != nil, o.Session != nil, o.Step != nil, o.Interrupt != "", o.Close != "", o.Cancel != "",
		o.FileList != "", o.FileRead != nil, o.FileWrite != nil, o.FileRemove != nil, o.VariableList != "",
	} {
		if is {
			asked++
		}
	}
	if asked > 1 {
		return order{}, run.Errorf(run.Invalid, "request: a line asks for one thing: a run (script or command), check, hook, call, session, step, interrupt, file_list, file_read, file_write, file_remove, variable_list, close or cancel")
	}
	switch {
	case o.isFiles():
		return o, o.checkFiles()
	case o.Now:
		return order{}, wrongField("now", "is for the orders of files: other lines wait for their turn")
	case o.Session != nil:
		return o, o.standsAlone("session", "write them inside")
	case o.VariableList != "":
		return o, o.standsAlone("variable_list", "leave them out")
	case o.Step != nil:
		if err := o.standsAlone("step", "write them inside"); err != nil {
			return order{}, err
		}
		return o, o.parseStep()
	}
	return o, nil
}

// id is the order's id as JSON.
func (o order) id() json.RawMessage {
	if o.ID == "" {
		return json.RawMessage("null")
	}
	id, _ := json.Marshal(o.ID) // a text
	return id
}

func (o order) isRun() bool { return o.Script != "" || len(o.Command) > 0 }

// openAnswer is the answer for a hook that can be called, or a session that can run steps.
type openAnswer struct {
	ID      string     `json:"id"`
	Status  run.Status `json:"status"`
	Hook    string     `json:"hook,omitempty"`
	Session string     `json:"session,omitempty"`
}

// checked is the answer for a check.
type checked struct {
	ID       string        `json:"id"`
	Status   run.Status    `json:"status"`
	Findings []run.Finding `json:"findings"`
}

// do carries out an order and returns its answer.
func (s *server) do(j *job) any {
	err := j.waitForTurn()
	var answer any
	if err == nil {
		answer, err = s.try(j.ctx, j.order)
	}
	if err == nil {
		return answer
	}
	if j.ctx.Err() != nil && run.ClassOf(err) != run.Gone {
		// It was canceled before it got its turn.
		err = run.Wrap(run.Closed, context.Cause(j.ctx))
	}
	return failed(j.order.id(), err)
}

func (s *server) try(ctx context.Context, o order) (any, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	switch {
	case o.Check != nil:
		return s.check(ctx, o)
	case o.Hook != nil:
		return s.openHook(ctx, o)
	case o.Call != nil:
		return s.callHook(ctx, o)
	case o.Session != nil:
		return s.openSession(ctx, o)
	case o.step != nil:
		return s.runStep(ctx, o)
	case o.isFiles():
		return s.inFiles(o)
	case o.VariableList != "":
		return s.listVariables(ctx, o)
	case o.Close != "":
		return openAnswer{ID: o.ID, Status: run.StatusOK}, s.close(o.Close)
	}
	req := o.Run()
	if err := s.Fixed.bind(&req); err != nil {
		return nil, err
	}
	return s.Runner.Run(ctx, req)
}

func (s *server) check(ctx context.Context, o order) (any, error) {
	var c run.Check
	if err := jsonform.ParseObject(o.Check, &c); err != nil {
		return nil, err
	}
	if err := s.Fixed.needsProcess("a check"); err != nil {
		return nil, err
	}
	findings, err := s.Runner.Check(ctx, c)
	return checked{o.ID, run.StatusOK, append([]run.Finding{}, findings...)}, err
}

func (s *server) openHook(ctx context.Context, o order) (any, error) {
	var h run.HookSpec
	if err := jsonform.ParseObject(o.Hook, &h); err != nil {
		return nil, err
	}
	if err := s.Fixed.needsProcess("a hook"); err != nil {
		return nil, err
	}
	if err := repeat("trust", s.Fixed.Trust, &h.Trust); err != nil {
		return nil, err
	}
	if err := s.hooks.Reserve(owner); err != nil {
		return nil, err
	}
	made, err := s.OpenHook(ctx, h)
	if err != nil {
		s.hooks.Release(owner)
		return nil, err
	}
	return openAnswer{ID: o.ID, Status: run.StatusOK, Hook: s.hooks.Add(owner, h.Script, made)}, nil
}

func (s *server) callHook(ctx context.Context, o order) (any, error) {
	if err := o.Call.Validate(); err != nil {
		return nil, err
	}
	h, err := s.hooks.Use(owner, o.Call.Hook)
	if err != nil {
		return nil, err
	}
	defer s.hooks.Done(h)
	res, err := o.Call.Do(ctx, h.Held)
	res.ID = o.ID
	return res, err
}
