package containtest

import (
	"os"
	"os/exec"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/confine"
	"github.com/cordon-sandbox/cordon/internal/hosttest"
)

// keyAttempts read the kernel's keys. Keys belong to a user, not to a namespace: a command that
// has the same user on the host would see their names, which are names of accounts, hosts and
// mounts.
func keyAttempts() []attempt {
	asGuest := proof{naked: true, uid: confine.Nobody}
	return inWall("keys", []attempt{
		{name: "names of keys", sh: `cat /proc/keys; held`, plant: plantKey, proof: asGuest},
		{name: "number of keys", sh: `must_fail grep -q : /proc/key-users; held`, plant: plantKey, proof: asGuest},
	})
}

// plantKey starts a process on the host, as the guest's user, that keeps a key. The name of the
// key is the secret.
func plantKey(t *testing.T, s *scene) {
	if hosttest.Degraded() {
		t.Skip("a container gives nobody keys")
	}
	if err := s.handleKey("add key"); err != nil {
		hosttest.Lacks(t, "this kernel keeps no keys: %v", err)
	}
	t.Cleanup(func() {
		if err := s.handleKey("forget key"); err != nil {
			t.Error(err)
		}
	})
}

func (s *scene) handleKey(act string) error {
	cmd := exec.Command(s.suite.program)
	cmd.Env = []string{actVariable + "=" + act, paramsVariable + "=" + encode(map[string]string{"name": s.secret})}
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: confine.Nobody, Gid: confine.Nobody}}
	}
	return cmd.Run()
}

var keyActs = map[string]act{
	"add key": func(p params) error {
		if _, err := unix.AddKey("user", p.text("name"), []byte("x"), unix.KEY_SPEC_USER_KEYRING); err != nil {
			return broken("%v", err)
		}
		return nil
	},
	"forget key": func(p params) error {
		key, err := unix.KeyctlSearch(unix.KEY_SPEC_USER_KEYRING, "user", p.text("name"), 0)
		if err == nil {
			_, err = unix.KeyctlInt(unix.KEYCTL_UNLINK, key, unix.KEY_SPEC_USER_KEYRING, 0, 0)
		}
		if err != nil {
			return broken("%v", err)
		}
		return nil
	},
}
