//go:build unix

package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/internal/token"
)

// A service reads its token file through a group. Adding a token must not lock it out.
func TestTokenFileKeepsItsOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		hosttest.Lacks(t, "only root can give a file away")
	}
	path := filepath.Join(t.TempDir(), "tokens")
	for _, name := range []string{"first", "second"} {
		_, hash := token.New()
		if err := addToken(path, "- name: "+name+"\n  sha256: "+hash+"\n"); err != nil {
			t.Fatal(err)
		}
		if name == "first" {
			if err := os.Chown(path, 12, 34); err != nil {
				t.Fatal(err)
			}
		}
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Sys().(*syscall.Stat_t); got.Uid != 12 || got.Gid != 34 || info.Mode().Perm() != 0o600 {
		t.Errorf("it belongs to %d:%d, %v", got.Uid, got.Gid, info.Mode())
	}
}
