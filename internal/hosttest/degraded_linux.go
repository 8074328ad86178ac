package hosttest

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

const degradedVariable = "CORDON_TEST_DEGRADED"

// deniedInContainers are the system calls that container runtimes deny by default: first
// those that namespaces and private roots need, then the others that Docker's documentation
// lists for this architecture, and newer calls like them. In a container, cordon must not
// depend on any of them.
var deniedInContainers = []uint32{
	unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT,
	unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT, unix.SYS_FSOPEN, unix.SYS_FSMOUNT, unix.SYS_MOUNT_SETATTR,

	unix.SYS_FSCONFIG, unix.SYS_FSPICK, unix.SYS_ACCT, unix.SYS_ADD_KEY, unix.SYS_KEYCTL, unix.SYS_REQUEST_KEY,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_LOOKUP_DCOOKIE, unix.SYS_OPEN_BY_HANDLE_AT,
	unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD, unix.SYS_REBOOT,
	unix.SYS_CLOCK_SETTIME, unix.SYS_CLOCK_ADJTIME, unix.SYS_SETTIMEOFDAY, unix.SYS_SYSLOG,
	unix.SYS_GET_MEMPOLICY, unix.SYS_SET_MEMPOLICY, unix.SYS_MBIND, unix.SYS_MOVE_PAGES, unix.SYS_MIGRATE_PAGES,
	unix.SYS_KCMP, unix.SYS_PIDFD_GETFD, unix.SYS_QUOTACTL, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_VHANGUP,
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
}

// Enter makes the process behave as in an unprivileged container, if RunDegraded started
// it, or in a systemd unit, if RunInUnit did. Call it first in TestMain.
func Enter() {
	filter, err := program(), error(nil)
	mode := os.Getenv(degradedVariable)
	switch mode {
	case "enter":
	case "unit":
		filter = unitProgram()
	default:
		return
	}
	runtime.LockOSThread()
	if path := os.Getenv(profileVariable); path != "" {
		if err = dropToDocker(); err == nil {
			filter, err = readProfile(path)
		}
	}
	if err == nil {
		err = install(filter)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "cannot degrade the host:", err)
		os.Exit(1)
	}
	if err = os.Setenv(degradedVariable, map[string]string{"enter": "inside", "unit": "in unit"}[mode]); err == nil {
		err = syscall.Exec("/proc/self/exe", os.Args, os.Environ())
	}
	fmt.Fprintln(os.Stderr, "cannot continue on the degraded host:", err)
	os.Exit(1)
}

// Degraded reports whether Enter has restricted this process.
func Degraded() bool { return os.Getenv(degradedVariable) == "inside" }

// RunInUnit runs tests of the current binary again, without the call that systemd refuses
// to a unit with DynamicUser= or RestrictSUIDSGID=.
func RunInUnit(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		runAgain(t, name, os.Geteuid(), degradedVariable+"=unit")
	}
}

// RunDegraded runs one test of the current binary again, as in an unprivileged container
// and as the given user. That test must begin with
// `if !hosttest.Degraded() { t.Skip(…) }`.
func RunDegraded(t *testing.T, name string, uid int) {
	t.Helper()
	runAgain(t, name, uid, degradedVariable+"=enter")
}

// Ordinary is a user who is not root, with a home that also has the temporary files.
type Ordinary struct {
	uid  int
	home string
}

// OrdinaryUser returns this user, or another one if this is root.
func OrdinaryUser(t *testing.T) Ordinary {
	t.Helper()
	user := Ordinary{os.Geteuid(), openDirectory(t)}
	if user.uid == 0 {
		user.uid = 1000
	}
	return user
}

// Run runs one test of the current binary again, as this user.
func (o Ordinary) Run(t *testing.T, name string) {
	t.Helper()
	runAgain(t, name, o.uid, "HOME="+o.home, "TMPDIR="+o.home)
}

// RunDegraded does so as in an unprivileged container.
func (o Ordinary) RunDegraded(t *testing.T, name string) {
	t.Helper()
	runAgain(t, name, o.uid, "HOME="+o.home, "TMPDIR="+o.home, degradedVariable+"=enter")
}

func runAgain(t *testing.T, name string, uid int, env ...string) {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", "-test.run=^"+name+"$", "-test.v")
	cmd.Env = append(os.Environ(), append([]string{"TMPDIR=" + os.TempDir()}, env...)...)
	if uid != os.Geteuid() {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
	}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+name+" ") {
		t.Errorf("%s as uid %d with %q: %v\n%s", name, uid, env, err, Failures(string(out)))
	}
}

// openDirectory returns a directory that every user may read and write.
func openDirectory(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "cdn") // the path of a socket in it must be short
	if err == nil {
		err = os.Chmod(dir, 0o777|fs.ModeSticky)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// unitProgram returns a filter that gives ENOSYS for openat2, whose arguments a filter
// cannot see.
func unitProgram() []unix.SockFilter {
	return []unix.SockFilter{
		load(0), // offsetof(struct seccomp_data, nr)
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_OPENAT2, Jf: 1},
		answer(unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)),
		answer(unix.SECCOMP_RET_ALLOW),
	}
}

// program returns a filter that gives EPERM for the calls above and for clone with a
// namespace flag, and ENOSYS for clone3, whose flags a filter cannot see. Everything else
// passes.
func program() []unix.SockFilter {
	const (
		loadNumber = 0  // offsetof(struct seccomp_data, nr)
		loadFlags  = 16 // offsetof(struct seccomp_data, args[0]), low half
		newFlags   = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET |
			unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP
	)
	unlessEqual := func(value uint32, skip uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: value, Jf: skip}
	}
	denied := answer(unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM))
	p := []unix.SockFilter{load(loadNumber)}
	for _, nr := range deniedInContainers {
		p = append(p, unlessEqual(nr, 1), denied)
	}
	return append(p,
		unlessEqual(unix.SYS_CLONE3, 1), answer(unix.SECCOMP_RET_ERRNO|uint32(unix.ENOSYS)),
		unlessEqual(unix.SYS_CLONE, 3), load(loadFlags),
		unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, K: newFlags, Jf: 1}, denied,
		answer(unix.SECCOMP_RET_ALLOW),
	)
}

func load(offset uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
}

func answer(action uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: action}
}
