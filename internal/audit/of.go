package audit

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Run is what a door knows of a run when it is over.
type Run struct {
	Door   Door
	Caller string // the name of the token
	// Request is what was asked for. For the call of a hook it has the ID alone,
	// and Hook has the script.
	Request run.Request
	Hook    run.Hook
	// Result and Err are what came of it; one of them counts.
	Result run.Result
	Err    error
	// Arrived, Started and Ended: a request waits from the first to the second.
	// Started is zero for one that was not run.
	Arrived, Started, Ended time.Time
}

// RecordOf says what the log keeps of a run. A request without an ID gets one.
func RecordOf(r Run) Record {
	rec := Record{
		ID: r.Request.ID, Time: r.Ended, Door: r.Door, Caller: r.Caller, Tier: r.Request.Tier,
	}
	if rec.ID == "" {
		rec.ID = newID()
	}
	rec.Kind, rec.CodeHash = codeOf(r.Request, r.Hook)
	if r.Started.IsZero() {
		rec.Queued = span(r.Arrived, r.Ended)
	} else {
		rec.Queued, rec.Ran = span(r.Arrived, r.Started), span(r.Started, r.Ended)
	}
	if r.Err != nil {
		rec.ErrorClass = run.ClassOf(r.Err)
		return bounded(rec)
	}
	res := r.Result
	rec.Tier = cmp.Or(res.Enforcement.Tier, rec.Tier)
	rec.Walls = res.Enforcement.Walls
	rec.Outcome, rec.ErrorType = res.Outcome, cmp.Or(res.ErrorType, res.Outcome.ErrorType())
	rec.Usage = &res.Usage
	for i, v := range res.Violations {
		if i == maxViolations {
			rec.Omitted = len(res.Violations) - i
			break
		}
		rec.Violations = append(rec.Violations, Violation{Wall: v.Wall, Op: v.Op, Detail: v.Detail, Line: v.Line, Count: v.Count})
	}
	return bounded(rec)
}

// codeOf names the code without showing it. A command's arguments are hashed with
// a NUL between them, which none of them can contain.
func codeOf(req run.Request, hook run.Hook) (Kind, string) {
	switch {
	case hook.Script != "":
		return Hook, hashOf(hook.Script)
	case len(req.Command) > 0:
		return Command, hashOf(strings.Join(req.Command, "\x00"))
	case req.Module != nil:
		return Module, req.Module.Digest()
	}
	return Script, hashOf(req.Script)
}

func hashOf(code string) string {
	sum := sha256.Sum256([]byte(code))
	return hex.EncodeToString(sum[:])
}

func span(from, to time.Time) policy.Duration {
	if from.IsZero() || to.IsZero() {
		return 0
	}
	return policy.Duration(max(to.Sub(from), 0).Round(time.Microsecond))
}

func newID() string { return strings.ToLower(rand.Text()) }
