package audit

import (
	"context"
	"sync"
	"time"

	"github.com/cordon-sandbox/cordon/internal/observe"
	"github.com/cordon-sandbox/cordon/run"
)

// A request that is not run costs who sends it next to nothing. A few in a minute have a
// line of their own, of each caller and for each reason; the others are counted, and
// stand in one line when the minute is over. So nobody can fill the disk with them, or
// have the runs of others rotated out.
const (
	refusalsEach = time.Minute
	refusalsKept = 20
)

// Ended has a run in the log: a Log is an observe.Observer. What cannot be recorded is
// told to OnError, and counted.
func (l *Log) Ended(_ context.Context, r observe.Run) {
	rec := RecordOf(r)
	if isCheap(r) && !l.refusals.hasLine(rec, l.recordMore) {
		return
	}
	_ = l.Record(rec)
}

// isCheap says that nothing was run. Where we failed after its turn had come, nobody knows.
func isCheap(r observe.Run) bool {
	return r.Err != nil && (r.Started.IsZero() || run.ClassOf(r.Err) != run.Internal)
}

// recordMore writes the line that stands for many.
func (l *Log) recordMore(of refusalKey, more uint64) {
	_ = l.Record(Record{Frontend: of.frontend, Caller: of.caller, Kind: of.kind, ErrorClass: of.class, Count: more})
}

// refusals counts requests that were not run. The zero value has seen none.
type refusals struct {
	mu     sync.Mutex
	lately map[refusalKey]*refused
	closed bool
}

type refusalKey struct {
	frontend observe.Frontend
	caller   string
	kind     observe.Kind
	class    run.Class
}

// refused is what came within a minute.
type refused struct {
	lines int
	more  uint64 // that have none
	over  *time.Timer
}

// hasLine says whether a request has a line of its own. Otherwise it is counted, and tell
// hears how many were when the minute is over.
func (s *refusals) hasLine(r Record, tell func(refusalKey, uint64)) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return true
	}
	key := refusalKey{r.Frontend, r.Caller, r.Kind, r.ErrorClass}
	seen := s.lately[key]
	if seen == nil {
		if s.lately == nil {
			s.lately = map[refusalKey]*refused{}
		}
		seen = &refused{}
		seen.over = time.AfterFunc(refusalsEach, func() {
			if more := s.forget(key, seen); more > 0 {
				tell(key, more)
			}
		})
		s.lately[key] = seen
	}
	if seen.lines < refusalsKept {
		seen.lines++
		return true
	}
	seen.more++
	return false
}

// forget ends a minute, for one of those who would: its timer, or the end of the log.
func (s *refusals) forget(key refusalKey, seen *refused) (more uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lately[key] != seen {
		return 0
	}
	delete(s.lately, key)
	return seen.more
}

// close tells what was counted up to now.
func (s *refusals) close(tell func(refusalKey, uint64)) {
	s.mu.Lock()
	lately := s.lately
	s.lately, s.closed = nil, true
	s.mu.Unlock()
	for key, seen := range lately {
		seen.over.Stop()
		if seen.more > 0 {
			tell(key, seen.more)
		}
	}
}
