package containtest

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/backend/jail"
	"github.com/cordon-sandbox/cordon/internal/hostfeature"
	"github.com/cordon-sandbox/cordon/internal/landlock"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// systemCall is a call that no command may make. Its arguments make it harmless if it is
// allowed: it then fails with another error, which counts as an escape.
type systemCall struct {
	name       string
	number     uintptr
	args       []uintptr
	root       bool   // other users are refused anyway
	skipReason string // why a kernel may refuse it to all users
	ended      bool   // the filter kills the calling process
}

const (
	badFD      = ^uintptr(0) // not a descriptor
	badAddress = uintptr(1)  // not an address
	high       = uintptr(1) << 36
)

var systemCalls = []systemCall{
	{name: "unshare the user namespace", number: unix.SYS_UNSHARE, args: []uintptr{unix.CLONE_NEWUSER}},
	{name: "unshare mounts", number: unix.SYS_UNSHARE, args: []uintptr{unix.CLONE_NEWNS}, root: true},
	{name: "unshare the network", number: unix.SYS_UNSHARE, args: []uintptr{unix.CLONE_NEWNET}, root: true},
	{name: "unshare with high bits", number: unix.SYS_UNSHARE, args: []uintptr{unix.CLONE_NEWUSER | high}},
	{name: "unshare with an unknown flag", number: unix.SYS_UNSHARE, args: []uintptr{1}},
	{name: "enter a namespace", number: unix.SYS_SETNS, args: []uintptr{badFD, 0}},
	{name: "clone3", number: unix.SYS_CLONE3, args: []uintptr{0, 0}},
	{name: "mount", number: unix.SYS_MOUNT, args: []uintptr{0, badAddress, 0, 0, 0}, root: true},
	{name: "unmount", number: unix.SYS_UMOUNT2, args: []uintptr{badAddress, 0}, root: true},
	{name: "pivot_root", number: unix.SYS_PIVOT_ROOT, args: []uintptr{badAddress, badAddress}, root: true},
	{name: "chroot", number: unix.SYS_CHROOT, args: []uintptr{badAddress}},
	{name: "fsopen", number: unix.SYS_FSOPEN, args: []uintptr{badAddress, 0}, root: true},
	{name: "fsmount", number: unix.SYS_FSMOUNT, args: []uintptr{badFD, 0, 0}, root: true},
	{name: "fspick", number: unix.SYS_FSPICK, args: []uintptr{badFD, badAddress, 0}, root: true},
	{name: "open_tree", number: unix.SYS_OPEN_TREE, args: []uintptr{badFD, badAddress, 0}},
	{name: "move_mount", number: unix.SYS_MOVE_MOUNT, args: []uintptr{badFD, badAddress, badFD, badAddress, 0}, root: true},
	{name: "mount_setattr", number: unix.SYS_MOUNT_SETATTR, args: []uintptr{badFD, badAddress, 0, 0, 0}},
	{name: "open_by_handle_at", number: unix.SYS_OPEN_BY_HANDLE_AT, args: []uintptr{badFD, 0, 0}, root: true},
	{name: "keyctl", number: unix.SYS_KEYCTL, args: []uintptr{0, ^uintptr(2), 0}},
	{name: "add_key", number: unix.SYS_ADD_KEY, args: []uintptr{badAddress, badAddress, 0, 0, 0}},
	{name: "request_key", number: unix.SYS_REQUEST_KEY, args: []uintptr{badAddress, badAddress, 0, 0}},
	{name: "bpf", number: unix.SYS_BPF, args: []uintptr{0, 0, 0}, root: true},
	{name: "perf_event_open", number: unix.SYS_PERF_EVENT_OPEN, args: []uintptr{0, 0, badFD, badFD, 0}},
	{name: "userfaultfd", number: unix.SYS_USERFAULTFD, args: []uintptr{unix.O_CLOEXEC | 1}},
	{name: "io_uring_setup", number: unix.SYS_IO_URING_SETUP, args: []uintptr{1, 0}, skipReason: "io_uring can be switched off"},
	{name: "io_uring_enter", number: unix.SYS_IO_URING_ENTER, args: []uintptr{badFD, 0, 0, 0, 0, 0}},
	{name: "io_setup", number: unix.SYS_IO_SETUP, args: []uintptr{1, 0}},
	{name: "ptrace itself", number: unix.SYS_PTRACE, args: []uintptr{unix.PTRACE_TRACEME}},
	{name: "process_vm_writev", number: unix.SYS_PROCESS_VM_WRITEV, args: []uintptr{badFD, 0, 0, 0, 0, 0}},
	{name: "process_madvise", number: unix.SYS_PROCESS_MADVISE, args: []uintptr{badFD, 0, 0, 0, 0}},
	{name: "pidfd_getfd", number: unix.SYS_PIDFD_GETFD, args: []uintptr{badFD, 0, 0}},
	{name: "kcmp", number: unix.SYS_KCMP, args: []uintptr{badFD, badFD, 0, 0, 0}, skipReason: "kcmp can be left out of a kernel"},
	{name: "kexec_load", number: unix.SYS_KEXEC_LOAD, args: []uintptr{0, 0, 0, badFD}, root: true, skipReason: "kexec can be left out of a kernel"},
	{name: "init_module", number: unix.SYS_INIT_MODULE, args: []uintptr{0, 0, 0}, root: true, skipReason: "this kernel has no modules"},
	{name: "finit_module", number: unix.SYS_FINIT_MODULE, args: []uintptr{badFD, badAddress, 0}, root: true, skipReason: "this kernel has no modules"},
	{name: "delete_module", number: unix.SYS_DELETE_MODULE, args: []uintptr{badAddress, 0}, root: true, skipReason: "this kernel has no modules"},
	{name: "settimeofday", number: unix.SYS_SETTIMEOFDAY, args: []uintptr{0, 0}, root: true},
	{name: "clock_settime", number: unix.SYS_CLOCK_SETTIME, args: []uintptr{0, badAddress}},
	{name: "adjtimex", number: unix.SYS_ADJTIMEX, args: []uintptr{badAddress}},
	{name: "clock_adjtime", number: unix.SYS_CLOCK_ADJTIME, args: []uintptr{0, badAddress}},
	{name: "sethostname", number: unix.SYS_SETHOSTNAME, args: []uintptr{badAddress, badFD}, root: true},
	{name: "setdomainname", number: unix.SYS_SETDOMAINNAME, args: []uintptr{badAddress, badFD}, root: true},
	{name: "swapon", number: unix.SYS_SWAPON, args: []uintptr{badAddress, 0}, root: true, skipReason: "this kernel has no swap"},
	{name: "swapoff", number: unix.SYS_SWAPOFF, args: []uintptr{badAddress}, root: true, skipReason: "this kernel has no swap"},
	{name: "reboot", number: unix.SYS_REBOOT, args: []uintptr{0, 0, 0, 0}, root: true},
	{name: "acct", number: unix.SYS_ACCT, args: []uintptr{badAddress}, root: true, skipReason: "this kernel has no process accounting"},
	{name: "quotactl", number: unix.SYS_QUOTACTL, args: []uintptr{badFD, badAddress, 0, 0}, root: true, skipReason: "this kernel has no quotas"},
	{name: "syslog", number: unix.SYS_SYSLOG, args: []uintptr{10, 0, 0}, root: true},
	{name: "fanotify_init", number: unix.SYS_FANOTIFY_INIT, args: []uintptr{0, 0}, root: true, skipReason: "this kernel has no fanotify"},
	{name: "vhangup", number: unix.SYS_VHANGUP, root: true},
	{name: "32-bit personality", number: unix.SYS_PERSONALITY, args: []uintptr{8}},
	{name: "personality with executable data", number: unix.SYS_PERSONALITY, args: []uintptr{0x0400000}},
	{name: "personality with high bits", number: unix.SYS_PERSONALITY, args: []uintptr{8 | high}},
	{name: "memfd_secret", number: unix.SYS_MEMFD_SECRET, args: []uintptr{badFD}, skipReason: "memfd_secret can be left out of a kernel"},
	{name: "memfd with huge pages", number: unix.SYS_MEMFD_CREATE, args: []uintptr{badAddress, unix.MFD_HUGETLB}},
	{name: "seccomp listener", number: unix.SYS_SECCOMP, args: []uintptr{unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, badAddress}},
	{name: "real-time class", number: unix.SYS_SCHED_SETSCHEDULER, args: []uintptr{0, unix.SCHED_FIFO, badAddress}},
	{name: "change its memory map", number: unix.SYS_PRCTL, args: []uintptr{unix.PR_SET_MM, 0, 0, 0, 1}},
	{name: "disable CPU mitigations", number: unix.SYS_PRCTL, args: []uintptr{unix.PR_SET_SPECULATION_CTRL, badFD, 0, 0, 0}},
	{name: "securebits", number: unix.SYS_PRCTL, args: []uintptr{unix.PR_SET_SECUREBITS, 0, 0, 0, 0}, root: true},
	{name: "unknown system call", number: 1 << 20, skipReason: "the kernel has no such call"},
}

