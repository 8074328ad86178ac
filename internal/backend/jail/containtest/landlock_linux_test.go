package containtest

import (
	"slices"
	"testing"

	"github.com/cordon-sandbox/cordon/policy"
)

// TestContainmentByLandlockAlone removes the walls in front of Landlock: a command with all
// capabilities in its namespace still cannot change a mount.
func TestContainmentByLandlockAlone(t *testing.T) {
	others := slices.DeleteFunc(slices.Clone(setupWalls), func(w policy.Wall) bool { return w == policy.WallLandlock })
	suite := newSuite(t, policy.JailNative)
	suite.backend = suite.open(t, suite.policy, others)
	tried := 0
	for _, a := range procFileAttempts() {
		if !slices.Equal(a.proof.without, setupWalls) || a.name == "chroot" { // Landlock does not cover chroot
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
