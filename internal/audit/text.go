package audit

import (
	"github.com/cordon-sandbox/cordon/internal/text"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// The most that a record keeps of text that others choose. Together they keep every line
// below maxLine.
const (
	maxName       = 128 // bytes of an id, a caller, an operation
	maxDetail     = 256 // bytes of a violation's detail or a wall's state
	maxViolations = 32
	maxWalls      = 32
)

// bounded cuts and cleans every text of r. Some are a guest's, some a caller's; none may
// fill the disk, break a line, or control the terminal of a reader.
func bounded(r Record) Record {
	r.ID = clip(r.ID, maxName)
	r.Frontend = clip(r.Frontend, maxName)
	r.Caller = clip(r.Caller, maxName)
	r.Kind = clip(r.Kind, maxName)
	r.CodeHash = clip(r.CodeHash, maxName)
	r.Tier = clip(r.Tier, maxName)
	r.Outcome = clip(r.Outcome, maxName)
	r.ErrorType = clip(r.ErrorType, maxName)
	r.ErrorClass = clip(r.ErrorClass, maxName)
	r.Queued, r.Ran = max(r.Queued, 0), max(r.Ran, 0)
	r.Walls = boundedWalls(r.Walls)
	if r.Usage != nil {
		// A negative one could be written, but not read.
		u := *r.Usage
		r.Usage = &run.Usage{
			WallTime: max(u.WallTime, 0), CPUTime: max(u.CPUTime, 0),
			Memory: max(u.Memory, 0), Output: max(u.Output, 0), Result: max(u.Result, 0), Fuel: max(u.Fuel, 0),
		}
	}
	if more := len(r.Violations) - maxViolations; more > 0 {
		r.Omitted += more
		r.Violations = r.Violations[:maxViolations]
	}
	kept := make([]Violation, len(r.Violations))
	for i, v := range r.Violations {
		v.Wall = clip(v.Wall, maxName)
		v.Op = clip(v.Op, maxName)
		v.Detail = clip(v.Detail, maxDetail)
		v.Module = clip(v.Module, maxName)
		kept[i] = v
	}
	r.Violations = kept
	return r
}

func boundedWalls(walls map[policy.Wall]policy.WallStatus) map[policy.Wall]policy.WallStatus {
	kept := make(map[policy.Wall]policy.WallStatus, min(len(walls), maxWalls))
	for wall, state := range walls {
		if len(kept) == maxWalls {
			break
		}
		kept[clip(wall, maxName)] = policy.WallStatus{State: clip(state.State, maxName), Detail: clip(state.Detail, maxDetail)}
	}
	return kept
}

// clip makes s printable, and cuts it to at most so many bytes.
func clip[T ~string](s T, most int) T { return T(text.Clip(string(s), most)) }
