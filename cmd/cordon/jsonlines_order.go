package main

import (
	"context"
	"encoding/json"

	"github.com/cordon-sandbox/cordon/internal/jsonform"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// order is what a line may ask for: a run, as everywhere, or one of the rest.
type order struct {
	jsonform.Request
	Check  json.RawMessage `json:"check,omitempty"` // a run.Check
	Hook   json.RawMessage `json:"hook,omitempty"`  // a run.HookSpec, to be opened
	Call   *hookCall       `json:"call,omitempty"`
	Close  string          `json:"close,omitempty"`  // the id of a hook
	Cancel string          `json:"cancel,omitempty"` // the id of a line
	Brief  bool            `json:"brief,omitempty"`  // the answer is for who does not ask what stood around the guest
}

// hookCall is one call of a hook that is open.
type hookCall struct {
	Hook     string          `json:"hook"`
	State    json.RawMessage `json:"game_state,omitempty"`
	Config   json.RawMessage `json:"mod_config,omitempty"`
	Function string          `json:"function,omitempty"`
	Args     []any           `json:"args,omitempty"`
}

func parseOrder(text []byte) (order, error) {
	var o order
	if err := jsonform.ParseObject(text, &o); err != nil {
		return order{}, err
	}
	asked := 0
	for _, is := range []bool{o.isRun(), o.Check != nil, o.Hook != nil, o.Call != nil, o.Close != "", o.Cancel != ""} {
		if is {
			asked++
		}
	}
	if asked > 1 {
		return order{}, run.Errorf(run.Invalid, "request: a line asks for one thing: a run (script or command), check, hook, call, close or cancel")
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

// opened is the answer for a hook that can be called.
type opened struct {
	ID     string     `json:"id"`
	Status run.Status `json:"status"`
	Hook   string     `json:"hook,omitempty"`
}

// checked is the answer for a check.
type checked struct {
	ID       string        `json:"id"`
	Status   run.Status    `json:"status"`
	Findings []run.Finding `json:"findings"`
}

// do does what a line asks for, and gives its answer.
func (s *lineServer) do(ctx context.Context, o order) any {
	answer, err := s.try(ctx, o)
	if err == nil {
		return answer
	}
	if ctx.Err() != nil {
		// It was still waiting for its turn.
		err = run.Wrap(run.Closed, context.Cause(ctx))
	}
	return failed(o.id(), err)
}

func (s *lineServer) try(ctx context.Context, o order) (any, error) {
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
	case o.Close != "":
		return opened{ID: o.ID, Status: run.StatusOK}, s.hooks.drop(o.Close)
	}
	req := o.Run()
	if err := s.bind(&req); err != nil {
		return nil, err
	}
	return s.runner.Run(ctx, req)
}

func (s *lineServer) check(ctx context.Context, o order) (any, error) {
	var c run.Check
	if err := jsonform.ParseObject(o.Check, &c); err != nil {
		return nil, err
	}
	if err := s.onProcess("a check"); err != nil {
		return nil, err
	}
	findings, err := s.runner.Check(ctx, c)
	return checked{o.ID, run.StatusOK, append([]run.Finding{}, findings...)}, err
}

func (s *lineServer) openHook(ctx context.Context, o order) (any, error) {
	var h run.HookSpec
	if err := jsonform.ParseObject(o.Hook, &h); err != nil {
		return nil, err
	}
	if err := s.onProcess("a hook"); err != nil {
		return nil, err
	}
	if err := bindField("trust", s.trust, (*string)(&h.Trust)); err != nil {
		return nil, err
	}
	made, err := s.runner.OpenHook(ctx, h)
	if err != nil {
		return nil, err
	}
	return opened{o.ID, run.StatusOK, s.hooks.add(made)}, nil
}

func (s *lineServer) callHook(ctx context.Context, o order) (any, error) {
	c := o.Call
	switch {
	case c.Function != "" && (c.State != nil || c.Config != nil):
		return nil, run.Errorf(run.Invalid, "game_state and mod_config are for the script, and function names a function of it: write one of both")
	case c.Function == "" && len(c.Args) > 0:
		return nil, run.Errorf(run.Invalid, "args are for a function, and none is named: write function, too")
	}
	h, err := s.hooks.use(c.Hook)
	if err != nil {
		return nil, err
	}
	defer s.hooks.done(h)
	var res run.Result
	if c.Function != "" {
		res, err = h.CallFunction(ctx, c.Function, c.Args...)
	} else {
		res, err = h.Call(ctx, orEmpty(c.State), orEmpty(c.Config))
	}
	res.ID = o.ID
	return res, err
}

func orEmpty(value json.RawMessage) json.RawMessage {
	if value == nil {
		return json.RawMessage("{}")
	}
	return value
}

// onProcess refuses what the tier that cordon was started with has not.
func (o *runOptions) onProcess(what string) error {
	if o.tier != "" && o.tier != string(policy.TierProcess) {
		return run.Errorf(run.Unsupported, "%s needs tier %q, and cordon was started with %q", what, policy.TierProcess, o.tier)
	}
	return nil
}

// bind applies the flags that a request can only repeat.
func (o *runOptions) bind(req *run.Request) error {
	if o.restricted && req.Kind() == run.KindCommand {
		return run.Errorf(run.Invalid, "cordon was started with --restricted: a command cannot go by the language rules, which are for scripts")
	}
	req.Script.Restricted = req.Script.Restricted || o.restricted
	if err := bindField("tier", o.tier, (*string)(&req.Tier)); err != nil {
		return err
	}
	if err := bindField("trust", o.trust, (*string)(&req.Trust)); err != nil {
		return err
	}
	return bindField("on_output_limit", o.onOutputLimit, (*string)(&req.OnOutputLimit))
}

func bindField(name, flag string, field *string) error {
	switch {
	case flag == "" || *field == flag:
	case *field == "":
		*field = flag
	default:
		return run.Errorf(run.Invalid, "%s %q is not what cordon was started with: %q", name, *field, flag)
	}
	return nil
}
