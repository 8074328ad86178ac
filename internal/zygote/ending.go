package zygote

import (
	"errors"
	"time"

	"github.com/cordon-sandbox/cordon/internal/output"
	"github.com/cordon-sandbox/cordon/internal/wire"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Guest is what one worker runs.
type Guest struct {
	Script, Name string
	// Codes remembers what scripts are compiled to, or is nil.
	Codes     *Codes
	Context   any
	Stdin     string
	Variables []string
	Streams   run.Streams
	// Network is there for a guest whose policy grants it hosts.
	Network *Network
	// Limits are complete, and no wider than the worker's own.
	Limits        policy.Limits
	OnOutputLimit policy.OutputAction
	// Patience is how long to look for the report without sleeping: a
	// processor that sleeps takes longer to wake than a short guest to run.
	Patience time.Duration
	// OnWait, if there is one, is called when the guest takes longer.
	OnWait func()

	again bool // the frame is a call to a hook, not a worker's first
}

// Ending is the evidence of how a guest ended. It draws no conclusions.
type Ending struct {
	// Report is the guest's own word, nil when it gave none. It may lie about
	// its value, and about nothing else that we rely on.
	Report wire.Dict
	// Last says that it came from a worker that can serve no other call.
	Last bool
	// Malformed says what was wrong with the bytes on its channel.
	Malformed error
	// Killed is why we killed it; empty when we did not.
	Killed Reason
	// Exit is how its process ended, nil when the report came first.
	Exit *Exit
	// Orphaned says that the fork server died under it.
	Orphaned bool

	Stdout, Stderr output.Capture
	WallTime       time.Duration
	CPUTime        time.Duration
	Memory         policy.Bytes
	Violations     []run.Violation
}

// Reason is why we killed a worker.
type Reason string

// The reasons.
const (
	KilledDone      Reason = "done" // it had served its purpose
	KilledWall      Reason = "wall time"
	KilledCPU       Reason = "cpu time"
	KilledOutput    Reason = "output"
	KilledCanceled  Reason = "canceled"
	KilledHammering Reason = "hammering at the filter"
	KilledChannel   Reason = "closed its channel"
)

// ErrNotStarted: the worker was gone before its guest was handed over, so
// that the guest can be given to another one.
var ErrNotStarted = errors.New("the guest was not started")

// startFields are the start frame, in the order in which worker.py takes them.
func startFields(g Guest, limits []any, code []byte, ask bool) []wire.Field {
	variables := g.Variables
	if variables == nil {
		variables = []string{}
	}
	return []wire.Field{
		{Name: "script", Value: g.Script},
		{Name: "name", Value: g.Name},
		{Name: "context", Value: g.Context},
		{Name: "variables", Value: variables},
		{Name: "limits", Value: limits},
		{Name: "code", Value: code},
		{Name: "ask", Value: ask},
		{Name: "most", Value: wire.MaxReport(g.Limits)},
	}
}
