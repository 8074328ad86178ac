//go:build !linux

package hostfeature

import "runtime"

// Quick reports that none of the Linux walls is here.
func Quick() Features {
	no := No("not on "+runtime.GOOS, "use Linux")
	return Features{UID: -1, GID: -1, Kernel: runtime.GOOS, SetUID: no, UserNS: no, Landlock: no, Seccomp: no, SeccompNotify: no, Cgroup: no}
}
