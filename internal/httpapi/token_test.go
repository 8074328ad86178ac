package httpapi

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/service"
	"github.com/cordon-sandbox/cordon/internal/token"
)

// The ceilings and quotas of a token file apply to HTTP requests. A new file applies after
// Reload.
func TestTokenFile(t *testing.T) {
	secret, hash := token.New()
	other, otherHash := token.New()
	path := filepath.Join(t.TempDir(), "tokens.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("tokens:\n  - {name: slow, sha256: " + hash + ", rate: 1/h, burst: 1, maxima: {wall_time: 1s}, tiers: [process]}\n")
	store, err := token.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	d := open(t, &fake{run: echo}, func(_ *service.Options, o *Options) { o.Tokens = store })
	ask := func(secret, body string) answer {
		t.Helper()
		return d.ask(http.MethodPost, "/v1/runs", body, "Authorization: Bearer "+secret)
	}
	if a := ask(secret, `{"script": "x", "limits": {"wall_time": "2s"}}`); a.status != http.StatusBadRequest || !strings.Contains(d.problem(a).Detail, "above the maximum of 1s for slow") {
		t.Errorf("above the ceiling: %d %s", a.status, a.body)
	}
	if a := ask(secret, `{"script": "x", "tier": "wasm"}`); a.status != http.StatusForbidden {
		t.Errorf("another tier: %d %s", a.status, a.body)
	}
	if a := ask(secret, `{"script": "x"}`); a.status != http.StatusOK {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := ask(secret, `{"script": "x"}`); a.status != http.StatusTooManyRequests || a.header.Get("Retry-After") != "60" {
		t.Errorf("above the rate: %d, Retry-After %q, %s", a.status, a.header.Get("Retry-After"), a.body)
	}
	if a := ask(other, `{"script": "x"}`); a.status != http.StatusUnauthorized {
		t.Errorf("too early: %d %s", a.status, a.body)
	}
	write("tokens:\n  - {name: new, sha256: " + otherHash + "}\n")
	if err := store.Reload(); err != nil {
		t.Fatal(err)
	}
	if a := ask(other, `{"script": "x"}`); a.status != http.StatusOK {
		t.Errorf("the new one: %d %s", a.status, a.body)
	}
	if a := ask(secret, `{"script": "x"}`); a.status != http.StatusUnauthorized {
		t.Errorf("the old one: %d %s", a.status, a.body)
	}
}
