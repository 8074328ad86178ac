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
	refusalInterval = time.Minute
	refusalLines    = 20
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
func (l *Log) recordMore(key refusalKey, more uint64) {
	_ = l.Record(Record{Frontend: key.frontend, Caller: key.caller, Kind: key.kind, ErrorClass: key.class, Count: more})
}

// refusals counts refused requests. The zero value is empty.
type refusals struct {
	mu     sync.Mutex
	byKey  map[refusalKey]*refused
	closed bool
}

type refusalKey struct {
	frontend observe.Frontend
	caller   string
	kind     observe.Kind
	class    run.Class
}

// refused counts the requests of one key within a minute.
type refused struct {
	lines int
	more  uint64      // requests without a line of their own
	timer *time.Timer // ends the minute
}

// hasLine reports whether a request gets a line of its own. Otherwise it is counted, and
// report receives the count at the end of the minute.
func (s *refusals) hasLine(r Record, report func(refusalKey, uint64)) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return true
	}
	key := refusalKey{r.Frontend, r.Caller, r.Kind, r.ErrorClass}
	seen := s.byKey[key]
	if seen == nil {
		if s.byKey == nil {
			s.byKey = map[refusalKey]*refused{}
		}
		seen = &refused{}
		seen.timer = time.AfterFunc(refusalInterval, func() {
			if more := s.forget(key, seen); more > 0 {
				report(key, more)
			}
		})
		s.byKey[key] = seen
	}
	if seen.lines < refusalLines {
		seen.lines++
		return true
	}
	seen.more++
	return false
}

// forget ends a minute and returns its count. The timer and Close may both end it; only the
// first gets the count.
func (s *refusals) forget(key refusalKey, seen *refused) (more uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byKey[key] != seen {
		return 0
	}
	delete(s.byKey, key)
	return seen.more
}

// close passes the current counts to report.
func (s *refusals) close(report func(refusalKey, uint64)) {
	s.mu.Lock()
	byKey := s.byKey
	s.byKey, s.closed = nil, true
	s.mu.Unlock()
	for key, seen := range byKey {
		seen.timer.Stop()
		if seen.more > 0 {
			report(key, seen.more)
		}
	}
}
