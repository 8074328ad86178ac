package hostfeature

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// MountProc is the name of the step that mounts the guest's own /proc.
const MountProc = "mount /proc"

// Refusal is a step of setting up namespaces that the kernel refused.
type Refusal struct {
	Step  string
	Errno unix.Errno
	Err   error
}

// DeniedUserNS explains a failed attempt to set up namespaces.
func DeniedUserNS(r Refusal) Support {
	mountinfo, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		mountinfo = nil // covered mounts are then not considered
	}
	return explainRefusal(r, sysctl, string(mountinfo))
}

// namespaceLimits are the settings that bound the number of namespaces.
var namespaceLimits = []string{
	"user/max_user_namespaces", "user/max_mnt_namespaces", "user/max_pid_namespaces", "user/max_net_namespaces",
	"user/max_ipc_namespaces", "user/max_uts_namespaces", "user/max_cgroup_namespaces",
}

// explainRefusal derives the cause from the host's settings and mounts, and names the
// remedy. It is a pure function.
func explainRefusal(r Refusal, sysctl func(string) string, mountinfo string) Support {
	why := func(cause string) string { return fmt.Sprintf("namespaces cannot be set up here (%s%v)", cause, r.Err) }
	if r.Errno == unix.ENOSPC {
		for _, name := range namespaceLimits {
			if sysctl(name) == "0" {
				setting := strings.ReplaceAll(name, "/", ".")
				return No(why(setting+" is 0: "), "sysctl -w "+setting+"=10000")
			}
		}
		return No(why("their maximum number is reached: "), "raise the user.max_*_namespaces settings, or end the processes that use them; user namespaces can be nested 32 levels deep")
	}
	if r.Step == MountProc && r.Errno == unix.EPERM {
		if covered := mountsBelow(mountinfo, "/proc/"); len(covered) > 0 {
			return No(why(covered[0]+" is covered by a mount, and the kernel then allows no new mount of /proc, which would show it: "),
				"leave /proc as it is (Docker: --security-opt systempaths=unconfined; Kubernetes: procMount: Unmasked; "+
					"systemd: without ProtectKernelTunables=, ProtectKernelLogs= and ProtectProc=)")
		}
	}
	if sysctl("kernel/apparmor_restrict_unprivileged_userns") == "1" {
		return No(why(""), "AppArmor forbids them to unknown programs: add a profile with `userns,` for cordon, or sysctl -w kernel.apparmor_restrict_unprivileged_userns=0")
	}
	return No(why(""), "outside a container nothing should forbid them; inside one, allow unshare, clone and mount in its seccomp profile")
}

// mountsBelow lists the mount points below a directory.
func mountsBelow(mountinfo, dir string) []string {
	var points []string
	for line := range strings.Lines(mountinfo) {
		if f := strings.Fields(line); len(f) > 4 && strings.HasPrefix(f[4], dir) {
			points = append(points, f[4])
		}
	}
	return points
}
