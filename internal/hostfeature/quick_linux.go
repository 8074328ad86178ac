package hostfeature

import (
	"fmt"
	"os"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// Quick makes only fast checks. It assumes that user namespaces work unless a setting
// forbids them; the code that uses them tries, and falls back if they fail.
func Quick() Features {
	f := Features{UID: os.Geteuid(), GID: os.Getegid(), Kernel: kernel()}
	f.UserNS = userNamespaces()
	f.LandlockABI = landlockABI()
	f.Landlock = No("the kernel has no Landlock, or it is switched off", "use Linux 5.13 or newer with landlock in the lsm= list")
	if f.LandlockABI > 0 {
		f.Landlock = Yes(fmt.Sprintf("ABI %d", f.LandlockABI))
	}
	f.Seccomp, f.SeccompNotify = seccomp()
	f.SetUID, f.SetCPUs = setUID(f.UID), setCPUs()
	return f
}

func kernel() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return "unknown"
	}
	return unix.ByteSliceToString(u.Release[:])
}

func userNamespaces() Support {
	if sysctl("user/max_user_namespaces") == "0" {
		return No("user namespaces are switched off (user.max_user_namespaces is 0)", "sysctl -w user.max_user_namespaces=10000")
	}
	if os.Geteuid() != 0 && sysctl("kernel/unprivileged_userns_clone") == "0" {
		return No("only root may make user namespaces (kernel.unprivileged_userns_clone is 0)", "sysctl -w kernel.unprivileged_userns_clone=1")
	}
	return Yes("")
}

func sysctl(name string) string {
	data, err := os.ReadFile("/proc/sys/" + name)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// landlockABI returns the version; the call creates nothing.
func landlockABI() int {
	const createRulesetVersion = 1
	abi, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, createRulesetVersion)
	if errno != 0 {
		return 0
	}
	return int(abi)
}

func seccomp() (filter, notify Support) {
	if runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		s := No("there is no seccomp profile for "+runtime.GOARCH, "use amd64 or arm64")
		return s, s
	}
	if !actionAvailable(unix.SECCOMP_RET_ERRNO) || !actionAvailable(unix.SECCOMP_RET_KILL_PROCESS) {
		s := No("the kernel has no seccomp filters", "use Linux 4.14 or newer with CONFIG_SECCOMP_FILTER")
		return s, s
	}
	// SECCOMP_USER_NOTIF_FLAG_CONTINUE came with 5.5, after the action itself, and cannot
	// be queried; the version can.
	if !actionAvailable(unix.SECCOMP_RET_USER_NOTIF) || !kernelAtLeast(5, 5) {
		return Yes("violations are not observed"), No("the kernel does not report denied system calls", "use Linux 5.5 or newer")
	}
	return Yes("violations are observed"), Yes("")
}

func kernelAtLeast(major, minor int) bool {
	var a, b int
	if _, err := fmt.Sscanf(kernel(), "%d.%d", &a, &b); err != nil {
		return false
	}
	return a > major || a == major && b >= minor
}

// setUID: root can change its user only while it has the capability, which some
// containers drop.
func setUID(uid int) Support {
	if uid != 0 {
		return No("only root can change to another user", "")
	}
	held, err := capabilities()
	if err != nil {
		return No(fmt.Sprintf("capabilities cannot be read (%v)", err), "")
	}
	const needed = 1<<unix.CAP_SETUID | 1<<unix.CAP_SETGID
	if held&needed != needed {
		return No("cordon runs as root but may not change to another user", "keep CAP_SETUID and CAP_SETGID, or start cordon as an ordinary user")
	}
	for _, file := range []string{"/proc/self/uid_map", "/proc/self/gid_map"} {
		text, err := os.ReadFile(file)
		if err == nil && !mapped(string(text), nobody) {
			return No("cordon runs as the root of a user namespace that has no other user", fmt.Sprintf("map id %d into it too, or start cordon as an ordinary user", nobody))
		}
	}
	return Yes("")
}

func setCPUs() Support {
	if held, err := capabilities(); err != nil || held&(1<<unix.CAP_SYS_NICE) == 0 {
		return No("cordon may not choose the CPUs of other users' processes", "keep CAP_SYS_NICE")
	}
	return Yes("")
}

// capabilities returns the first 32 effective capabilities, one bit for each.
func capabilities() (uint32, error) {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	err := unix.Capget(&header, &data[0])
	return data[0].Effective, err
}

// nobody is the id that guests of root get.
const nobody = 65534

// mapped reads the lines of an id map: first inside, first outside, count.
func mapped(text string, id int) bool {
	for line := range strings.Lines(text) {
		var inside, outside, count int
		if _, err := fmt.Sscan(line, &inside, &outside, &count); err == nil && id >= inside && id-inside < count {
			return true
		}
	}
	return false
}
