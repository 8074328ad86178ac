package jail

import (
	"testing"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
)

// In a systemd unit such as ours, openat2 does not exist.
func TestInUnit(t *testing.T) {
	hosttest.NotUnderRace(t, "it runs real programs")
	hosttest.RunInUnit(t, "TestCommandEndsWhileAnotherHoldsItsOutput", "TestMountsBelowPrivateDirectories", "TestPrivateDirectoriesAsGrantsAndWorkspaces")
}
