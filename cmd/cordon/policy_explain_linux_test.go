package main

import (
	"reflect"
	"testing"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/policy"
)

// What is explained of a kind of guest is what later Results report, or the reason why there
// are none.
func TestExplainedWallsAreThoseOfARun(t *testing.T) {
	for name, p := range map[string]policy.Policy{
		"as it comes":    {Trust: policy.TrustPlatform},
		"exception":      {Trust: policy.TrustPlatform, ThirdParty: policy.TierProcess},
		"network":        {Trust: policy.TrustPlatform, AllowNet: []string{"example.com:443"}},
		"language rules": {Trust: policy.TrustPlatform, Require: []policy.Wall{policy.WallLanguage}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runner, err := cordon.NewRunner(cordon.Options{Policy: p})
			if err != nil {
				t.Fatal(err)
			}
			defer runner.Close()
			for _, trust := range policy.Trusts() {
				for _, guest := range idleGuests {
					explained := explain(t.Context(), p, guest, trust)
					result, err := guest.run(t.Context(), runner, trust)
					switch {
					case err != nil:
						if explained.Enforcement != nil || explained.Why != err.Error() {
							t.Errorf("%s of %s\nexplained %+v\nrefused   %v", guest.kind, trust, explained, err)
						}
					case explained.Enforcement == nil || !reflect.DeepEqual(*explained.Enforcement, result.Enforcement):
						t.Errorf("%s of %s\nexplained %+v\nreported  %+v", guest.kind, trust, explained, result.Enforcement)
					}
				}
			}
		})
	}
}
