//go:build unix

package portable

import (
	"testing"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/backend/backendtest"
	"github.com/cordon-sandbox/cordon/policy"
)

func openScripts(t *testing.T, l *naked, p policy.Policy) *Scripts {
	t.Helper()
	b, err := NewScripts(t.Context(), Options{Policy: p, Launcher: l, Concurrent: 4, Queue: 16})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func TestContract(t *testing.T) {
	// The suite resolves its policy, and what Linux has would be required by name.
	open := func(t *testing.T, _ policy.Policy) backend.Backend {
		return openScripts(t, newNaked(), policy.Policy{})
	}
	backendtest.Contract(t, open, policy.Policy{})
}
