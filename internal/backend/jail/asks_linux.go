package jail

import (
	"cmp"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/hints"
	"github.com/cordon-sandbox/cordon/internal/notify"
	"github.com/cordon-sandbox/cordon/internal/seccomp"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// answers answers the calls that the filter of a command without namespaces passes to the
// Runner. Nothing of a guest's memory decides what the kernel then does: the Runner does it
// itself, or the decision depends only on registers.
type answers struct {
	guest *guest
	fd    int
}

// newAnswers prepares this goroutine to answer. It gets its own thread, which has the command's
// user for access to files: it must have no more rights than the command, and root without
// CAP_SYS_PTRACE, as in a container, could not look at the command otherwise. The thread ends
// with the goroutine. Without that user, nil denies every call.
func (g *guest) newAnswers(fd int) *answers {
	if !g.sandbox.shared() {
		return nil
	}
	runtime.LockOSThread()
	if g.backend.plan.SwitchID && !becomeForFiles(g.sandbox.user) {
		return nil
	}
	return &answers{guest: g, fd: fd}
}

// becomeForFiles changes the groups and the user of this thread for access to files. The last
// two calls report no error; with an impossible id they return the current one.
func becomeForFiles(user ids) bool {
	if _, _, errno := unix.RawSyscall(unix.SYS_SETGROUPS, 0, 0, 0); errno != 0 {
		return false
	}
	become := func(call uintptr, id int) bool {
		const query = ^uintptr(0)
		_, _, _ = unix.RawSyscall(call, uintptr(id), 0, 0)
		now, _, _ := unix.RawSyscall(call, query, 0, 0)
		return int(now) == id
	}
	return become(unix.SYS_SETFSGID, user.gid) && become(unix.SYS_SETFSUID, user.uid)
}

// answer answers a call, or reports that it is to be denied.
func (a *answers) answer(q notify.Question) bool {
	if a == nil || !seccomp.Asked(q.NR, q.Args) {
		return false
	}
	switch name := seccomp.Name(q.NR); name {
	case "setsid":
		// No process may leave the group by which the init ends it. Programs that start
		// others in a session of their own can do without.
		status := readAt(a.guest.sandbox.Proc, strconv.Itoa(q.PID)+"/status")
		q.Return(a.fd, int(numberIn(status, "Tgid:")))
	case "setpgid":
		q.Succeed(a.fd)
	case "kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_open", "pidfd_send_signal":
		return a.signal(q, name)
	case "socket":
		return a.socket(q)
	case "connect":
		a.connect(q)
	default:
		c, known := changes[name]
		if known {
			a.changeFile(q, name, c)
		}
		return known
	}
	return true
}

// signal lets a command signal its own processes, where Landlock does not ensure that. A number
// that was checked could belong to another process an instant later, if all other numbers had
// been used up meanwhile.
func (a *answers) signal(q notify.Question, call string) bool {
	p, target := a.guest.sandbox.processes(), int(int32(q.Args[0]))
	switch {
	case call == "pidfd_send_signal":
		return a.signalDescriptor(q, target)
	case target == 0 && call == "kill": // the group of the caller
	case target > 0 && p.has(target):
	case target < -1 && call == "kill" && p.has(-target):
		a.respond(q, signalTree(processes{p.proc, -target}, unix.Signal(q.Args[1])))
		return true
	default:
		return false
	}
	q.Continue(a.fd)
	return true
}

// signalTree signals a process and its descendants. A program that wants to signal a group
// believes that they are one.
func signalTree(p processes, signal unix.Signal) (err error) {
	p.each(func(_ int, name string) {
		pid, _ := strconv.Atoi(name) // the kernel's list has numbers
		err = cmp.Or(err, unix.Kill(pid, signal))
	})
	return err
}

// signalDescriptor sends a signal itself: another thread of the guest could replace the
// descriptor after the check.
func (a *answers) signalDescriptor(q notify.Question, fd int) bool {
	p := a.guest.sandbox.processes()
	info := readAt(p.proc, strconv.Itoa(q.PID)+"/fdinfo/"+strconv.Itoa(fd))
	target := int(numberIn(info, "Pid:"))
	if target <= 0 || q.Args[2] != 0 {
		return false // not a descriptor of a process, or with values that we cannot send
	}
	ours, err := unix.PidfdOpen(target, 0)
	if err == nil {
		defer unix.Close(ours)
		if !p.has(target) {
			return false
		}
		err = unix.PidfdSendSignal(ours, unix.Signal(q.Args[1]), nil, 0)
	}
	a.respond(q, err)
	return true
}

// respond answers with the result of what the Runner did.
func (a *answers) respond(q notify.Question, err error) {
	if err == nil {
		q.Succeed(a.fd)
		return
	}
	errno, ok := err.(unix.Errno)
	if !ok {
		errno = unix.EPERM
	}
	q.Refuse(a.fd, errno)
}

// deny refuses a call and reports it.
func (a *answers) deny(q notify.Question, errno unix.Errno, v run.Violation) {
	a.guest.report(v) // before the answer, which may let the guest end
	q.Refuse(a.fd, errno)
}

// fileViolation is the attempt to change a file of the host.
func fileViolation(op, path string) run.Violation {
	return hints.Give(run.Violation{Wall: policy.WallLandlock, Op: op, Detail: path}, "host_file", nil)
}
