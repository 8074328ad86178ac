package audit

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/cordon-sandbox/cordon/internal/observe"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

func TestReadFilters(t *testing.T) {
	l := open(t, Options{})
	for i := range 3 {
		r := sample(i)
		r.Time = day.Add(time.Duration(i) * time.Hour)
		if err := l.Record(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		filter Filter
		want   string
	}{
		"all":       {Filter{}, "r0 r1 r2"},
		"one":       {Filter{ID: "r1"}, "r1"},
		"the later": {Filter{Since: day.Add(time.Hour)}, "r1 r2"},
		"none":      {Filter{ID: "r"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for e, err := range Read(l.opts.Path, tt.filter) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, e.ID)
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("%q", got)
			}
		})
	}
}

func TestReadGoesOnAfterABadLine(t *testing.T) {
	files := load(t, fill(t, Options{}, 3))
	l := lines(files[active])
	path := files.with(active, join(l[0], l[1], []byte("rubbish"), l[3])).put(t, t.TempDir())
	var got []string
	for e, err := range Read(path, Filter{}) {
		if err != nil {
			got = append(got, err.Error())
			continue
		}
		got = append(got, e.ID)
	}
	if len(got) != 3 || !strings.HasPrefix(got[1], "audit.jsonl:3: not a line") || got[2] != "r2" {
		t.Errorf("%q", got)
	}
}

func TestLast(t *testing.T) {
	path := fill(t, Options{MaxSize: minSize}, 600)
	all := 0
	for _, err := range Read(path, Filter{Notes: true}) {
		if err != nil {
			t.Fatal(err)
		}
		all++
	}
	for _, n := range []int{0, 1, 2, 10, 150, 599, 10000} {
		var got []uint64
		for e, err := range Last(t.Context(), path, n, false) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, e.Seq)
		}
		want := min(n, all)
		if len(got) != want || want > 0 && (got[len(got)-1] != uint64(all) || !slices.IsSorted(got)) {
			t.Errorf("%d: %d lines, to %v", n, len(got), got[max(0, len(got)-1):])
		}
	}
	for _, err := range Last(t.Context(), path, -1, false) {
		if run.ClassOf(err) != run.Invalid {
			t.Errorf("%v", err)
		}
	}
}

