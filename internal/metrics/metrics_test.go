package metrics_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/cordon-sandbox/cordon/internal/metrics"
	"github.com/cordon-sandbox/cordon/internal/observe"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// stats is a Runner of which the process tier was started.
type stats struct{}

func (stats) Stats() observe.Stats {
	var m observe.Meter
	m.Forks.Add(2 * time.Millisecond)
	m.Forks.Add(3 * time.Millisecond)
	m.Setups.Add(40 * time.Millisecond)
	return observe.Stats{
		policy.TierProcess: {Idle: 8, Busy: 3, Forks: m.Forks.Durations(), Setups: m.Setups.Durations()},
		"made up":          {Idle: 1},
	}
}

func full() *metrics.Metrics {
	return metrics.New(metrics.Options{
		Version: "1.2.3", Runner: stats{},
		Line:        func() (int, int) { return 5, 2 },
		Hooks:       func() int { return 4 },
		Sessions:    func() int { return 6 },
		AuditErrors: func() uint64 { return 7 },
	})
}

func scrape(t *testing.T, m *metrics.Metrics, accept string) *httptest.ResponseRecorder {
	t.Helper()
	req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil)
	req.Header.Set("Accept", accept)
	rec := httptest.NewRecorder()
	m.Handler().ServeHTTP(rec, req)
	if rec.Code != http.StatusOK {
		t.Fatalf("%d: %s", rec.Code, rec.Body)
	}
	return rec
}

// expect looks for whole lines.
func expect(t *testing.T, m *metrics.Metrics, lines ...string) {
	t.Helper()
	text := "\n" + scrape(t, m, "text/plain").Body.String()
	for _, line := range lines {
		if !strings.Contains(text, "\n"+line+"\n") {
			name, _, _ := strings.Cut(line, " ")
			t.Errorf("no line %q; there is %q", line, grep(text, name))
		}
	}
}

func grep(text, what string) (found []string) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, what) {
			found = append(found, strings.TrimSpace(line))
		}
	}
	return found
}

var zero = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// endedRun returns a run that waited 2 ms and took 7 ms.
func endedRun(tier policy.Tier, o run.Outcome) observe.Run {
	return observe.Run{
		Frontend: observe.HTTP, Arrived: zero, Started: zero.Add(2 * time.Millisecond), Ended: zero.Add(9 * time.Millisecond),
		Result: run.Result{
			Outcome: o, Status: o.Status(), ErrorType: o.ErrorType(),
			Usage: run.Usage{Memory: 20 * policy.MiB}, Enforcement: run.Enforcement{Tier: tier},
		},
	}
}

func TestEverySeriesBeginsAtZero(t *testing.T) {
	m := metrics.New(metrics.Options{})
	expect(t, m, "sandbox_seccomp_violations_total 0", "cordon_queue_wait_seconds_count 0")
	for _, tier := range policy.Tiers() {
		expect(t, m,
			fmt.Sprintf(`sandbox_timeout_total{tier=%q} 0`, tier),
			fmt.Sprintf(`sandbox_run_duration_seconds_count{status="ok",tier=%q} 0`, tier),
			fmt.Sprintf(`sandbox_run_duration_seconds_count{status="error",tier=%q} 0`, tier))
		for _, o := range run.Outcomes() {
			if o != run.Succeeded {
				expect(t, m, fmt.Sprintf(`sandbox_error_total{error_type=%q,tier=%q} 0`, o.ErrorType(), tier))
			}
		}
	}
	for _, class := range run.Classes() {
		expect(t, m, fmt.Sprintf(`cordon_requests_refused_total{class=%q,frontend="mcp"} 0`, class))
	}
}

func TestRunsAreCounted(t *testing.T) {
	m := metrics.New(metrics.Options{})
	good := endedRun(policy.TierProcess, run.Succeeded)
	good.Result.Violations = []run.Violation{
		{Wall: policy.WallSeccomp, Count: 3}, {Wall: policy.WallSeccomp, Count: 2}, {Wall: policy.WallLandlock, Count: 50},
	}
	m.Ended(t.Context(), good)
	m.Ended(t.Context(), endedRun(policy.TierProcess, run.TimedOut))
	m.Ended(t.Context(), endedRun(policy.TierJail, run.OutOfMemory))
	m.Ended(t.Context(), endedRun(policy.TierHook, run.OutOfCPU))
	expect(t, m,
		`sandbox_run_duration_seconds_count{status="ok",tier="process"} 1`,
		`sandbox_run_duration_seconds_bucket{status="ok",tier="process",le="0.005"} 0`,
		`sandbox_run_duration_seconds_bucket{status="ok",tier="process",le="0.01"} 1`,
		`sandbox_run_duration_seconds_count{status="error",tier="process"} 1`,
		`sandbox_timeout_total{tier="process"} 1`,
		`sandbox_timeout_total{tier="hook"} 0`,
		`sandbox_error_total{error_type="timeout",tier="process"} 1`,
		`sandbox_error_total{error_type="memory_limit",tier="jail"} 1`,
		`sandbox_error_total{error_type="cpu_limit",tier="hook"} 1`,
		`sandbox_seccomp_violations_total 5`,
		`cordon_queue_wait_seconds_count 4`,
		`cordon_queue_wait_seconds_bucket{le="0.001"} 0`,
		`cordon_queue_wait_seconds_bucket{le="0.0025"} 4`,
		`cordon_guest_memory_bytes_bucket{tier="jail",le="1.6777216e+07"} 0`,
		`cordon_guest_memory_bytes_bucket{tier="jail",le="3.3554432e+07"} 1`)
}

