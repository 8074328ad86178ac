package hostfeature

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestExplainRefusal(t *testing.T) {
	const (
		plain  = "22 27 0:21 / /proc rw,nosuid,nodev,noexec,relatime - proc proc rw\n"
		masked = plain + "54 22 0:5 /null /proc/kcore rw,nosuid - tmpfs tmpfs rw\n55 22 0:50 / /proc/acpi ro - tmpfs tmpfs ro\n"
	)
	for name, test := range map[string]struct {
		refusal        Refusal
		settings       map[string]string
		mounts         string
		reason, remedy string
	}{
		"no mount namespaces": {
			Refusal{"clone", unix.ENOSPC, unix.ENOSPC}, map[string]string{"user/max_user_namespaces": "63434", "user/max_mnt_namespaces": "0"}, plain,
			"user.max_mnt_namespaces is 0: no space left", "sysctl -w user.max_mnt_namespaces=10000",
		},
		"no network namespaces": {
			Refusal{"clone", unix.ENOSPC, unix.ENOSPC}, map[string]string{"user/max_net_namespaces": "0"}, plain,
			"user.max_net_namespaces is 0", "sysctl -w user.max_net_namespaces=10000",
		},
		"too many": {
			Refusal{"clone", unix.ENOSPC, unix.ENOSPC}, map[string]string{"user/max_mnt_namespaces": "5"}, plain,
			"maximum number is reached", "raise the user.max_*_namespaces",
		},
		"parts of /proc are masked": {
			Refusal{MountProc, unix.EPERM, unix.EPERM}, nil, masked,
			"/proc/kcore is covered by a mount", "systempaths=unconfined",
		},
		"/proc cannot be mounted for another reason": {
			Refusal{MountProc, unix.EPERM, unix.EPERM}, nil, plain, "operation not permitted", "seccomp profile",
		},
		"something else, where /proc is masked": {
			Refusal{"clone", unix.EPERM, unix.EPERM}, nil, masked, "operation not permitted", "seccomp profile",
		},
		"AppArmor": {
			Refusal{"become nobody", unix.EPERM, unix.EPERM}, map[string]string{"kernel/apparmor_restrict_unprivileged_userns": "1"}, plain,
			"operation not permitted", "AppArmor",
		},
	} {
		got := explainRefusal(test.refusal, func(name string) string { return test.settings[name] }, test.mounts)
		if got.OK || !strings.Contains(got.Reason, test.reason) || !strings.Contains(got.Remedy, test.remedy) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
