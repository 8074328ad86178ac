//go:build !linux

package hostfeature

import (
	"os"
	"runtime"
)

// Quick reports that this system has none of Linux's walls. Windows has no such ids: -1.
func Quick() Features {
	no := No("not on "+runtime.GOOS, "use Linux")
	return Features{UID: os.Getuid(), GID: os.Getgid(), Kernel: runtime.GOOS, SetUID: no, UserNS: no, Landlock: no, Seccomp: no, SeccompNotify: no, Cgroup: no}
}