var systemCallNamed = func() map[string]systemCall {
	all := map[string]systemCall{}
	for _, c := range slices.Concat(systemCalls, socketCalls, foreignCalls) {
		all[c.name] = c
	}
	return all
}()

func systemCallAttempts() []attempt {
	all := attemptsOf(systemCalls)
	return inWall("system calls", append(all,
		attempt{name: "clone a user namespace", act: "clone", params: map[string]any{"flags": unix.CLONE_NEWUSER}, proof: naked},
		attempt{name: "clone a user namespace with high bits", act: "clone", params: map[string]any{"flags": unix.CLONE_NEWUSER, "high": true}, proof: naked},
		attempt{name: "clone all namespaces", act: "clone", params: map[string]any{
			"flags": unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS,
		}, proof: naked},
		attempt{name: "traced child", act: "clone", params: map[string]any{"flags": unix.CLONE_PTRACE}, proof: naked},
		attempt{name: "unshare from a shell", sh: `must_fail unshare -U true; must_fail unshare -r true; held`, proof: naked},
		attempt{name: "change the host name", sh: `must_fail hostname owned; held`, touched: hostNamed, proof: withoutWalls(policy.WallSeccomp, policy.WallCapabilities)},
		attempt{name: "raise its limits", act: "raise limits", proof: nakedRoot},
		attempt{name: "raise its priority", act: "raise priority", proof: nakedRoot},
		attempt{name: "clear no_new_privs", sh: `grep -q 'NoNewPrivs:.1' /proc/self/status || escaped; grep -q 'Seccomp:.2' /proc/self/status || escaped; held`, proof: naked},
		attempt{name: "hammer", act: "hammer", want: run.Denied,
			bwrap: ending{run.Succeeded, 0}, // its filter reports no denials
			proof: proof{naked: true, ends: ending{run.Succeeded, 0}}},
	))
}

