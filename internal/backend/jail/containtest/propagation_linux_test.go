package containtest

import (
	"os"
	"os/exec"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
)

// With systemd the host's mounts are shared: what is mounted below one copy of a mount
// appears in all of them. Nothing that is mounted for a guest may appear on the host.
func TestContainWithSharedMounts(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can make the mounts of a test shared")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "unshare", "--mount", "--propagation", "shared",
		"sh", "-c", `mount --make-rshared / && exec "$0" -test.short -test.v -test.run='^TestContainGrantRedirected$'`, exe)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, hosttest.Failures(string(out)))
	}
}
