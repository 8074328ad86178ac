package files

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/backend/wasm/rootfs"
	"github.com/cordon-sandbox/cordon/policy"
)

// If two grants have the same path in the guest, the one with that path on the host wins.
func TestRelativeNamesDoNotHideGrants(t *testing.T) {
	directory, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(directory)
	at := func(guest string, grants []rootfs.Grant) (hosts []string) {
		for _, g := range grants {
			if g.Guest == guest {
				hosts = append(hosts, g.Host)
			}
		}
		return hosts
	}
	inside := filepath.Join(directory, "data")
	if got := at("/data", GrantsOf(policy.Policy{Read: []string{inside}})); strings.Join(got, " ") != inside {
		t.Errorf("%q is at /data", got)
	}
	if got := at("/data", GrantsOf(policy.Policy{Read: []string{inside, "/data"}})); strings.Join(got, " ") != "/data" {
		t.Errorf("%q are at /data", got)
	}
	if got := at("/", GrantsOf(policy.Policy{Read: []string{directory}})); len(got) != 0 {
		t.Errorf("%q is at /", got)
	}
}

func TestGuestPath(t *testing.T) {
	if got := guestPath("/a/b"); got != "/a/b" {
		t.Error(got)
	}
}
