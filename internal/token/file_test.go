package token

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cordon-sandbox/cordon/internal/admission"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// hashOf is a hash for tests, of the secret with that number.
func hashOf(n int) string { return Hash(secretOf(n)) }

func secretOf(n int) string { return fmt.Sprintf("cordon_%064x", n) }

func TestParse(t *testing.T) {
	got, err := parse("t.yaml", []byte(`
tokens:
  - name: ci
    sha256: `+hashOf(1)+`
    maxima: {wall_time: 10s, memory: 128MiB}
    tiers: [process, wasm]
    restricted: true
    scripts_only: true
    rate: 20/s
    burst: 40
    concurrent: 4
    expires: 2027-01-01T00:00:00Z
  - name: Jürgen's laptop
    sha256:
      - `+hashOf(2)+`
      - `+strings.ToUpper(hashOf(3))+`
    rate: 90/min
`))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	ci := Caller{Name: "ci", Quota: admission.Quota{Concurrent: 4, Rate: 20, Burst: 40}, Ceiling: Ceiling{
		Maxima: policy.Limits{WallTime: 10 * time.Second, Memory: 128 * policy.MiB},
		Tiers:  []policy.Tier{policy.TierProcess, policy.TierWasm}, Restricted: true, ScriptsOnly: true,
	}}
	laptop := Caller{Name: "Jürgen's laptop", Quota: admission.Quota{Rate: 1.5}}
	for n, want := range map[int]Caller{1: ci, 2: laptop, 3: laptop} {
		found, ok := got.find(secretOf(n), now)
		if diff := cmp.Diff(want, found); !ok || diff != "" {
			t.Errorf("secret %d: %v %s", n, ok, diff)
		}
	}
	for _, secret := range []string{"", " ", secretOf(4), hashOf(1), secretOf(1) + "\n", secretOf(1)[1:], strings.Repeat("x", 1<<20)} {
		if found, ok := got.find(secret, now); ok || found.Name != "" {
			t.Errorf("%.80q is accepted as %s", secret, found.Name)
		}
	}
	end := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	if _, ok := got.find(secretOf(1), end.Add(-1)); !ok {
		t.Error("expired too early")
	}
	if found, ok := got.find(secretOf(1), end); ok || found.Name != "" {
		t.Error("did not expire")
	}
	if _, ok := got.find(secretOf(2), end.AddDate(100, 0, 0)); !ok {
		t.Error("expired without an expiry")
	}
}

