package deploy_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/internal/metrics"
	"github.com/cordon-sandbox/cordon/internal/observe"
)

type noStats struct{}

func (noStats) Stats() observe.Stats { return nil }

// exported are the names of the metrics in a scrape of the service.
func exported(t *testing.T) map[string]bool {
	t.Helper()
	m := metrics.New(metrics.Options{
		Runner: noStats{}, Line: func() (int, int) { return 0, 0 }, Hooks: func() int { return 0 }, Sessions: func() int { return 0 }, AuditErrors: func() uint64 { return 0 },
	})
	rec := httptest.NewRecorder()
	m.Handler().ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	names := map[string]bool{}
	for line := range strings.Lines(rec.Body.String()) {
		if line[0] != '#' {
			names[line[:strings.IndexAny(line, "{ ")]] = true
		}
	}
	return names
}

var metricName = regexp.MustCompile(`\b(?:sandbox|cordon|process)_[a-z_]+`)

// dashboard is the part of the dashboard that these tests read.
type dashboard struct {
	Title         string
	UID           string
	SchemaVersion int
	Panels        []panel
}

type panel struct {
	ID      int
	Type    string
	Title   string
	GridPos struct{ H, W, X, Y int }
	Targets []struct{ RefID, Expr string }
}

func readDashboard(t *testing.T) dashboard {
	t.Helper()
	var d dashboard
	if err := json.Unmarshal(read(t, "grafana/cordon.json"), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestQueriedMetricsExist(t *testing.T) {
	exists := exported(t)
	for _, file := range []string{"grafana/cordon.json", "prometheus/rules.yaml", "prometheus/rules_test.yaml", "../docs/operators.md"} {
		names := metricName.FindAllString(string(read(t, file)), -1)
		if len(names) == 0 {
			t.Errorf("%s has no queries", file)
		}
		for _, name := range names {
			if !exists[name] && !exists[name+"_count"] {
				t.Errorf("%s queries %s, which is not a metric of the service", file, name)
			}
		}
	}
}

func TestDashboardShowsEveryMetric(t *testing.T) {
	text := string(read(t, "grafana/cordon.json"))
	for name := range exported(t) {
		if strings.HasPrefix(name, "sandbox_") || strings.HasPrefix(name, "cordon_") {
			base := name
			for _, end := range []string{"_bucket", "_count", "_sum"} {
				base = strings.TrimSuffix(base, end)
			}
			if !strings.Contains(text, base) {
				t.Errorf("no alert and no panel uses %s", name)
			}
		}
	}
}

func TestDashboardIsValid(t *testing.T) {
	d := readDashboard(t)
	if d.Title == "" || d.UID == "" || d.SchemaVersion < 38 {
		t.Errorf("title %q, uid %q, schema %d", d.Title, d.UID, d.SchemaVersion)
	}
	seen := map[int]bool{}
	var taken [][]int // x, y, right, bottom
	for _, p := range d.Panels {
		if seen[p.ID] || p.Title == "" {
			t.Errorf("panel %d %q needs a unique id and a title", p.ID, p.Title)
		}
		seen[p.ID] = true
		place := []int{p.GridPos.X, p.GridPos.Y, p.GridPos.X + p.GridPos.W, p.GridPos.Y + p.GridPos.H}
		if place[2] > 24 || p.GridPos.W <= 0 || p.GridPos.H <= 0 {
			t.Errorf("%s is outside the grid: %+v", p.Title, p.GridPos)
		}
		if slices.ContainsFunc(taken, func(o []int) bool {
			return place[0] < o[2] && o[0] < place[2] && place[1] < o[3] && o[1] < place[3]
		}) {
			t.Errorf("%s overlaps another panel", p.Title)
		}
		taken = append(taken, place)
		if (p.Type == "row") != (len(p.Targets) == 0) {
			t.Errorf("%s shows nothing", p.Title)
		}
		if p.Type == "row" && !strings.HasSuffix(p.Title, "?") {
			t.Errorf("the title of the row %q is not a question", p.Title)
		}
	}
}

func TestDashboardExpressionsAreValid(t *testing.T) {
	type rule struct {
		Record string `yaml:"record"`
		Expr   string `yaml:"expr"`
	}
	var rules []rule
	variables := strings.NewReplacer("$__rate_interval", "5m", "$instance", ".*")
	for _, p := range readDashboard(t).Panels {
		for _, target := range p.Targets {
			rules = append(rules, rule{fmt.Sprintf("panel:%d:%s", p.ID, target.RefID), variables.Replace(target.Expr)})
		}
	}
	text, err := yaml.Marshal(map[string]any{"groups": []any{map[string]any{"name": "dashboard", "rules": rules}}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	promtool(t, "check", "rules", file)
}

func TestAlertsFireForTheirCause(t *testing.T) {
	promtool(t, "check", "rules", "prometheus/rules.yaml")
	promtool(t, "test", "rules", "prometheus/rules_test.yaml")
}

func TestEveryAlertIsTestedAndExplained(t *testing.T) {
	tests, page := string(read(t, "prometheus/rules_test.yaml")), string(read(t, "../docs/operators.md"))
	names := regexp.MustCompile(`alert: (\w+)`).FindAllStringSubmatch(string(read(t, "prometheus/rules.yaml")), -1)
	if len(names) == 0 {
		t.Error("the rules have no alerts")
	}
	for _, name := range names {
		if !strings.Contains(tests, "alertname: "+name[1]+"\n        exp_alerts:") {
			t.Errorf("no test makes %s fire", name[1])
		}
		if !strings.Contains(page, "`"+name[1]+"`") {
			t.Errorf("docs/operators.md does not say what %s means", name[1])
		}
	}
}

func promtool(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), tool(t, "promtool"), args...).CombinedOutput(); err != nil {
		t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// tool finds a program in the directory of scripts/setup, or on the system.
func tool(t *testing.T, name string) string {
	t.Helper()
	ours, err := filepath.Abs(filepath.Join("../.cache/bin", name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(ours); err == nil {
		return ours
	}
	hosttest.Needs(t, name)
	return hosttest.FindProgram(name)
}
