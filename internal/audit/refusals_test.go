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

// linesOf counts the records of a log by caller and class: lines, and what they stand for.
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

// A flood of requests that are not run takes a few lines of the log in a minute, each of
// them is counted, and the runs and the refusals of others keep their lines.
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
		for range 2 * refusalsKept {
			l.Ended(t.Context(), observe.Run{ID: "ran", Caller: "mallory", Result: run.Result{Outcome: run.Succeeded}})
		}
		// Our own failure, after its turn had come: something may have run.
		failed := refusal("mallory", run.Internal)
		failed.Started = time.Now()
		for range 2 * refusalsKept {
			l.Ended(t.Context(), failed)
		}
		if err := l.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		lines, _ := linesOf(t, path)
		for key, want := range map[string]int{
			"mallory invalid": refusalsKept, "mallory busy": 1, "alice invalid": 1,
			"mallory succeeded": 2 * refusalsKept, "mallory internal": 2 * refusalsKept,
		} {
			if lines[key] != want {
				t.Errorf("%s: %d lines; want %d", key, lines[key], want)
			}
		}

		<-time.After(refusalsEach)
		synctest.Wait()
		if err := l.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		lines, requests := linesOf(t, path)
		if lines["mallory invalid"] != refusalsKept+1 || requests["mallory invalid"] != flood || lines["alice invalid"] != 1 {
			t.Errorf("after a minute: %v, %v", lines, requests)
		}

		// The next minute begins anew, and the end of the log does not wait for it.
		for range flood {
			l.Ended(t.Context(), refusal("mallory", run.Invalid))
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		lines, requests = linesOf(t, path)
		if lines["mallory invalid"] != 2*(refusalsKept+1) || requests["mallory invalid"] != 2*flood {
			t.Errorf("at the end: %v, %v", lines, requests)
		}
		var s Stats
		for _, r := range records(t, path) {
			s.Add(r)
		}
		if s.NotRun != 2*flood+2+2*refusalsKept || s.Runs != 2*refusalsKept {
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

// What comes after the end is dropped as ever, and leaves no clock behind.
func TestRefusalAfterTheEnd(t *testing.T) {
	var told []error
	l := open(t, Options{OnError: func(err error) { told = append(told, err) }})
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 * refusalsKept {
		l.Ended(t.Context(), refusal("alice", run.Busy))
	}
	if len(told) != 2*refusalsKept || !errors.Is(told[0], run.ErrClosed) || l.refusals.lately != nil {
		t.Errorf("%d told: %v", len(told), told[0])
	}
}