// A follower misses nothing, over many files.
func TestFollow(t *testing.T) {
	l := open(t, Options{MaxSize: minSize, Keep: 1000})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	const runs = 1500
	done := make(chan error, 1)
	started := make(chan struct{})
	go func() {
		next := uint64(1)
		for e, err := range Last(ctx, l.opts.Path, 1, true) {
			if err != nil || e.Seq != next {
				done <- fmt.Errorf("line %d where %d should be, %w", e.Seq, next, err)
				return
			}
			if next == 1 {
				close(started)
			}
			next++
			if e.ID == fmt.Sprint("r", runs-1) {
				done <- nil
				return
			}
		}
		done <- errors.New("it ended")
	}()
	<-started
	for i := range runs {
		if err := l.Record(sample(i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// hostile is text that a guest or a caller might choose.
var hostile = []string{
	"a\nb", "a\r\nb", "\x1b[2J\x1b]0;gone\x07", "\x00", "\u009b31m", "\u202egnp.exe", "\u2028", "\xff\xfe", "\u200b", "\U000e0001",
	`","hash":"`, `"}` + "\n" + `{"seq":1`, strings.Repeat("\x1b", 5000), strings.Repeat("漢", 5000), strings.Repeat("\U000e0001", 5000), "<script>&",
}

// Text from guests and callers cannot break a line, move a cursor, or make a line too long
// to be read.
func TestHostileText(t *testing.T) {
	l := open(t, Options{})
	for _, s := range hostile {
		r := Record{
			ID: s, Caller: s, Frontend: observe.Frontend(s), Kind: observe.Kind(s), CodeHash: s, Tier: policy.Tier(s), Outcome: run.Outcome(s), ErrorType: run.ErrorType(s), ErrorClass: run.Class(s),
			Walls: map[policy.Wall]policy.WallStatus{}, Usage: &run.Usage{WallTime: -1, Memory: -1}, Queued: -1,
		}
		for i := range 100 {
			r.Violations = append(r.Violations, Violation{Wall: policy.Wall(s), Op: s, Detail: s, Module: s, Line: i, Count: 1 << 60})
			r.Walls[policy.Wall(fmt.Sprint(i, s))] = policy.WallStatus{State: policy.WallState(s), Detail: s}
		}
		if err := l.Record(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(l.opts.Path)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(string(text), "\n"); got != len(hostile)+2 {
		t.Errorf("%d lines", got)
	}
	for line := range strings.Lines(string(text)) {
		if len(line) > maxLine {
			t.Errorf("a line of %d bytes", len(line))
		}
		if i := strings.IndexFunc(strings.TrimSuffix(line, "\n"), func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 {
			t.Errorf("%q", line[i:min(len(line), i+20)])
		}
	}
	intact(t, l.opts.Path, Check{})
	n := 0
	for e, err := range Read(l.opts.Path, Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		if len(e.Violations) != maxViolations || e.Omitted != 100-maxViolations || len(e.ID) > maxName || len(e.Violations[0].Detail) > maxDetail || len(e.Violations[0].Module) > maxName {
			t.Errorf("%d violations and %d more, id %q", len(e.Violations), e.Omitted, e.ID)
		}
		n++
	}
	if n != len(hostile) {
		t.Errorf("%d records", n)
	}
}

func TestRecordOf(t *testing.T) {
	for name, tt := range map[string]struct {
		run  observe.Run
		want func(Record) bool
	}{
		"a script": {observe.Run{ID: "x", Kind: observe.Script, Code: "pass"}, func(r Record) bool {
			return r.ID == "x" && r.Kind == observe.Script && r.CodeHash == "d74ff0ee8da3b9806b18c877dbf29bbde50b5bd8e4dad7a3a725000feb82e8f1"
		}},
		"a command": {observe.Run{Kind: observe.Command, Code: "ls\x00-l"}, func(r Record) bool {
			return r.Kind == observe.Command && r.CodeHash == "03433e715c5320f3dce8509d5bb0cc85abedbdb6f7473b893581463d5f9b4d32"
		}},
		"nothing": {observe.Run{}, func(r Record) bool {
			return r.CodeHash == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
		}},
		"not run": {observe.Run{Err: run.Errorf(run.Busy, "full"), Arrived: day, Ended: day.Add(time.Second)}, func(r Record) bool {
			return r.ErrorClass == run.Busy && r.Outcome == "" && r.Usage == nil && time.Duration(r.Queued) == time.Second && r.Ran == 0
		}},
		"our own failure": {observe.Run{Err: errors.New("oh")}, func(r Record) bool { return r.ErrorClass == run.Internal }},
		"it failed": {observe.Run{Result: run.Result{Outcome: run.TimedOut, Enforcement: run.Enforcement{Tier: policy.TierWasm}}}, func(r Record) bool {
			return r.Outcome == run.TimedOut && r.ErrorType == "timeout" && r.Tier == policy.TierWasm
		}},
		"the clock went back": {observe.Run{Arrived: day, Started: day.Add(-time.Second), Ended: day}, func(r Record) bool { return r.Queued == 0 && time.Duration(r.Ran) == time.Second }},
		"many violations": {observe.Run{Result: run.Result{Violations: make([]run.Violation, 50)}}, func(r Record) bool {
			return len(r.Violations) == maxViolations && r.Omitted == 50-maxViolations
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if r := RecordOf(tt.run); !tt.want(r) {
				t.Errorf("%+v", r)
			}
		})
	}
}

func TestStats(t *testing.T) {
	var s Stats
	r := rand.New(rand.NewPCG(1, 2))
	var walls []time.Duration
	for i := range 10_000 {
		rec := sample(i)
		wall := time.Duration(r.ExpFloat64() * float64(20*time.Millisecond))
		walls = append(walls, wall)
		rec.Usage.WallTime = wall
		rec.Caller = fmt.Sprint("caller", i%3)
		s.Add(rec)
	}
	s.Add(Record{Time: day, Caller: "caller0", ErrorClass: run.Busy})
	s.Add(Record{Time: day, Note: &Note{Event: Closed}})
	slices.Sort(walls)
	groups := s.Groups()
	if g := groups[0]; g.By != "all" || g.Count != 10_001 || g.NotRun != 1 || g.Failed != 0 || !near(time.Duration(g.P50), walls[4999]) || !near(time.Duration(g.P99), walls[9899]) {
		t.Errorf("%+v; want %v and %v", g, walls[4999], walls[9899])
	}
	i := slices.IndexFunc(groups, func(g Group) bool { return g.By == "caller" })
	if g := groups[i]; g.Name != "caller0" || g.Count != 3335 || len(groups) != i+3 {
		t.Errorf("%+v", groups)
	}
	for i := range 2 * maxCallers {
		s.Add(Record{Time: day, Caller: fmt.Sprint("x", i), ErrorClass: run.Invalid})
	}
	if n := len(s.Groups()); n > maxCallers+20 {
		t.Errorf("%d groups", n)
	}
}

func near(got time.Duration, want time.Duration) bool {
	return (got - want).Abs() <= want/50+1
}

func BenchmarkRecord(b *testing.B) {
	dir := b.TempDir()
	l, err := Open(Options{Path: dir + "/audit.jsonl"})
	if err != nil {
		b.Fatal(err)
	}
	r := sample(1)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := l.Record(r); err != nil {
				b.Error(err)
			}
		}
	})
	if err := l.Close(); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkVerify(b *testing.B) {
	dir := b.TempDir()
	l, err := Open(Options{Path: dir + "/audit.jsonl"})
	if err != nil {
		b.Fatal(err)
	}
	for i := range 10_000 {
		if err := l.Record(sample(i)); err != nil {
			b.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if report, err := Verify(dir+"/audit.jsonl", Check{}); err != nil || !report.Intact() {
			b.Fatal(report, err)
		}
	}
}
