package attack

import (
	"os"
	"syscall"
	"testing"
)

// Attempts without walls signal the process group of their host. Other tests must not be in
// that group.
func TestMain(m *testing.M) {
	_ = syscall.Setpgid(0, 0) // EPERM: this process already leads a session, and so a group
	os.Exit(m.Run())
}