func attemptsOf(calls []systemCall) (all []attempt) {
	for _, c := range calls {
		a := attempt{
			name: c.name, act: "system call", params: map[string]any{"call": c.name},
			proof: proof{naked: true, root: c.root, skipReason: c.skipReason},
		}
		if c.ended {
			a.want, a.touched, a.bwrap = run.Signaled, endedByFilter, bwrapSignaled(unix.SIGSYS)
		}
		all = append(all, a)
	}
	return all
}

// endedByFilter checks that the filter killed the calling process. A naked proof has no
// filter.
func endedByFilter(t *testing.T, s *scene, r run.Result) string {
	if s.naked {
		return ""
	}
	return endedBySignal("SIGSYS")(t, s, r)
}

func hostNamed(t *testing.T, _ *scene, _ run.Result) string {
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		t.Fatal(err)
	}
	if unix.ByteSliceToString(name.Nodename[:]) == "owned" {
		return "the host has another name"
	}
	return ""
}

var kernelActs = map[string]act{
	"system call": func(p params) error {
		c, ok := systemCallNamed[p.text("call")]
		if !ok {
			return broken("no call %s", p.text("call"))
		}
		var args [6]uintptr
		copy(args[:], c.args)
		_, _, errno := unix.Syscall6(c.number, args[0], args[1], args[2], args[3], args[4], args[5])
		return filterError(errno)
	},
	"clone": func(p params) error {
		flags := uintptr(p.number("flags"))
		if p["high"] == true {
			flags |= high
		}
		_, err := rawClone(flags | uintptr(unix.SIGCHLD))
		return err
	},
	"raise limits": func(params) error {
		results := map[string]error{}
		for name, resource := range map[string]int{
			"open files": unix.RLIMIT_NOFILE, "core": unix.RLIMIT_CORE, "locked memory": unix.RLIMIT_MEMLOCK,
			"processes": unix.RLIMIT_NPROC, "cpu": unix.RLIMIT_CPU,
		} {
			var limit unix.Rlimit
			if err := unix.Prlimit(0, resource, nil, &limit); err != nil {
				return broken("%v", err)
			}
			if limit.Max == unix.RLIM_INFINITY {
				results[name] = nil // there is no limit to raise
				continue
			}
			limit.Max++
			results[name] = unix.Prlimit(0, resource, &limit, nil)
		}
		return anyOf(results)
	},
	"hammer": func(params) error {
		for range 1 << 20 {
			_, _, _ = unix.Syscall(unix.SYS_GET_ROBUST_LIST, 0, 0, 0)
		}
		return errQuiet
	},
	"terminal":  terminalAct,
	"elf":       executeELF,
	"shm":       func(p params) error { return readMemorySegment(p.number("sysv_key")) },
	"msg":       func(p params) error { return readQueue(p.number("sysv_key")) },
	"sem":       func(p params) error { return changeSemaphore(p.number("sysv_key")) },
	"mq":        func(p params) error { return readPosixQueue(p.text("mq")) },
	"new queue": func(p params) error { return makePosixQueue("cordon-contain") },
}

