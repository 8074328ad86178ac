package jail

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// childName is the argv[0] by which a re-executed binary knows that it is
// the child. See RATIONALE.md, "Why does the library re-execute its host?"
const childName = "cordon-jail"

// Birth is what must be decided before a child exists. The rest of a plan can
// wait until the child is there to carry it out.
type Birth struct {
	Namespaces uintptr
	UID, GID   int
	DropGroups bool
}

// Birth is the part of the plan that clone(2) carries out.
func (p Plan) Birth() Birth {
	return Birth{Namespaces: p.Namespaces, UID: p.UID, GID: p.GID, DropGroups: p.DropGroups}
}

// Embryo is a child that waits for its plan.
type Embryo struct {
	Birth   Birth
	process *Process
}

// Conceive clones the current binary into its namespaces. Its runtime starts
// while the caller still makes the plan.
func Conceive(b Birth) (*Embryo, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("control socket: %w", err)
	}
	defer unix.Close(pair[1])
	process, err := cloneAndWatch(b, pair[1])
	if err != nil {
		unix.Close(pair[0])
		return nil, err
	}
	process.Control = pair[0]
	return &Embryo{Birth: b, process: process}, nil
}

// Abort ends a child that is not needed after all.
func (e *Embryo) Abort() {
	e.process.Kill()
	e.process.Wait()
	unix.Close(e.process.Control)
}

// cloneAndWatch starts the child on a thread that lives as long as the child:
// a death signal that the program asks for is sent when the thread that
// started it ends, and Go may end any other.
func cloneAndWatch(b Birth, control int) (*Process, error) {
	type started struct {
		process *Process
		err     error
	}
	result := make(chan started)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends here
		p, err := clone(b, control)
		result <- started{p, err}
		if err == nil {
			p.reap()
		}
	}()
	r := <-result
	return r.process, r.err
}

// clone gives the child its descriptors where they will stay. The control
// socket has its final number from the beginning: to move it there later, the
// kernel would have to enlarge the table of descriptors under the child's
// threads, and wait milliseconds for all processors to agree.
// syscall.StartProcess is enough: os.StartProcess tries out pidfds first, at
// the price of another process.
func clone(b Birth, control int) (*Process, error) {
	null, err := unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(null)
	const none = ^uintptr(0)
	files := slices.Repeat([]uintptr{none}, ControlFD+1)
	files[0], files[1], files[2], files[ControlFD] = uintptr(null), uintptr(null), uintptr(null), uintptr(control)
	pid, _, err := syscall.StartProcess("/proc/self/exe", []string{childName}, &syscall.ProcAttr{
		Env: []string{}, Files: files, Sys: attributes(b),
	})
	if err != nil {
		return nil, &SetupError{Step: "clone", Cause: cause(err), Namespace: b.Namespaces != 0}
	}
	return &Process{Pid: pid, ended: make(chan struct{})}, nil
}

// attributes maps exactly one id, an unprivileged one, into the namespace.
func attributes(b Birth) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setsid: true}
	if b.Namespaces == 0 {
		return attr
	}
	attr.Cloneflags = b.Namespaces
	attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: Nobody, HostID: b.UID, Size: 1}}
	attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: Nobody, HostID: b.GID, Size: 1}}
	attr.GidMappingsEnableSetgroups = b.DropGroups
	attr.AmbientCaps = setupCapabilities
	return attr
}
