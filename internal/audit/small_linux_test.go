package audit

import (
	"testing"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
)

func mountSmall(dir string) error {
	return unix.Mount(hosttest.MountSource, dir, "tmpfs", 0, "size=1m")
}

func unmount(t *testing.T, dir string) {
	if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
		t.Error(err)
	}
}
