package zygote

import (
	"context"

	"github.com/cordon-sandbox/cordon/internal/wire"
	"github.com/cordon-sandbox/cordon/run"
)

// Call is one call of a hook: of a function by its name, or of the script as a
// whole when the name is empty.
type Call struct {
	Function  string
	Arguments []Argument
}

// Argument is a JSON value. Its name is for errors.
type Argument struct {
	Name  string
	Value any
}

// Open has the worker compile a hook, and keep it. A report that is not "ok"
// says why it did not; the worker is of no use then.
func (w *Worker) Open(ctx context.Context, g Guest) (Ending, error) {
	return w.start(ctx, wire.KindHook, g)
}

// Call calls the hook. The guest that it was opened with says which limits hold
// for the call.
func (w *Worker) Call(ctx context.Context, g Guest, call Call) (Ending, error) {
	w.calls++
	var function any
	if call.Function != "" {
		function = call.Function
	}
	fields := append(make([]wire.Field, 0, 4), wire.Field{Name: "number", Value: w.calls}, wire.Field{Name: "function", Value: function})
	for _, a := range call.Arguments {
		fields = append(fields, wire.Field(a))
	}
	frame, err := wire.AppendListFrame(make([]byte, 0, 2048), wire.KindCall, fields...)
	if err != nil {
		return Ending{}, run.Errorf(run.Invalid, "%w", err)
	}
	g.again = true
	e, err := w.exchange(ctx, frame, g, false)
	if err != nil || e.Report == nil {
		return e, err
	}
	// An answer to another call is a forgery: the worker gives one to each.
	if number, err := e.Report.Get("number").Int(); err != nil || number != int64(w.calls) {
		e.Report, e.Malformed = nil, wire.ErrMalformed
	}
	return e, nil
}
