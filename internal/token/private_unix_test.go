//go:build unix

package token

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestModes(t *testing.T) {
	for mode, fine := range map[os.FileMode]bool{
		0o600: true, 0o400: true, 0o640: true, 0o440: true,
		0o644: false, 0o604: false, 0o660: false, 0o602: false, 0o666: false,
	} {
		path := filepath.Join(t.TempDir(), "tokens.yaml")
		write(t, path, tokenFile(1))
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		s, err := Open(path)
		switch {
		case fine != (err == nil):
			t.Errorf("mode %04o: %v", mode, err)
		case !fine && !strings.Contains(err.Error(), "others can read or change it: run chmod 600 "+path):
			t.Errorf("mode %04o: %v", mode, err)
		}
		if !fine {
			continue
		}
		// A file that everyone can read later is no longer read.
		if err := os.Chmod(path, 0o644); err != nil {
			t.Fatal(err)
		}
		s.pass()
		if wantFound(t, s, 1, true); s.Err() == nil {
			t.Errorf("mode 0644 after %04o is accepted", mode)
		}
	}
}

// Opening a pipe would wait forever.
func TestPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path); err == nil || !strings.Contains(err.Error(), "is not a regular file") {
		t.Errorf("error %v", err)
	}
}
