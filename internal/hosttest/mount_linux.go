package hosttest

import (
	"testing"

	"golang.org/x/sys/unix"
)

// MountSource is the source of every mount that a test makes on the host. Tests that look
// for mounts left behind by cordon ignore it: packages are tested at the same time.
const MountSource = "cordon-test"

// Mount mounts a file system for the rest of the test.
func Mount(t testing.TB, kind, dir, options string) {
	t.Helper()
	if err := unix.Mount(MountSource, dir, kind, 0, options); err != nil {
		Lacks(t, "%s cannot be mounted: %v", kind, err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
}