func TestRefusalsAreCountedByClassAndFrontend(t *testing.T) {
	m := metrics.New(metrics.Options{})
	for _, err := range []error{
		run.Errorf(run.Busy, "full"), fmt.Errorf("the queue: %w", context.Canceled), context.DeadlineExceeded,
		errors.New("of no class"), run.Wrap(run.Internal, errors.New("broken")),
	} {
		m.Ended(t.Context(), observe.Run{Frontend: observe.MCP, Arrived: zero, Ended: zero, Err: err})
	}
	m.Refused(observe.HTTP, run.Invalid)
	expect(t, m,
		`cordon_requests_refused_total{class="busy",frontend="mcp"} 1`,
		`cordon_requests_refused_total{class="gone",frontend="mcp"} 2`,
		`cordon_requests_refused_total{class="internal",frontend="mcp"} 2`,
		`cordon_requests_refused_total{class="invalid",frontend="http"} 1`,
		`sandbox_run_duration_seconds_count{status="error",tier="process"} 0`,
		`cordon_queue_wait_seconds_count 0`)
}

func TestServiceGaugesAreRead(t *testing.T) {
	expect(t, full(),
		"cordon_queue_waiting 5", "cordon_queue_running 2", "cordon_hooks_open 4", "cordon_sessions_open 6", "cordon_audit_write_errors_total 7",
		`cordon_pool_workers{state="idle",tier="process"} 8`,
		`cordon_pool_workers{state="busy",tier="process"} 3`,
		`cordon_pool_workers{state="busy",tier="jail"} 0`,
		`cordon_forks_total{tier="process"} 2`,
		`cordon_fork_duration_seconds_bucket{tier="process",le="0.0025"} 1`,
		`cordon_fork_duration_seconds_count{tier="process"} 2`,
		`cordon_fork_duration_seconds_bucket{tier="wasm",le="0.0025"} 0`,
		`cordon_wall_setup_duration_seconds_sum{tier="process"} 0.04`)
	text := scrape(t, full(), "text/plain").Body.String()
	for _, name := range []string{`cordon_build_info{go_version="go`, "go_goroutines ", "process_start_time_seconds "} {
		if len(grep(text, name)) != 1 {
			t.Errorf("no %s", name)
		}
	}
}

func TestTheFormatIsWhatTheScraperAsksFor(t *testing.T) {
	m := full()
	m.Ended(t.Context(), endedRun(policy.TierProcess, run.Succeeded))
	for accept, want := range map[string]string{
		"text/plain;version=0.0.4":                   "text/plain",
		"application/openmetrics-text;version=1.0.0": "application/openmetrics-text",
		"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited": "application/vnd.google.protobuf",
	} {
		rec := scrape(t, m, accept)
		if got := rec.Header().Get("Content-Type"); !strings.HasPrefix(got, want) {
			t.Errorf("who asks for %s gets %s", accept, got)
		}
		if strings.HasPrefix(accept, "application/openmetrics") && !strings.HasSuffix(rec.Body.String(), "# EOF\n") {
			t.Error("OpenMetrics without its end")
		}
	}
}

// slowStats are not ready until the test says so.
type slowStats struct{ asked, ready chan struct{} }

func (f slowStats) Stats() observe.Stats {
	f.asked <- struct{}{}
	<-f.ready
	return nil
}

// Scraping cannot stop the service.
func TestScrapesAreBounded(t *testing.T) {
	const most = 8
	stats := slowStats{asked: make(chan struct{}), ready: make(chan struct{})}
	m := metrics.New(metrics.Options{Runner: stats})
	var group sync.WaitGroup
	for range most {
		group.Go(func() {
			if rec := scrape(t, m, "text/plain"); rec.Code != http.StatusOK {
				t.Errorf("%d", rec.Code)
			}
		})
		<-stats.asked
	}
	answered := make(chan int, 1)
	group.Go(func() {
		rec := httptest.NewRecorder()
		m.Handler().ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
		answered <- rec.Code
	})
	select {
	case code := <-answered:
		if code != http.StatusServiceUnavailable {
			t.Errorf("one more: %d", code)
		}
	case <-stats.asked:
		t.Error("one more is served")
	}
	close(stats.ready)
	group.Wait()
}

func BenchmarkEnded(b *testing.B) {
	m := metrics.New(metrics.Options{})
	r := endedRun(policy.TierProcess, run.Succeeded)
	b.ReportAllocs()
	for b.Loop() {
		m.Ended(b.Context(), r)
	}
}
