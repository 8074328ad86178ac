package containtest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/policy"
)

// setupWalls are the walls that must be removed before mounts can be changed.
var setupWalls = []policy.Wall{policy.WallSeccomp, policy.WallCapabilities, policy.WallLandlock, policy.WallNoNewPrivs}

// procFileAttempts attack the kernel's files, and the mounts.
func procFileAttempts() []attempt {
	all := []attempt{
		{name: "kernel settings in /proc/sys", act: "open all to write", params: map[string]any{"path": "/proc/sys"}, proof: nakedRoot},
		{name: "kernel files in /proc", act: "open all to write", params: map[string]any{"path": "/proc"}, proof: nakedRoot},
		{name: "core pattern", act: "open to write", params: map[string]any{"path": "/proc/sys/kernel/core_pattern"}, proof: nakedRoot},
		{name: "sysrq", act: "open to write", params: map[string]any{"path": "/proc/sysrq-trigger"}, proof: proof{naked: true, root: true, skipReason: "this kernel has none"}},
		{name: "settings of its own namespaces", sh: `for f in kernel/shmmax kernel/msgmax kernel/sem fs/mqueue/msg_max net/ipv4/ip_forward net/ipv4/ping_group_range; do
test -e /proc/sys/$f || continue; v=$(cat /proc/sys/$f) && must_fail sh -c 'echo "$1" > /proc/sys/$2' sh "$v" $f; done 2>/dev/null; held`, proof: nakedRoot},
		{name: "kernel command line and configuration", sh: `for f in cmdline config.gz kallsyms modules iomem ioports diskstats partitions; do
test -s /proc/$f && escaped $f; must_fail cat /proc/$f; done 2>/dev/null; held`, proof: naked},
		{name: "unlisted files in /proc", act: "find unlisted proc files", proof: naked},
		{name: "kernel log", sh: `must_fail dd if=/proc/kmsg of=/dev/null bs=1 count=0 iflag=nonblock; must_fail dd if=/dev/kmsg of=/dev/null bs=1 count=0; held`, proof: nakedRoot},
		{name: "kernel memory", sh: `must_fail dd if=/proc/kcore of=/dev/null bs=4096 count=1; must_fail dd if=/dev/mem of=/dev/null bs=1 count=0; held`, proof: proof{naked: true, root: true, skipReason: "this kernel shows none"}},
		{name: "kernel settings in /sys", sh: `must_fail ls /sys/kernel /sys/fs/cgroup; test -e /sys/class && escaped; held`, proof: naked},
		{name: "mounts of the host", act: "mounts", proof: proof{naked: true}},
		{name: "partitions and devices", sh: `for d in /dev/*; do case $d in
/dev/null|/dev/zero|/dev/full|/dev/random|/dev/urandom|/dev/tty|/dev/pts|/dev/ptmx|/dev/shm|/dev/fd|/dev/stdin|/dev/stdout|/dev/stderr) ;;
/dev/console|/dev/core) test -e $d && escaped $d ;;
*) escaped $d ;; esac; done; held`, proof: naked},
		// The workspace and the program may be below any of them.
		{name: "directories at the root", sh: `top=${workspace#/}; top=/${top%%/*}; for d in /*; do case $d in
$top|/usr|/bin|/sbin|/lib|/lib32|/lib64|/libx32|/etc|/dev|/proc|/tmp|/var|/run) ;; *) escaped $d ;; esac; done; held`, proof: naked},
		{name: "files in etc", sh: `for f in hostname machine-id fstab sudoers hosts.allow crontab ssh resolv.conf; do test -e /etc/$f && escaped $f; done; held`, proof: naked},
		{name: "host name", sh: `test "$(uname -n)" = "$hostname" && escaped; held`, proof: naked},
		{name: "remount /usr writable", act: "remount", proof: withoutWalls(setupWalls...)},
		{name: "bind a directory over another", act: "bind", proof: withoutWalls(setupWalls...)},
		{name: "mount a tmpfs", act: "mount tmpfs", proof: withoutWalls(setupWalls...)},
		{name: "mount proc", act: "mount proc", proof: withoutWalls(setupWalls...)},
		{name: "unmount", act: "unmount", proof: withoutWalls(setupWalls...)},
		{name: "chroot", act: "chroot", proof: withoutWalls(setupWalls...)},
		{name: "escape from a chroot", act: "chroot and climb", proof: nakedRoot},
	}
	return inWall("system", all)
}

