package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/cordon-sandbox/cordon/internal/observe"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		writeUntilKilled(os.Getenv(childVariable))
		return
	}
	goleak.VerifyTestMain(m)
}

// day is when the runs of these tests ended.
var day = time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)

// sample returns the record of a run as a frontend sees it.
func sample(i int) Record {
	return RecordOf(observe.Run{
		ID: fmt.Sprintf("r%d", i), Frontend: observe.HTTP, Caller: "alice", Kind: observe.Script, Code: "result = 1",
		Result: run.Result{
			Outcome:    run.Succeeded,
			Usage:      run.Usage{WallTime: 2 * time.Millisecond, Memory: 3 * policy.MiB},
			Violations: []run.Violation{{Wall: "seccomp", Op: "socket", Detail: "AF_INET", Line: 3, Module: "requests", Count: 1}},
			Enforcement: run.Enforcement{
				Tier: policy.TierProcess, Walls: map[policy.Wall]policy.WallStatus{"seccomp": policy.EnforcedWall(""), "landlock": policy.EnforcedWall("ABI 7")},
			},
		},
		Arrived: day, Started: day.Add(time.Millisecond), Ended: day.Add(3 * time.Millisecond),
	})
}

func open(t *testing.T, o Options) *Log {
	t.Helper()
	if o.Path == "" {
		o.Path = filepath.Join(t.TempDir(), "audit.jsonl")
	}
	if o.Sync == 0 {
		o.Sync = time.Microsecond
	}
	l, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// fill writes a log of n runs and returns its path.
func fill(t *testing.T, o Options, n int) string {
	t.Helper()
	l := open(t, o)
	for i := range n {
		if err := l.Record(sample(i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return l.opts.Path
}

func verify(t *testing.T, path string, check Check) Report {
	t.Helper()
	report, err := Verify(path, check)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func intact(t *testing.T, path string, check Check) Report {
	t.Helper()
	report := verify(t, path, check)
	for _, f := range report.Findings {
		t.Errorf("%s:%d: %s: %s", f.File, f.Line, f.Fault, f.Text)
	}
	return report
}

// ids returns the ids of all runs in a log.
func ids(t *testing.T, path string) []string {
	t.Helper()
	var all []string
	for e, err := range Read(path, Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e.ID)
	}
	return all
}

func TestLogIsWhatWasRecorded(t *testing.T) {
	path := fill(t, Options{}, 3)
	report := intact(t, path, Check{})
	if report.Lines != 5 || report.Head.Seq != 5 || !report.HeadFile { // begin, three, closed
		t.Errorf("%+v", report)
	}
	for e, err := range Read(path, Filter{ID: "r1"}) {
		if err != nil {
			t.Fatal(err)
		}
		want := sample(1)
		if e.Caller != "alice" || e.Frontend != observe.HTTP || e.Kind != observe.Script || e.Tier != policy.TierProcess || e.Outcome != run.Succeeded ||
			e.CodeHash != want.CodeHash || *e.Usage != *want.Usage || !slices.Equal(e.Violations, want.Violations) ||
			e.Queued != want.Queued || time.Duration(e.Ran) != 2*time.Millisecond || !e.Time.Equal(want.Time) || len(e.Walls) != 2 {
			t.Errorf("%s", e.JSON)
		}
		if bytes.Contains(e.JSON, []byte("result = 1")) {
			t.Error("the code is in the log")
		}
	}
	for _, suffix := range []string{"", headSuffix, lockSuffix} {
		if info, err := os.Stat(path + suffix); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", suffix, info.Mode(), err)
		}
	}
}

func TestLogGoesOn(t *testing.T) {
	path := fill(t, Options{}, 2)
	fill(t, Options{Path: path}, 2)
	report := intact(t, path, Check{})
	if report.Lines != 8 || report.Restarts != 0 {
		t.Errorf("%+v", report)
	}
}

func TestRotation(t *testing.T) {
	path := fill(t, Options{MaxSize: minSize, Keep: 3}, 2000)
	old, err := listRotated(path)
	if err != nil || len(old) != 3 {
		t.Fatalf("%v, %v", old, err)
	}
	report := intact(t, path, Check{})
	if report.Files != 4 || report.First != old[0].first || report.First == 1 {
		t.Errorf("%+v", report)
	}
	for _, r := range old {
		if info, err := os.Stat(r.path); err != nil || info.Size() > minSize {
			t.Errorf("%s has %d bytes, %v", r.path, info.Size(), err)
		}
	}
	fill(t, Options{Path: path, MaxSize: minSize, Keep: 3}, 1000)
	intact(t, path, Check{})
}

func TestOneWriter(t *testing.T) {
	l := open(t, Options{})
	_, err := Open(Options{Path: l.opts.Path})
	if run.ClassOf(err) != run.Busy || !strings.Contains(err.Error(), "another process writes") {
		t.Errorf("%v", err)
	}
	if report := intact(t, l.opts.Path, Check{}); !report.Writing {
		t.Error("Verify does not notice the writer")
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, Options{Path: l.opts.Path})
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	foreign := write("foreign", "root:x:0:0\n", 0o600)
	shared := write("shared", "", 0o666)
	link := filepath.Join(dir, "link")
	if err := os.Symlink(foreign, link); err != nil {
		t.Fatal(err)
	}
	twice := filepath.Join(dir, "twice")
	if err := os.Link(write("once", "", 0o600), twice); err != nil {
		t.Fatal(err)
	}
	key := bytes.Repeat([]byte("k"), minKey)
	keyed := fill(t, Options{Key: key}, 1)
	plain := fill(t, Options{}, 1)
	for name, tt := range map[string]struct {
		o     Options
		words string
	}{
		"no path":               {Options{}, "path is empty"},
		"another file":          {Options{Path: foreign}, "no line of an audit log"},
		"a link":                {Options{Path: link}, "symbolic link"},
		"a hard link":           {Options{Path: twice}, "hard link"},
		"a directory":           {Options{Path: dir}, "is a directory"},
		"others can change it":  {Options{Path: shared}, "chmod 600"},
		"small files":           {Options{Path: plain, MaxSize: 1000}, "too small"},
		"a short key":           {Options{Path: plain, Key: []byte("short")}, "the minimum is 32"},
		"another key":           {Options{Path: keyed, Key: bytes.Repeat([]byte("x"), minKey)}, "with this key"},
		"a key that is missing": {Options{Path: keyed}, "or give its key"},
		"a key from now on":     {Options{Path: plain, Key: key}, "with this key"},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := Open(tt.o)
			if err == nil {
				l.Close()
			}
			if err == nil || !strings.Contains(err.Error(), tt.words) {
				t.Errorf("%v; want %q", err, tt.words)
			}
		})
	}
	if text, err := os.ReadFile(foreign); string(text) != "root:x:0:0\n" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
}

// TestHammer checks that all records of concurrent writers are in the log, those of each
// writer in their order.
func TestHammer(t *testing.T) {
	const writers, each = 16, 200
	l := open(t, Options{MaxSize: minSize, Keep: 1000, Sync: time.Millisecond})
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				r := sample(i)
				r.ID = fmt.Sprintf("%d-%d", w, i)
				if err := l.Record(r); err != nil {
					t.Error(err)
				}
				if i%50 == 0 {
					if err := l.Flush(t.Context()); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Go(func() {
		for range 20 { // readers do not disturb the writers, and find no fault
			if report, err := Verify(l.opts.Path, Check{}); err != nil || !report.Intact() {
				t.Errorf("%+v, %v", report.Findings, err)
			}
		}
	})
	wg.Wait()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	intact(t, l.opts.Path, Check{})
	next := map[string]int{}
	for _, id := range ids(t, l.opts.Path) {
		w, number, _ := strings.Cut(id, "-")
		if number != fmt.Sprint(next[w]) {
			t.Fatalf("%s is where %s-%d should be", id, w, next[w])
		}
		next[w]++
	}
	if len(next) != writers || next["0"] != each {
		t.Errorf("%v", next)
	}
	if err := l.Record(sample(0)); run.ClassOf(err) != run.Closed {
		t.Errorf("recorded after the end: %v", err)
	}
}

// Records that arrive together share an fsync.
func TestGroupCommit(t *testing.T) {
	disk := &flaky{}
	l := open(t, Options{Sync: 50 * time.Millisecond, wrap: disk.wrap})
	before := disk.syncs.Load()
	started := time.Now()
	var wg sync.WaitGroup
	for i := range 500 {
		wg.Go(func() {
			if err := l.Record(sample(i)); err != nil {
				t.Error(err)
			}
			if err := l.Flush(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	most := 2 + int64(time.Since(started)/(50*time.Millisecond))
	if n := disk.syncs.Load() - before; n > most {
		t.Errorf("%d fsyncs in %v", n, time.Since(started))
	}
}

func TestFlushEndsWithItsContext(t *testing.T) {
	disk := &flaky{}
	l := open(t, Options{Sync: time.Hour, wrap: disk.wrap})
	if err := errors.Join(l.Record(sample(0)), l.Flush(t.Context()), l.Record(sample(1))); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := l.Flush(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
}

// Verify does not report old files as missing that a rotation removes while it reads.
func TestVerifyWhileFilesGo(t *testing.T) {
	l := open(t, Options{MaxSize: minSize, Keep: 2})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 4000 {
			if err := l.Record(sample(i)); err != nil {
				t.Error(err)
			}
		}
	}()
	for {
		if report, err := Verify(l.opts.Path, Check{}); err != nil || !report.Intact() {
			t.Errorf("%+v, %v", report.Findings, err)
			<-done
		}
		select {
		case <-done:
			return
		default:
		}
	}
}