func TestParseErrors(t *testing.T) {
	one, two := hashOf(1), hashOf(2)
	token := func(lines ...string) string {
		return "tokens:\n  - name: a\n    sha256: " + one + "\n    " + strings.Join(lines, "\n    ") + "\n"
	}
	for _, tt := range []struct {
		name, in string
		want     []string
	}{
		{"empty file", "", []string{`t.yaml:1: says nothing: write "tokens: []" to refuse all callers`}},
		{"no tokens", "{}", []string{`t.yaml:1: tokens: is missing: write "tokens: []"`}},
		{"no list", "tokens: {name: a}", []string{"t.yaml:1: tokens: expected a list, got keys and values: write "}},
		{"unknown key", "token: []\ntokens: []", []string{"t.yaml:1: token: unknown key: the keys here are tokens"}},
		{"unknown key of a token", token("scope: all"), []string{"t.yaml:4: tokens[0].scope: unknown key: the keys here are name, sha256, "}},
		{"key twice", token("rate: 1/s", "rate: 2/s"), []string{"t.yaml:5: tokens[0].rate: duplicate key: it is already in line 4"}},
		{"a secret instead of its hash", "tokens:\n- {name: a, sha256: " + secretOf(1) + "}", []string{"t.yaml:2: tokens[0].sha256: is a secret, not its hash"}},
		{"short hash", "tokens:\n- {name: a, sha256: 9f86d0}", []string{`t.yaml:2: tokens[0].sha256: "9f86d0" is not a SHA-256 hash: write 64 digits`}},
		{"hash of nothing", "tokens:\n- name: a\n  sha256: [" + one + ",\n    " + Hash("") + "]", []string{"t.yaml:4: tokens[0].sha256: is the hash of empty text"}},
		{"no hash", "tokens:\n- name: a\n- name: b\n  sha256: []\n", []string{"t.yaml:2: tokens[0].sha256: is missing", "t.yaml:4: tokens[1].sha256: is missing"}},
		{"no name", "tokens:\n- sha256: " + one, []string{"t.yaml:2: tokens[0].name: is missing"}},
		{"name without a value", "tokens:\n- sha256: " + one + "\n  name:\n", []string{`t.yaml:3: tokens[0].name: has no value: write "name: ci"`}},
		{"the name for callers without a token", "tokens:\n- {name: local, sha256: " + one + "}", []string{`t.yaml:2: tokens[0].name: "local" is reserved for callers without a token`}},
		{"name twice", "tokens:\n- {name: a, sha256: " + one + "}\n- {name: a, sha256: " + two + "}", []string{`t.yaml:3: tokens[1].name: "a" is already the name of token 1`}},
		{"hash twice", "tokens:\n- {name: a, sha256: " + one + "}\n- {name: b, sha256: " + one + "}", []string{`t.yaml:3: tokens[1].sha256: is already a hash of "a"`}},
		{"name with a line break", "tokens:\n- {name: \"a\\nb\", sha256: " + one + "}", []string{`t.yaml:2: tokens[0].name: "a\nb" has invisible characters`}},
		{"name with a blank at its end", "tokens:\n- {name: 'a ', sha256: " + one + "}", []string{`t.yaml:2: tokens[0].name: "a " has invisible characters`}},
		{"long name", "tokens:\n- {name: " + strings.Repeat("a", 65) + ", sha256: " + one + "}", []string{"t.yaml:2: tokens[0].name: "}},
		{"rate without a unit", token("rate: 20"), []string{`t.yaml:4: tokens[0].rate: "20" has no unit: write 20/s, 20/min or 20/h`}},
		{"rate of what", token("rate: 20/day"), []string{`t.yaml:4: tokens[0].rate: "20/day" is not a rate`}},
		{"no rate", token("rate: NaN/s"), []string{`t.yaml:4: tokens[0].rate: "NaN/s" is not a rate`}},
		{"rate of zero", token("rate: 0/s"), []string{`t.yaml:4: tokens[0].rate: "0/s" is out of range`}},
		{"infinite rate", token("rate: Inf/s"), []string{`t.yaml:4: tokens[0].rate: "Inf/s" is out of range`}},
		{"burst alone", token("burst: 4"), []string{"t.yaml:4: tokens[0].burst: needs a rate"}},
		{"burst of zero", token("rate: 1/s", "burst: 0"), []string{"t.yaml:5: tokens[0].burst: 0 is out of range"}},
		{"negative concurrency", token("concurrent: -1"), []string{"t.yaml:4: tokens[0].concurrent: -1 is out of range"}},
		{"no number", token("concurrent: four"), []string{`t.yaml:4: tokens[0].concurrent: expected a whole number, got the text "four": write "concurrent: 4"`}},
		{"no truth", token("restricted: yes"), []string{"t.yaml:4: tokens[0].restricted: expected true or false"}},
		{"no tiers", token("tiers: []"), []string{"t.yaml:4: tokens[0].tiers: is empty"}},
		{"unknown tier", token("tiers:", "- process", "- moon"), []string{`t.yaml:6: tokens[0].tiers: tier "moon" does not exist`}},
		{"tier twice", token("tiers: [wasm, wasm]"), []string{`t.yaml:4: tokens[0].tiers: duplicate tier "wasm"`}},
		{"maximum without a unit", token("maxima:", "  memory: 128"), []string{`t.yaml:5: tokens[0].maxima.memory: "128" has no unit`}},
		{"maximum of zero", token("maxima:", "  wall_time: 0s"), []string{`t.yaml:5: tokens[0].maxima.wall_time: is zero`}},
		{"maximum below what works", token("maxima:", "  open_files: 2"), []string{"t.yaml:5: tokens[0].maxima.open_files: 2 is too few"}},
		{"unknown maximum", token("maxima:", "  ram: 1GiB"), []string{"t.yaml:5: tokens[0].maxima.ram: unknown key"}},
		{"a day is no time", token("expires: 2027-01-01"), []string{`t.yaml:4: tokens[0].expires: "2027-01-01" is not a time: write it like 2027-01-01T00:00:00Z`}},
		{"a token that is none", "tokens:\n- ci\n- {name: b, sha256: x}", []string{"t.yaml:2: tokens[0]: expected keys and values", `t.yaml:3: tokens[1].sha256: "x" is not`}},
		{"broken YAML", "tokens: [", []string{"t.yaml:1: is not valid YAML"}},
		{"binary", "tokens:\n\x00", []string{"t.yaml:2: has the control character 0x00: a token file is plain text"}},
		{"all at once", "tokens:\n- name: local\n  sha256: x\n  rate: 1\n- expires: soon\n  tiers: [moon]\n", []string{
			"t.yaml:2: tokens[0].name", "t.yaml:3: tokens[0].sha256", "t.yaml:4: tokens[0].rate",
			"t.yaml:5: tokens[1].", "t.yaml:5: tokens[1].", "t.yaml:5: tokens[1].", "t.yaml:6: tokens[1].tiers"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := parse("t.yaml", []byte(tt.in))
			if !errors.Is(err, run.ErrInvalid) {
				t.Fatalf("error %v", err)
			}
			lines := strings.Split(err.Error(), "\n")
			if len(lines) != len(tt.want) {
				t.Fatalf("%d problems instead of %d:\n%v", len(lines), len(tt.want), err)
			}
			for i, want := range tt.want {
				if !strings.HasPrefix(lines[i], want) {
					t.Errorf("got  %s\nwant %s", lines[i], want)
				}
			}
		})
	}
}

