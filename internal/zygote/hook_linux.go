package zygote

import (
	"context"
	"errors"
	"math/rand/v2"

	"github.com/cordon-sandbox/cordon/internal/wire"
	"github.com/cordon-sandbox/cordon/run"
)

// Call is one call of a hook. It names a function, or runs the whole script if the name
// is empty.
type Call struct {
	Function  string
	Arguments []wire.Field
}

// A worker keeps a buffer that fits the answers of most calls, and one for questions up
// to some size.
const (
	smallFrame = 512
	largeFrame = 64 << 10
)

// Open makes the worker compile a hook and keep it. A report other than "ok" says why
// that failed; the worker is then useless.
func (w *Worker) Open(ctx context.Context, g Guest) (Ending, error) {
	return w.start(ctx, wire.KindHook, g)
}

// Call calls the hook. The guest that it was opened with has the limits of the call.
func (w *Worker) Call(ctx context.Context, g Guest, call Call) (Ending, error) {
	var function any
	if call.Function != "" {
		function = call.Function
	}
	fields := append(make([]wire.Field, 0, 4), numberField, wire.Field{Name: "function", Value: function})
	return w.ask(ctx, g, wire.KindCall, append(fields, call.Arguments...))
}

// numberField is the first field of a question. The number is set by ask.
var numberField = wire.Field{Name: "number"}

// ask sends a question to a worker that answers many, and returns its answer.
func (w *Worker) ask(ctx context.Context, g Guest, kind byte, fields []wire.Field) (Ending, error) {
	number := rand.Int64()
	fields[0].Value = number
	frame, err := wire.AppendListFrame(w.question[:0], kind, fields...)
	if err != nil {
		return Ending{}, run.Errorf(run.Invalid, "%w", err)
	}
	if w.answer == nil {
		w.answer = make([]byte, smallFrame)
	}
	if w.question = frame; cap(frame) > largeFrame {
		w.question = nil // too large to keep
	}
	g.again = true
	e, err := w.exchange(ctx, frame, g, false)
	if err != nil || e.Report == nil {
		return e, err
	}
	// The worker answers each call once. An answer with another number was written by a
	// guest, perhaps during an earlier call, which could not know the number of this
	// one.
	if answered, err := e.Report.Get("number").Int(); err != nil || answered != number {
		e.Report, e.Malformed = nil, errors.New("an answer with the number of another call")
	}
	return e, nil
}