var procActs = map[string]act{
	"find unlisted proc files": findUnlistedProcFiles,
	"open all to write":        openAllToWrite,
	"mounts":                   mounts,
	"remount": func(params) error {
		return unix.Mount("", "/usr", "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_NOSUID|unix.MS_NODEV, "")
	},
	"bind":        func(params) error { return unix.Mount("/usr", "/tmp", "", unix.MS_BIND|unix.MS_REC, "") },
	"mount tmpfs": func(params) error { return unix.Mount("x", "/tmp", "tmpfs", 0, "") },
	"mount proc":  func(params) error { return unix.Mount("x", "/tmp", "proc", 0, "") },
	"unmount":     func(params) error { return unix.Unmount("/tmp", unix.MNT_DETACH) },
	"chroot":      func(params) error { return unix.Chroot("/tmp") },
	"chroot and climb": func(p params) error {
		if err := errors.Join(os.MkdirAll("r", 0o755), unix.Chroot("r")); err != nil {
			return err
		}
		for range 40 {
			if err := unix.Chdir(".."); err != nil {
				return err
			}
		}
		if err := unix.Chroot("."); err != nil {
			return err
		}
		return readSecret(p.text("canary_file"))
	},
}

// openAllToWrite opens all files for writing, except in the directories of processes, which
// other attempts cover.
func openAllToWrite(p params) error {
	tried := 0
	var opened []string
	err := filepath.WalkDir(p.path(), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == "/proc/self" || path == "/proc/thread-self" {
			return nil
		}
		if first := strings.TrimPrefix(path, "/proc/"); first != "" && first[0] >= '0' && first[0] <= '9' {
			return fs.SkipDir
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		tried++
		if fd, err := unix.Open(path, unix.O_WRONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0); err == nil {
			unix.Close(fd)
			opened = append(opened, path)
		}
		return nil
	})
	if err != nil || tried < 10 {
		return broken("%d files in %s: %v", tried, p.path(), err)
	}
	if len(opened) > 0 {
		fmt.Println(opened[:min(len(opened), 20)])
		return nil
	}
	return fmt.Errorf("none of %d files", tried)
}

// knownProcFiles lists what a command may see in /proc. All other files must be covered,
// including those of new kernels.
const knownProcFiles = ` self thread-self mounts net sys sysvipc cpuinfo loadavg meminfo stat swaps uptime version vmstat
zoneinfo buddyinfo interrupts softirqs cgroups crypto devices execdomains filesystems locks misc `

func findUnlistedProcFiles(params) error {
	entries, err := os.ReadDir("/proc")
	if err != nil || len(entries) < 10 {
		return broken("%d files: %v", len(entries), err)
	}
	var seen []string
	for _, entry := range entries {
		name := entry.Name()
		if name[0] >= '0' && name[0] <= '9' || slices.Contains(strings.Fields(knownProcFiles), name) {
			continue
		}
		path := "/proc/" + name
		if inside, err := os.ReadDir(path); err == nil && len(inside) > 0 {
			seen = append(seen, path)
		}
		if fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0); err == nil {
			n, err := unix.Read(fd, make([]byte, 1))
			if unix.Close(fd); err == nil && n > 0 {
				seen = append(seen, path)
			}
		}
	}
	if len(seen) > 0 {
		fmt.Println(seen)
		return nil
	}
	return errors.New("all unlisted files are covered")
}

// mounts looks for mounts and paths that a command must not see.
func mounts(p params) error {
	data, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return broken("%v", err)
	}
	for line := range strings.Lines(string(data)) {
		fields := strings.Fields(line)
		if len(fields) < 5 || strings.HasPrefix(fields[4], p.text("temporary")+"/") { // our own
			continue
		}
		for _, dir := range []string{"/sys", "/boot", "/home", "/root", "/mnt"} {
			if fields[4] == dir || strings.HasPrefix(fields[4], dir+"/") {
				fmt.Print(line)
				return nil
			}
		}
	}
	return errors.New("nothing of the host's")
}
