package audit

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cordon-sandbox/cordon/internal/observe"
	"github.com/cordon-sandbox/cordon/run"
)

func refusal(caller string, class run.Class) observe.Run {
	return observe.Run{
		ID: "r", Frontend: observe.HTTP, Caller: caller, Kind: observe.Script, Code: "x",
		Err: run.Errorf(class, "no"), Arrived: time.Now(), Ended: time.Now(),
	}
}

func records(t *testing.T, path string) (all []Record) {
	t.Helper()
	for e, err := range Read(path, Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e.Record)
	}
	return all
}

// linesOf counts the lines of a log, and the requests that they stand for, by caller and
// class.
func linesOf(t *testing.T, path string) (lines map[string]int, requests map[string]uint64) {
	t.Helper()
	lines, requests = map[string]int{}, map[string]uint64{}
	for _, r := range records(t, path) {
		if r.Note == nil {
			key := r.Caller + " " + string(r.ErrorClass) + string(r.Outcome)
			lines[key]++
			requests[key] += r.requests()
		}
	}
	return lines, requests
}

// A flood of refused requests takes only a few lines of the log per minute. Each of them is
// counted, and runs and the refusals of other callers keep their own lines.
func TestRefusalsAreSummarized(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "audit.jsonl")
		l := open(t, Options{Path: path})
		const flood = 1000
		for range flood {
			l.Ended(t.Context(), refusal("mallory", run.Invalid))
		}
		l.Ended(t.Context(), refusal("mallory", run.Busy))
		l.Ended(t.Context(), refusal("alice", run.Invalid))
		for range 2 * refusalLines {
			l.Ended(t.Context(), observe.Run{ID: "ran", Caller: "mallory", Result: run.Result{Outcome: run.Succeeded}})
		}
		// cordon failed after the request had started: something may have run.
		failed := refusal("mallory", run.Internal)
		failed.Started = time.Now()
		for range 2 * refusalLines {
			l.Ended(t.Context(), failed)
		}
		if err := l.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		lines, _ := linesOf(t, path)
		for key, want := range map[string]int{
			"mallory invalid": refusalLines, "mallory busy": 1, "alice invalid": 1,
			"mallory succeeded": 2 * refusalLines, "mallory internal": 2 * refusalLines,
		} {
			if lines[key] != want {
				t.Errorf("%s: %d lines; want %d", key, lines[key], want)
			}
		}

		<-time.After(refusalInterval)
		synctest.Wait()
		if err := l.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		lines, requests := linesOf(t, path)
		if lines["mallory invalid"] != refusalLines+1 || requests["mallory invalid"] != flood || lines["alice invalid"] != 1 {
			t.Errorf("after a minute: %v, %v", lines, requests)
		}

		// The next minute starts from zero, and Close does not wait for its end.
		for range flood {
			l.Ended(t.Context(), refusal("mallory", run.Invalid))
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		lines, requests = linesOf(t, path)
		if lines["mallory invalid"] != 2*(refusalLines+1) || requests["mallory invalid"] != 2*flood {
			t.Errorf("at the end: %v, %v", lines, requests)
		}
		var s Stats
		for _, r := range records(t, path) {
			s.Add(r)
		}
		if s.NotRun != 2*flood+2+2*refusalLines || s.Runs != 2*refusalLines {
			t.Errorf("stats: %d run, %d not", s.Runs, s.NotRun)
		}
		if report, err := Verify(path, Check{}); err != nil || !report.Intact() {
			t.Errorf("%+v, %v", report, err)
		}
		if info, err := os.Stat(path); err != nil || info.Size() > 100<<10 {
			t.Errorf("%v, %v", info, err)
		}
	})
}

// Refusals after Close are dropped like other records, and start no timer.
func TestRefusalAfterTheEnd(t *testing.T) {
	var reported []error
	l := open(t, Options{OnError: func(err error) { reported = append(reported, err) }})
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 * refusalLines {
		l.Ended(t.Context(), refusal("alice", run.Busy))
	}
	if len(reported) != 2*refusalLines || !errors.Is(reported[0], run.ErrClosed) || l.refusals.byKey != nil {
		t.Errorf("%d reported: %v", len(reported), reported[0])
	}
}
