package containtest

import (
	"slices"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/policy"
)

// Landlock holds where the walls before it are gone: a command that had got all
// capabilities in its namespace still could not change a mount.
func TestContainmentByLandlockAlone(t *testing.T) {
	if hosttest.UnderRace {
		t.Skip("walls are tried without the race detector")
	}
	others := slices.DeleteFunc(slices.Clone(setupWalls), func(w policy.Wall) bool { return w == policy.WallLandlock })
	suite := newSuite(t, policy.JailNative)
	suite.backend = suite.open(t, suite.policy, others)
	tried := 0
	for _, a := range procFileAttempts() {
		if !slices.Equal(a.proof.without, setupWalls) || a.name == "another root" { // chroot is not Landlock's
			continue
		}
		tried++
		t.Run(a.wall+"/"+a.name, func(t *testing.T) {
			a.mask = others
			a.try(t, suite)
		})
	}
	if tried < 4 {
		t.Errorf("%d attempts only", tried)
	}
}
