package backend

import (
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

func TestStrangersAreRefusedElsewhere(t *testing.T) {
	const theirs, ours = policy.TrustThirdParty, policy.TrustUser
	for _, tt := range []struct {
		system         string
		granted, trust policy.Trust
		refused        bool
	}{
		{"linux", "", theirs, false},
		{"linux", theirs, "", false},
		{"darwin", "", theirs, true},
		{"windows", "", theirs, true},
		{"darwin", theirs, "", true}, // who claims nothing is trusted no further than the policy says
		{"windows", theirs, theirs, true},
		{"darwin", "", "", false},
		{"windows", "", ours, false},
		{"darwin", policy.TrustPlatform, ours, false},
	} {
		err := RefuseStrangers(tt.system, policy.Policy{Trust: tt.granted}, tt.trust)
		if (err != nil) != tt.refused {
			t.Errorf("%s, policy %q, request %q: %v", tt.system, tt.granted, tt.trust, err)
		}
		if err == nil {
			continue
		}
		for _, word := range []string{"Linux virtual machine", "deploy/lima.yaml", "tier wasm"} {
			if run.ClassOf(err) != run.Unsupported || !strings.Contains(err.Error(), word) {
				t.Errorf("%v does not tell of %s", err, word)
			}
		}
	}
}