// filterError returns the error of a denied call, and nil if the filter allowed the call. ENOSYS
// counts as denied although the kernel may just lack the call: a filter that relies on that
// does not hold on the next kernel.
func filterError(errno syscall.Errno) error {
	if slices.Contains([]syscall.Errno{unix.EPERM, unix.EACCES, unix.ENOSYS}, errno) {
		return errno
	}
	fmt.Printf("the kernel says: %v\n", errno)
	return nil
}

// ipcAttempts try to communicate with the host without files.
func ipcAttempts() []attempt {
	return inWall("ipc", []attempt{
		{name: "shared memory of the host", act: "shm", proof: naked},
		{name: "message queue of the host", act: "msg", proof: naked},
		{name: "semaphore of the host", act: "sem", canary: true, proof: naked},
		{name: "POSIX queue of the host", act: "mq", proof: naked},
		{name: "list of shared memory", sh: `test "$(wc -l < /proc/sysvipc/shm)" -gt 1 && escaped; held`, proof: naked},
		{name: "abstract socket of the host", act: "dial", params: map[string]any{"network": "unix", "abstract_key": "abstract"}, proof: naked},
		{name: "abstract datagram socket of the host", act: "dial", params: map[string]any{"network": "unixgram", "abstract_key": "abstractgram"}, canary: true, proof: naked},
		{name: "abstract socket of the host, on its network", act: "dial", params: map[string]any{"network": "unix", "abstract_key": "abstract"},
			plant: onHostNetwork, proof: naked},
		{name: "abstract datagram socket of the host, on its network", act: "dial", params: map[string]any{"network": "unixgram", "abstract_key": "abstractgram"},
			plant: onHostNetwork, canary: true, proof: naked},
		{name: "datagram socket of the host", act: "dial", params: map[string]any{"network": "unixgram", "key": "unixgram_path"}, canary: true, proof: naked},
		{name: "list of abstract sockets", sh: `grep -q "$abstract" /proc/net/unix && escaped; held`, proof: naked},
		// Its memory belongs to the kernel, with a separate limit.
		{name: "POSIX queue of its own", act: "new queue", proof: proof{naked: true, root: true, skipReason: "this kernel has no queues"}},
	})
}

// onHostNetwork gives a command the network of the host, without its abstract sockets. A host
// that cannot exclude them refuses the command.
func onHostNetwork(t *testing.T, s *scene) {
	if s.suite.gvisor() {
		t.Skip("the tier gvisor refuses a policy that gives commands the host's network: see TestNoHostNetwork")
	}
	s.grant(func(p *policy.Policy) { p.Egress = policy.EgressNone })
	if !landlock.Scoped(hostfeature.Quick().LandlockABI) {
		if _, err := jail.New(jail.Options{Policy: s.policy}); run.ClassOf(err) != run.Unsupported || !strings.Contains(err.Error(), "abstract sockets") {
			t.Errorf("it is not refused: %v", err)
		}
		t.Skip("commands on the host's network are refused here")
	}
}

// cgroupAttempts attack the cgroups that limit a command.
func cgroupAttempts() []attempt {
	return inWall("cgroup", []attempt{
		{name: "list the cgroup tree", sh: `must_fail ls -d /sys/fs/cgroup; held`, proof: naked},
		{name: "raise the memory limit", sh: `
for d in /sys/fs/cgroup/memory /sys/fs/cgroup; do for f in $d/*/memory.limit_in_bytes $d/*/memory.max $d/memory.limit_in_bytes; do
test -w "$f" && escaped "$f"; done; done; held`, proof: proof{naked: true, root: true, skipReason: "there are no cgroups here"}},
		{name: "see the name of its own cgroup", root: true, sh: `grep cordon- /proc/self/cgroup && escaped; held`,
			proof: proof{without: []policy.Wall{policy.WallCgroupNS}, skipReason: "there are no cgroups here"}},
		{name: "mount the cgroup tree", act: "mount cgroup", proof: proof{without: setupWalls, skipReason: "a user namespace may not mount this version"}},
	})
}
