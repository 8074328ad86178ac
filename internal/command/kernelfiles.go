package command

import (
	"path"
	"slices"
	"strings"

	"github.com/cordon-sandbox/cordon/internal/hostpath"
)

// Paths below /dev and /proc are checked by their text: the guest has other files there
// than the host, and /dev/stdin and /proc/self differ for each process.

// devices are harmless files in the guest's own /dev. tty is not in the list because it is
// the caller's terminal, nor shm because it is a directory.
var devices = strings.Fields("/dev/null /dev/zero /dev/full /dev/random /dev/urandom /dev/stdin /dev/stdout /dev/stderr /dev/fd /proc/self/fd")

// procFiles are the files in which ordinary programs read about the machine and about
// themselves. Not in the list: environ, mountinfo and everything that leads elsewhere
// (root, cwd, exe, task).
var procFiles = strings.Fields("/proc/cpuinfo /proc/meminfo /proc/stat /proc/loadavg /proc/uptime /proc/version /proc/filesystems " +
	"/proc/self/status /proc/self/stat /proc/self/statm /proc/self/maps /proc/self/limits /proc/self/cmdline /proc/self/comm")

// magicLinks are the magic links in /proc/<pid>, and the directories of them, through which a
// path continues somewhere else: /proc/self/root/etc/passwd.
var magicLinks = strings.Fields("root cwd exe fd map_files task ns")

func ownedByKernel(p string) bool {
	return hostpath.Under(p, "/dev") || hostpath.Under(p, "/proc")
}

// isMagicLink reports whether a path is a magic link or goes through one.
func isMagicLink(p string) bool {
	if !hostpath.Under(p, "/proc") {
		return false
	}
	parts := strings.Split(p, "/")
	return len(parts) > 3 && slices.Contains(magicLinks, parts[3]) && !slices.Contains(devices, p)
}

func (v *view) whereInKernel(p string) visibility {
	if slices.Contains(devices, p) || slices.Contains(procFiles, p) {
		return device
	}
	// A descriptor, but no path through it: it may be a directory.
	if dir, n := path.Split(p); (dir == "/dev/fd/" || dir == "/proc/self/fd/") && isDigits(n) {
		return device
	}
	if isMagicLink(p) {
		return outside
	}
	return v.innermost(p)
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
