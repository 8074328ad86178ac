package confine

import (
	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/landlock"
)

// lateWalls are the walls that the child of an init sets up before it executes the command:
// without a pid namespace, only they keep the command from killing the init.
//
// The init must be able to kill all processes of the command with one call, which no fork can
// escape. With scopes of Landlock (Linux 6.12), the init has a domain of its own around that
// of the command, and so kill(-1) reaches the command's processes and nothing else. Without
// them, the command gets a process group that its processes cannot leave (see the profile
// Unscoped of package seccomp).
type lateWalls struct {
	ruleset       bool
	scoped        bool
	mode          SeccompMode
	filter, extra []byte
	waitKillable  bool
	terminal      bool
	scratch       string
}

// newLateWalls returns nil for a command in a pid namespace, whose walls the init has too.
func newLateWalls(spec Spec) *lateWalls {
	if spec.Command == nil || spec.Plan.Namespaces&CloneNewPID != 0 {
		return nil
	}
	c, abi := spec.Command, spec.Plan.Landlock
	return &lateWalls{
		ruleset: abi > 0, scoped: landlock.Scoped(abi), mode: spec.Plan.Seccomp, filter: c.Filter, extra: c.Extra,
		waitKillable: abi >= 2, // both are in Linux 5.19
		terminal:     c.Terminal, scratch: c.Scratch,
	}
}

// adoptOrphans makes the child the parent of all orphans that it will have, and asks for SIGTERM
// when the Runner dies. Signals are blocked, so that only the init's code decides what happens
// then. At last it enters its own domain.
func (p *program) adoptOrphans(late *lateWalls) {
	p.call(unix.SYS_RT_SIGPROCMASK, 0, keep(p, &[1]uint64{^uint64(0)}), 0, 8)
	p.call(unix.SYS_PRCTL, unix.PR_SET_CHILD_SUBREAPER, 1)
	p.call(unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, uintptr(unix.SIGTERM))
	if late.scoped {
		p.landlock(landlock.Scope(), nil)
	}
}

// initArguments are the arguments of an init: a program that removes what the Runner would have
// removed.
func (w *lateWalls) initArguments() []string {
	if w == nil {
		return nil
	}
	return []string{"/bin/rm", "-rf", "--", w.scratch}
}

// add adds the calls for the walls. The command has its own session, so that a signal to its
// process group does not reach the init.
func (w *lateWalls) add(o *order) {
	const setModeFilter, newListener, waitKillable, setMask = 1, 1 << 3, 1 << 5, 2
	target := 0 // the group of the command
	if w.scoped {
		target = -1
	}
	o.wait(1<<(unix.SIGCHLD-1)|1<<(unix.SIGTERM-1)|1<<(unix.SIGUSR1-1), target)
	o.call("signals", unix.SYS_RT_SIGPROCMASK, setMask, o.words(0), 0, 8)
	o.call("session", unix.SYS_SETSID)
	if w.terminal {
		o.call("terminal", unix.SYS_IOCTL, 0, unix.TIOCSCTTY, 0)
	}
	o.call("descriptors", unix.SYS_CLOSE_RANGE, initControlFD, 1<<31-1, unix.CLOSE_RANGE_CLOEXEC)
	listener := rulesetFD // the first free number
	if w.ruleset {
		o.call("landlock", unix.SYS_LANDLOCK_RESTRICT_SELF, rulesetFD, 0)
		listener++
	}
	if w.extra != nil {
		o.call("seccomp", unix.SYS_SECCOMP, setModeFilter, 0, o.filter(w.extra))
	}
	var gifts []int
	switch w.mode {
	case SeccompErrno:
		o.call("seccomp", unix.SYS_SECCOMP, setModeFilter, 0, o.filter(w.filter))
	case SeccompNotify:
		flags := uint64(newListener)
		if w.waitKillable { // a signal does not interrupt a call that the Runner is answering
			flags |= waitKillable
		}
		o.call("seccomp", unix.SYS_SECCOMP, setModeFilter, flags, o.filter(w.filter))
		gifts = []int{listener}
	}
	// Before this, the process group by which the init kills may not exist. If the Runner has
	// died, it fails, and the child ends.
	o.call("hand over", unix.SYS_SENDMSG, initControlFD, o.message(readyMark, gifts), unix.MSG_NOSIGNAL)
}

// filter adds a struct sock_fprog.
func (o *order) filter(program []byte) (address uint64) {
	o.align()
	return o.words(uint64(len(program)/8), o.add(program...))
}

// message adds a struct msghdr with one byte and descriptors.
func (o *order) message(mark byte, fds []int) (address uint64) {
	var rights []byte
	if len(fds) > 0 {
		rights = unix.UnixRights(fds...)
	}
	data := o.words(uint64(mark))
	vector := o.words(data, 1)
	o.align()
	control := o.add(rights...)
	return o.words(0, 0, vector, 1, control, uint64(len(rights)), 0)
}