// A small file that would expand to a large one.
func TestParseBombs(t *testing.T) {
	bomb := "tokens:\n- name: a\n  tiers: &t [" + strings.Repeat("x,", 100_000) + "x]\n" + strings.Repeat("- {tiers: *t}\n", 3_000)
	_, err := parse("t.yaml", []byte(bomb))
	if err == nil || len(err.Error()) > 20_000 {
		t.Errorf("%.200v", err)
	}
}

func TestNew(t *testing.T) {
	seen := map[string]bool{}
	for range 100 {
		secret, hash := New()
		if !strings.HasPrefix(secret, "cordon_") || len(secret) != len("cordon_")+64 || seen[secret] || Hash(secret) != hash {
			t.Fatalf("%q, %q", secret, hash)
		}
		seen[secret] = true
		tokens, err := parse("t.yaml", []byte("tokens: [{name: a, sha256: "+hash+"}]"))
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := tokens.find(secret, time.Now()); !ok {
			t.Fatalf("secret %q does not match hash %q", secret, hash)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("tokens:\n- {name: a, sha256: [" + hashOf(1) + "], rate: 1/s, expires: 2027-01-01T00:00:00Z}"))
	f.Add([]byte("tokens: &t [*t]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		tokens, err := parse("t.yaml", data)
		if err != nil {
			if !errors.Is(err, run.ErrInvalid) || !strings.HasPrefix(err.Error(), "t.yaml:") {
				t.Errorf("class %s: %v", run.ClassOf(err), err)
			}
			return
		}
		if _, ok := tokens.find("", time.Time{}); ok {
			t.Error("an empty secret is accepted")
		}
	})
}

// The token file in the documentation is valid.
func TestDocumentedFile(t *testing.T) {
	text, err := os.ReadFile("../../docs/tokens.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "```yaml\n")
	file, _, _ := strings.Cut(rest, "```")
	tokens, err := parse("tokens.md", []byte(file))
	if err != nil || len(tokens.callers) != 2 || len(tokens.digests) != 3 {
		t.Errorf("%+v, %v", tokens, err)
	}
	for i := range reflect.TypeFor[entry]().NumField() {
		if key := reflect.TypeFor[entry]().Field(i).Tag.Get("yaml"); !strings.Contains(string(text), "| `"+key+"` |") {
			t.Errorf("docs/tokens.md does not explain %s", key)
		}
	}
}

func TestTokensBoundEveryLimit(t *testing.T) {
	for _, limit := range policy.LimitTable() {
		text := limit.Text(limit.Default)
		got, err := parse("t.yaml", []byte("tokens: [{name: ci, sha256: "+hashOf(1)+", maxima: {"+limit.Key+": "+text+"}}]"))
		if err != nil {
			t.Errorf("%s: %v", limit.Key, err)
			continue
		}
		if found, _ := got.find(secretOf(1), time.Time{}); limit.Of(found.Ceiling.Maxima) != limit.Default {
			t.Errorf("%s: %+v", limit.Key, found.Ceiling.Maxima)
		}
	}
}
