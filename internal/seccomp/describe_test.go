package seccomp

import (
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/hints"
	"github.com/cordon-sandbox/cordon/run"
)

// The table has calls by name, so that it runs on every architecture.
func TestDetails(t *testing.T) {
	a := func(args ...uint64) (out [6]uint64) { copy(out[:], args); return out }
	tests := []struct {
		op   string
		args [6]uint64
		want string
	}{
		{"socket", a(2, 1), "AF_INET, SOCK_STREAM"},
		{"socket", a(2|1<<32, 1|sockCloexec), "AF_INET, SOCK_STREAM"},
		{"socket", a(10, 2|sockCloexec, 17), "AF_INET6, SOCK_DGRAM, IPPROTO_UDP"},
		{"socket", a(16, 3, 999), "AF_NETLINK, SOCK_RAW, protocol 999"},
		{"socket", a(99, 7), "family 99, type 7"},
		{"socketpair", a(2, 1), "AF_INET, SOCK_STREAM"},
		{"clone", a(17), "SIGCHLD"},
		{"clone", a(0x1200011), "CLONE_CHILD_CLEARTID|CLONE_CHILD_SETTID|SIGCHLD"},
		{"clone", a(cloneNewUser | 17), "CLONE_NEWUSER|SIGCHLD"},
		{"clone", a(1<<36 | cloneVM), "CLONE_VM|0x1000000000"},
		{"unshare", a(cloneNewUser | cloneNewTime), "CLONE_NEWTIME|CLONE_NEWUSER"},
		{"kill", a(^uint64(0), 9), "pid -1, SIGKILL"},
		{"kill", a(0xffffffff, 64), "pid -1, signal 64"},
		{"prctl", a(22), "PR_SET_SECCOMP"},
		{"prctl", a(1, 15), "PR_SET_PDEATHSIG, SIGTERM"},
		{"prctl", a(0x12345), "0x12345"},
		{"ioctl", a(0, tiocSTI|1<<32), "fd 0, TIOCSTI"},
		{"ioctl", a(3, 0xdead), "fd 3, 0xdead"},
		{"fcntl", a(3, fSetOwn), "fd 3, F_SETOWN"},
		{"prlimit64", a(7, 9, 0x7fff), "set RLIMIT_AS, pid 7"},
		{"prlimit64", a(7, 6), "read RLIMIT_NPROC, pid 7"},
		{"mmap", a(0, 4096, 7, 0x22), "PROT_READ|PROT_WRITE|PROT_EXEC, MAP_PRIVATE|MAP_ANONYMOUS"},
		{"mprotect", a(0, 4096, 0), "PROT_NONE"},
		{"ptrace", a(16, 1), "PTRACE_ATTACH, pid 1"},
		{"mknodat", a(0, 0, 0o010644), "FIFO"},
		{"memfd_create", a(0xdead, 3), "MFD_CLOEXEC|MFD_ALLOW_SEALING"},
		{"setuid", a(0), "uid 0"},
		{"socket", a(16, 3, 0), "AF_NETLINK, SOCK_RAW, NETLINK_ROUTE"},
		{"socket", a(16, 3|sockCloexec, 12), "AF_NETLINK, SOCK_RAW, NETLINK_NETFILTER"},
		{"socket", a(17, 3|sockCloexec, 768), "AF_PACKET, SOCK_RAW, protocol 768"},
		{"socket", a(2, 2, 1), "AF_INET, SOCK_DGRAM, IPPROTO_ICMP"},
		{"socket", a(2, 2, 136), "AF_INET, SOCK_DGRAM, IPPROTO_UDPLITE"},
		{"setsockopt", a(3, 1, 26), "fd 3, SOL_SOCKET, SO_ATTACH_FILTER"},
		{"setsockopt", a(3, 1|1<<32, 999), "fd 3, SOL_SOCKET, option 999"},
		{"setsockopt", a(3, 6, 31), "fd 3, IPPROTO_TCP, TCP_ULP"},
		{"setsockopt", a(3, 0, 64), "fd 3, IPPROTO_IP, IPT_SO_SET_REPLACE"},
		{"setsockopt", a(3, 41, 57), "fd 3, IPPROTO_IPV6, IPV6_RTHDR"},
		{"getsockopt", a(3, 77, 1), "fd 3, level 77, option 1"},
		{"clone", a(cloneParent | 17), "CLONE_PARENT|SIGCHLD"},
		{"prctl", a(53, 0, 2), "PR_SET_SPECULATION_CTRL"},
		{"prctl", a(4, 2), "PR_SET_DUMPABLE"},
		{"arch_prctl", a(0x1012), "ARCH_SET_CPUID"},
		{"arch_prctl", a(0x9999), "0x9999"},
		{"personality", a(8), "PER_LINUX32"},
		{"personality", a(0x20008), "PER_LINUX32|UNAME26"},
		{"personality", a(0x440000), "PER_LINUX|ADDR_NO_RANDOMIZE|READ_IMPLIES_EXEC"},
		{"personality", a(0xffffffff | 1<<40), "query"},
		{"seccomp", a(1, 8), "SECCOMP_SET_MODE_FILTER, NEW_LISTENER"},
		{"seccomp", a(9), "operation 9"},
		{"sched_setscheduler", a(0, 1), "pid 0, SCHED_FIFO"},
		{"sched_setscheduler", a(0, 0x40000002), "pid 0, SCHED_RR"},
		{"mount", a(1, 2, 3, 0x5000), "MS_BIND|MS_REC"},
		{"umount2", a(1, 2), "MNT_DETACH"},
		{"ioctl", a(0, tiocSetD), "fd 0, TIOCSETD"},
		{"ioctl", a(3, 0x40086602), "fd 3, FS_IOC_SETFLAGS"},
		{"memfd_create", a(0, 4), "MFD_HUGETLB"},
		{"mknodat", a(0, 0, 0o020666), "character device"},
		{"mknodat", a(0, 0, 0o106755), "regular file, mode 06755"},
		{"mknod", a(0, 0o4755), "regular file, mode 04755"},
		{"open", a(0, 0o100, 0o104755), "mode 04755"},
		{"openat", a(3, 0, 0o100, 0o2755), "mode 02755"},
		{"creat", a(0, 0o6755), "mode 06755"},
	}
	for _, test := range tests {
		if got := details()[test.op](test.args); got != test.want {
			t.Errorf("%s%#x: %q, want %q", test.op, test.args, got, test.want)
		}
	}
}

