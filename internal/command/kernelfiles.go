package command

import (
	"path"
	"slices"
	"strings"

	"github.com/cordon-sandbox/cordon/internal/hostpath"
)

// Paths below /dev and /proc are judged by their text: the guest has other files
// there than the host, and /dev/stdin and /proc/self differ for each process.

// devices are harmless files in the guest's own /dev. tty is missing, because it is
// the caller's terminal, and shm, because it is a directory.
var devices = strings.Fields("/dev/null /dev/zero /dev/full /dev/random /dev/urandom /dev/stdin /dev/stdout /dev/stderr /dev/fd /proc/self/fd")

// kernelTexts are what ordinary programs ask the kernel about the machine and
// about themselves. Not here: environ, mountinfo and all that leads elsewhere
// (root, cwd, exe, task).
var kernelTexts = strings.Fields("/proc/cpuinfo /proc/meminfo /proc/stat /proc/loadavg /proc/uptime /proc/version /proc/filesystems " +
	"/proc/self/status /proc/self/stat /proc/self/statm /proc/self/maps /proc/self/limits /proc/self/cmdline /proc/self/comm")

// leaps are the links in /proc/<pid> through which a path goes on somewhere
// else: /proc/self/root/etc/passwd.
var leaps = strings.Fields("root cwd exe fd map_files task ns")

func ownedByKernel(p string) bool {
	return hostpath.Under(p, "/dev") || hostpath.Under(p, "/proc")
}

// isLeap reports whether a path is or goes through one of the leaps.
func isLeap(p string) bool {
	if !hostpath.Under(p, "/proc") {
		return false
	}
	parts := strings.Split(p, "/")
	return len(parts) > 3 && slices.Contains(leaps, parts[3]) && !slices.Contains(devices, p)
}

func (v *view) whereInKernel(p string) visibility {
	if slices.Contains(devices, p) || slices.Contains(kernelTexts, p) {
		return device
	}
	// A descriptor, but nothing through it: it may be a directory.
	if dir, n := path.Split(p); (dir == "/dev/fd/" || dir == "/proc/self/fd/") && digits(n) {
		return device
	}
	if isLeap(p) {
		return outside
	}
	return v.innermost(p)
}

func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
