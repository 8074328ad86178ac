package zygote

import (
	"errors"
	"time"

	"github.com/cordon-sandbox/cordon/internal/output"
	"github.com/cordon-sandbox/cordon/internal/script"
	"github.com/cordon-sandbox/cordon/internal/wire"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Guest is what one worker runs.
type Guest struct {
	Script, Name string
	// Codes caches the compiled scripts; nil means no cache.
	Codes     *Codes
	Context   any
	Stdin     string
	Variables []string
	// Args are sys.argv after the name.
	Args []string
	// Work makes /work the guest's current directory. See OpenScratch.
	Work    bool
	Streams run.Streams
	// Network is set if the policy grants the guest hosts.
	Network *Network
	// Limits are complete. Scratch is the worker's.
	Limits        policy.Limits
	OnOutputLimit policy.OutputAction
	// Patience is how long to poll for the report before sleeping: waking up takes
	// longer than a short guest runs.
	Patience time.Duration
	// Grace is how long a guest that has reached a time limit, or is canceled, may take to end
	// by itself after it was interrupted. 0 kills it at once.
	Grace time.Duration
	// OnWait, if not nil, is called when the guest takes longer than Patience.
	OnWait func()

	again bool // the frame is a call to a hook, not a worker's first
}

// Ending is the evidence of how a guest ended. It draws no conclusions.
type Ending struct {
	// Report is what the guest reported, nil if nothing. It may lie about its value, but
	// nothing else that we rely on is taken from it.
	Report wire.Dict
	// Last says that the worker can serve no other call.
	Last bool
	// Malformed says what is wrong with the bytes on the channel.
	Malformed error
	// Killed is why we killed the worker; empty if we did not.
	Killed Reason
	// Interrupted is why we interrupted it; empty if we did not.
	Interrupted Reason
	// Exit is how its process ended, nil if the report came first.
	Exit *Exit
	// Orphaned says that the fork server died before the worker.
	Orphaned bool

	Stdout, Stderr output.Capture
	WallTime       time.Duration
	CPUTime        time.Duration
	Memory         policy.Bytes
	Violations     []run.Violation
}

// Reason says why we killed a worker: the key of a limit, or another word of
// internal/backend/verdict.
type Reason string

// The reasons.
const (
	KilledDone      Reason = "done" // not needed any more
	KilledWall      Reason = "wall_time"
	KilledCPU       Reason = "cpu_time"
	KilledOutput    Reason = "output"
	KilledCanceled  Reason = "canceled"
	KilledHammering Reason = "hammering"
	KilledChannel   Reason = "closed channel"
)

// ErrNotStarted says that the worker died before it received its guest, so the guest can
// be given to another worker.
var ErrNotStarted = errors.New("the guest was not started")

// more is what few guests need: nil for the others.
func (g Guest) more() any {
	if len(g.Args) == 0 && !g.Work {
		return nil
	}
	return []any{g.Args, g.Work}
}

// startFields is the start frame, in the order in which worker.py reads it.
func startFields(g Guest, code []byte, ask bool) []wire.Field {
	return []wire.Field{
		{Name: "script", Value: g.Script},
		{Name: "name", Value: g.Name},
		{Name: "context", Value: g.Context},
		{Name: "variables", Value: g.Variables},
		{Name: "code", Value: code},
		{Name: "ask", Value: ask},
		{Name: "more", Value: g.more()},
		{Name: "library_threads", Value: script.LibraryThreads(g.Limits.CPUs, g.Limits.Threads)},
		{Name: "max_answer", Value: wire.MaxReport(g.Limits)},
	}
}