func TestDescribe(t *testing.T) {
	if op, detail := Describe(9999, [6]uint64{1}); op != "syscall_9999" || detail != "" {
		t.Errorf("an unknown number: %q, %q", op, detail)
	}
	nr, ok := Number("socket")
	if !ok {
		return // no names for this architecture
	}
	if op, detail := Describe(nr, [6]uint64{2, 1}); op != "socket" || detail != "AF_INET, SOCK_STREAM" {
		t.Errorf("socket: %q, %q", op, detail)
	}
}

// Decoders must handle any argument, because a guest chooses them.
func FuzzDetails(f *testing.F) {
	f.Add(uint64(0), ^uint64(0), uint64(1)<<63)
	f.Fuzz(func(t *testing.T, a, b, c uint64) {
		for op, describe := range details() {
			if got := describe([6]uint64{a, b, c, a, b, c}); len(got) > 1000 || strings.ContainsAny(got, "\n\x00") {
				t.Errorf("%s: %q", op, got)
			}
		}
	})
}

func TestDetailsNameRealCalls(t *testing.T) {
	for op := range details() {
		if !known(op) {
			t.Errorf("no architecture has a call named %q", op)
		}
	}
}

func TestHints(t *testing.T) {
	for profile, parts := range map[Profile]map[string]string{
		Script: {
			"socket": "network", "clone": "threads", "fork": "threads", "execve": "Python",
			"ptrace": "inspected", "mount": "namespaces", "prlimit64": "limits", "memfd_create": "shared memory",
			"kill": "signals", "bpf": "kernel feature", "syscall_999": "not on the list",
		},
		Command: {
			"socket": "TCP, UDP", "setsockopt": "option", "ptrace": "detect_leaks=0", "mount": "mounts",
			"unshare": "nested sandboxes", "clone": "nested sandboxes", "keyctl": "keyrings",
			"mknodat": "devices", "openat": "set-user-id", "prlimit64": "ulimit", "personality": "setarch", "bpf": "kernel feature",
			"ioctl": "terminal", "clock_settime": "administered", "syscall_999": "not on the list",
		},
	} {
		for op, part := range parts {
			if got := wordsOf(hintFor(profile, op)); !strings.Contains(got, part) {
				t.Errorf("%s: %s: %q says nothing of %q", profile, op, got, part)
			}
		}
	}
	if got := hintFor("", "read"); got != hints.CommandOther {
		t.Errorf("no profile: %q", got)
	}
	for profile, advices := range map[Profile][]advice{Script: scriptAdvices, Command: commandAdvices, Watched: watchedAdvices, Shared: sharedAdvices, Unscoped: unscopedAdvices} {
		hinted := checkAdvices(t, advices)
		// Calls that are denied for some arguments, or refused with ENOSYS, need a
		// specific hint, not the last resort.
		for _, g := range RulesOf(profile) {
			for _, r := range g.Rules {
				if _, always := r.When.(Always); always && g.Then == Allow && hinted[r.Call] {
					t.Errorf("%s: %s is never denied and has a hint", profile, r.Call)
				} else if !always && !hinted[r.Call] {
					t.Errorf("%s: %s can be denied and has no hint of its own", profile, r.Call)
				}
			}
		}
	}
	// Hints for commands must not mention Python.
	for _, a := range append(commandAdvices, advice{hint: hints.CommandOther}) {
		if strings.Contains(wordsOf(a.hint), "Python") {
			t.Errorf("%q speaks of Python", a.hint)
		}
	}
}

func wordsOf(hint run.HintCode) string {
	return hints.Word(run.Violation{HintCode: hint}, hints.Embedder)
}

// checkAdvices checks the form of advices and returns their calls.
func checkAdvices(t *testing.T, advices []advice) map[string]bool {
	seen := make(map[string]bool)
	for _, a := range advices {
		if words := wordsOf(a.hint); strings.Contains(words, "\n") || !strings.Contains(words, ":") {
			t.Errorf("%s: %q: want one line, what it means and then what to do", a.hint, words)
		}
		for _, call := range strings.Fields(a.calls) {
			if !known(call) {
				t.Errorf("no architecture has a call named %q", call)
			}
			if seen[call] {
				t.Errorf("%s has two hints", call)
			}
			seen[call] = true
		}
	}
	return seen
}

// Hints go to every frontend, and not all of them have a context.
func TestHintsNameNoFrontend(t *testing.T) {
	for profile, calls := range hintTables() {
		for call, hint := range calls {
			if words := wordsOf(hint); strings.Contains(words, "context") {
				t.Errorf("%v, %s: %s", profile, call, words)
			}
		}
	}
}
