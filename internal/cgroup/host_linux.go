package cgroup

import (
	"os"

	"golang.org/x/sys/unix"
)

// Probe looks at this host.
func Probe() Features {
	cgroup, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return Features{Reason: err.Error(), Remedy: "mount /proc"}
	}
	mountinfo, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return Features{Reason: err.Error(), Remedy: "mount /proc"}
	}
	return Detect(Host{
		Cgroup:    string(cgroup),
		Mountinfo: string(mountinfo),
		FS:        os.DirFS("/"),
		Writable: func(path string) error {
			return unix.Faccessat(unix.AT_FDCWD, path, unix.W_OK, unix.AT_EACCESS)
		},
		Delegated: delegated,
	})
}

// delegated: an unprivileged process can write to a group only because
// somebody has given it to its user; for root, systemd leaves a mark on the
// groups it will not touch again.
func delegated(dir string) bool {
	if os.Geteuid() != 0 {
		return true
	}
	mark := make([]byte, 8)
	for _, name := range []string{"user.delegate", "trusted.delegate"} {
		if n, err := unix.Getxattr(dir, name, mark); err == nil && string(mark[:n]) == "1" {
			return true
		}
	}
	return false
}
