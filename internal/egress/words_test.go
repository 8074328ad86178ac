package egress

import (
	"testing"

	"github.com/cordon-sandbox/cordon/policy"
)

func TestWords(t *testing.T) {
	for _, tt := range []struct {
		mode    policy.Egress
		allowed []string
		want    string
	}{
		{"", nil, "enforced (nothing can be reached)"},
		{policy.EgressStrict, []string{"a.example", "b.example:22"}, "enforced (by a proxy to a.example, b.example:22)"},
		{policy.EgressPreflight, []string{"a.example"}, "enforced (hosts in the arguments alone, before the start)"},
		{policy.EgressNone, []string{"a.example"}, "missing: the policy asks for none"},
	} {
		if got := Words(tt.mode, tt.allowed).String(); got != tt.want {
			t.Errorf("%q %v: %q; want %q", tt.mode, tt.allowed, got, tt.want)
		}
	}
}
