package metrics_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/internal/metrics"
	"github.com/cordon-sandbox/cordon/internal/observe"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// hostile strings are put wherever a string goes.
var hostile = []string{
	"", "process\"} 1\nevil 2", "тест", "\xff\xfe", "a,b=c", strings.Repeat("x", 1<<16), "{}", "\x00", "le", "__name__",
	"process ", "PROCESS", "ok", "timeout", "http", "unknown", "+Inf",
}

// labels are what may stand in one, by its name.
func labels() map[string][]string {
	tiers, types, classes := []string{"unknown"}, []string{"unknown"}, []string{"gone"}
	for _, t := range policy.Tiers() {
		tiers = append(tiers, string(t))
	}
	for _, o := range run.Outcomes() {
		types = append(types, string(o.ErrorType()))
	}
	for _, c := range run.Classes() {
		classes = append(classes, string(c))
	}
	return map[string][]string{
		"tier": tiers, "status": {"ok", "error"}, "error_type": types, "class": classes, "frontend": {"http", "mcp", "unknown"}, "state": {"idle", "busy"},
	}
}

// series gives those of ours, without buckets' bounds.
func series(t *testing.T, m *metrics.Metrics) (all []string) {
	t.Helper()
	for line := range strings.Lines(scrape(t, m, "text/plain").Body.String()) {
		if strings.HasPrefix(line, "sandbox_") || strings.HasPrefix(line, "cordon_") {
			all = append(all, line[:strings.LastIndexByte(strings.TrimSpace(line), ' ')])
		}
	}
	slices.Sort(all)
	return all
}

func TestNothingThatIsSaidBecomesALabel(t *testing.T) {
	m := full()
	before := series(t, m)
	for _, s := range hostile {
		recordString(t.Context(), m, s)
	}
	after := series(t, m)
	if !slices.Equal(before, after) {
		t.Errorf("there were %d series, and now there are %d", len(before), len(after))
	}
	if len(after) > 1000 {
		t.Errorf("%d series are too many", len(after))
	}
	allowed := labels()
	pair := regexp.MustCompile(`(\w+)="([^"]*)"`)
	for _, one := range after {
		if strings.HasPrefix(one, "cordon_build_info") {
			continue // our own version
		}
		for _, found := range pair.FindAllStringSubmatch(one, -1) {
			if found[1] != "le" && !slices.Contains(allowed[found[1]], found[2]) {
				t.Errorf("%s has a label that is in no enumeration: %s", one, found[0])
			}
		}
	}
}

// recordString records an event that has s in all its fields.
func recordString(ctx context.Context, m *metrics.Metrics, s string) {
	result := run.Result{
		ID: s, Status: run.Status(s), Outcome: run.Outcome(s), Value: json.RawMessage(s), Error: s, ErrorType: run.ErrorType(s),
		Exception: &run.Exception{Type: s, Message: s, Traceback: s}, Signal: s, Stdout: s, Stderr: s,
		Variables:   map[string]json.RawMessage{s: json.RawMessage(s)},
		Usage:       run.Usage{Memory: math.MaxInt64},
		Violations:  []run.Violation{{Wall: policy.Wall(s), Op: s, Detail: s, Hint: s, Count: 1}, {Wall: policy.WallSeccomp, Op: s, Count: math.MinInt}},
		Traffic:     []run.Traffic{{Host: s}},
		Enforcement: run.Enforcement{Tier: policy.Tier(s), Walls: map[policy.Wall]policy.WallStatus{policy.Wall(s): {State: policy.WallState(s), Detail: s}}},
	}
	told := observe.Run{ID: s, Caller: s, Frontend: observe.Frontend(s), Kind: observe.Kind(s), Code: s, Result: result}
	m.Ended(ctx, told)
	for _, o := range run.Outcomes() {
		told.Result.Outcome = o
		m.Ended(ctx, told)
	}
	// Clocks that go backwards.
	told.Arrived, told.Started = time.Now(), time.Unix(0, 0)
	m.Ended(ctx, told)
	for _, err := range []error{errors.New(s), run.Errorf(run.Class(s), "%s", s)} {
		told.Err = err
		m.Ended(ctx, told)
	}
	m.Refused(observe.Frontend(s), run.Class(s))
}
