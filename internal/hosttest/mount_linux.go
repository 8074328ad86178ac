package hosttest

import (
	"os"
	"slices"
	"strings"
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

// Mounts returns the mounts of the host, except those that tests made.
func Mounts(t testing.TB) []string {
	t.Helper()
	data, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(strings.Split(string(data), "\n"), func(line string) bool { return strings.Contains(line, " "+MountSource+" ") })
}

// NewMounts returns the mounts that the host has now and did not have before.
func NewMounts(t testing.TB, before []string) []string {
	t.Helper()
	return slices.DeleteFunc(Mounts(t), func(line string) bool { return slices.Contains(before, line) })
}
