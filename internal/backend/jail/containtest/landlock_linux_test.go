package containtest

import (
	"slices"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/policy"
)

// Landlock holds without the walls before it: a command with all capabilities in its
// namespace still cannot change a mount.
func TestContainmentByLandlockAlone(t *testing.T) {
	if hosttest.UnderRace {
		t.Skip("walls are tried without the race detector")
	}
	others := slices.DeleteFunc(slices.Clone(setupWalls), func(w policy.Wall) bool { return w == policy.WallLandlock })
	suite := newSuite(t, policy.JailNative)
	suite.backend = suite.open(t, suite.policy, others)
	tried := 0
	for _, a := range procFileAttempts() {
		if !slices.Equal(a.proof.without, setupWalls) || a.name == "another root" { // Landlock does not cover chroot
			continue
		}
		tried++
		t.Run(a.wall+"/"+a.name, func(t *testing.T) {
			a.mask = others
			a.try(t, suite)
		})
	}
	if tried < 4 {
		t.Errorf("only %d attempts", tried)
	}
}
