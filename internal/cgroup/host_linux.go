package cgroup

import (
	"os"

	"golang.org/x/sys/unix"
)

// Probe runs Detect on this host.
func Probe() Features {
	host, err := thisHost()
	if err != nil {
		return Features{Reason: err.Error(), Remedy: "mount /proc"}
	}
	return Detect(host)
}

func thisHost() (Host, error) {
	cgroup, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return Host{}, err
	}
	mountinfo, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return Host{}, err
	}
	return Host{
		Cgroup:    string(cgroup),
		Mountinfo: string(mountinfo),
		FS:        os.DirFS("/"),
		Writable: func(path string) error {
			return unix.Faccessat(unix.AT_FDCWD, path, unix.W_OK, unix.AT_EACCESS)
		},
		Delegated: delegated,
		Handed:    handed,
	}, nil
}

// delegated reports whether dir was delegated: an unprivileged process can write to a group
// only if it was given to its user; for root, systemd marks the groups that it will not
// change.
func delegated(dir string) bool { return os.Geteuid() != 0 || marked(dir) }

func marked(dir string) bool {
	mark := make([]byte, 8)
	for _, name := range []string{"user.delegate", "trusted.delegate"} {
		if n, err := unix.Getxattr(dir, name, mark); err == nil && string(mark[:n]) == "1" {
			return true
		}
	}
	return false
}
