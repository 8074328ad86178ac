package audit

import (
	"context"
	"sync"
	"time"

	"github.com/cordon-sandbox/cordon/internal/observe"
	"github.com/cordon-sandbox/cordon/run"
)

// Sending a request that is refused costs almost nothing. In each minute, the first few
// of each caller and reason get their own line; the others are counted, in one line at
// the end of the minute. So nobody can fill the disk with them, or make the log rotate
// out the runs of others.
const (
	refusalsEach = time.Minute
	refusalsKept = 20
)

// Ended records a run: a Log is an observe.Observer. Failures are reported to OnError and
// counted.
func (l *Log) Ended(_ context.Context, r observe.Run) {
	rec := RecordOf(r)
	if isCheap(r) && !l.refusals.hasLine(rec, l.recordMore) {
		return
	}
	_ = l.Record(rec)
}

// isCheap reports that nothing ran. If cordon failed after the run's turn had come, it
// may have run.
func isCheap(r observe.Run) bool {
	return r.Err != nil && (r.Started.IsZero() || run.ClassOf(r.Err) != run.Internal)
}

// recordMore writes the line that counts many requests.
func (l *Log) recordMore(of refusalKey, more uint64) {
	_ = l.Record(Record{Frontend: of.frontend, Caller: of.caller, Kind: of.kind, ErrorClass: of.class, Count: more})
}

// refusals counts refused requests. The zero value is empty.
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

// refused are the requests within a minute.
type refused struct {
	lines int
	more  uint64 // without a line of their own
	over  *time.Timer
}

// hasLine reports whether a request gets a line of its own. Otherwise it is counted, and
// tell receives the count at the end of the minute.
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

// forget ends a minute. The timer and the end of the log may both call it; only one
// counts.
func (s *refusals) forget(key refusalKey, seen *refused) (more uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lately[key] != seen {
		return 0
	}
	delete(s.lately, key)
	return seen.more
}

// close passes the current counts to tell.
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
