package audit

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/cordon-sandbox/cordon/internal/observe"
	"github.com/cordon-sandbox/cordon/internal/plainjson"
	"github.com/cordon-sandbox/cordon/run"
)

// RecordOf returns the record of a run. It has only the hash of the code.
func RecordOf(r observe.Run) Record {
	sum := sha256.Sum256([]byte(r.Code))
	rec := Record{
		ID: r.ID, Time: r.Ended, Frontend: r.Frontend, Caller: r.Caller, Kind: r.Kind, CodeHash: hex.EncodeToString(sum[:]),
	}
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
	rec.Tier = res.Enforcement.Tier
	rec.Walls = res.Enforcement.Walls
	rec.Outcome, rec.ErrorType = res.Outcome, cmp.Or(res.ErrorType, res.Outcome.ErrorType())
	rec.Usage = &res.Usage
	for _, v := range res.Violations {
		rec.Violations = append(rec.Violations, Violation{Wall: v.Wall, Op: v.Op, Detail: v.Detail, Claimed: v.Claimed, Line: v.Line, Module: v.Module, Count: v.Count})
	}
	return bounded(rec)
}

func span(from, to time.Time) plainjson.Milliseconds {
	if from.IsZero() || to.IsZero() {
		return 0
	}
	return plainjson.Milliseconds(max(to.Sub(from), 0).Round(time.Microsecond))
}
