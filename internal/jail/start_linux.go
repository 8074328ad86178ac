package jail

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// childName is the argv[0] by which a re-executed binary knows that it is
// the child. See RATIONALE.md, "Why does the library re-execute its host?"
const childName = "cordon-jail"

// Process is a program behind its walls, with its control socket.
type Process struct {
	Pid int
	// Control is our end of a SOCK_SEQPACKET pair; the program has the other
	// as ControlFD.
	Control int

	mu     sync.Mutex // guards against a signal to a pid that was reaped
	reaped bool
	ended  chan struct{}
	status unix.WaitStatus
	usage  unix.Rusage
}

// Kill ends the process at once, if it is still there.
func (p *Process) Kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		_ = unix.Kill(p.Pid, unix.SIGKILL) // ESRCH: it is a zombie
	}
}

// Wait returns when the process is gone.
func (p *Process) Wait() (unix.WaitStatus, unix.Rusage) {
	<-p.ended
	return p.status, p.usage
}

func (p *Process) reap() {
	for unix.Waitid(unix.P_PID, p.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reaped = true
	for {
		if _, err := unix.Wait4(p.Pid, &p.status, 0, &p.usage); err != unix.EINTR {
			close(p.ended)
			return
		}
	}
}

// Start clones the current binary into the plan's namespaces, where it sets
// up the rest and executes spec.Argv. The set-up goes on after Start returns:
// the first message on Control is either a SetupError (see ParseFailure) or
// the program's own.
func Start(spec Spec) (*Process, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("control socket: %w", err)
	}
	defer unix.Close(pair[1])
	process, err := startAndWatch(&spec, pair)
	if err != nil {
		unix.Close(pair[0])
		return nil, err
	}
	process.Control = pair[0]
	return process, nil
}

// queue puts the plan and the messages into the socket before anybody is
// there to read them: nobody has to wait for us later.
func queue(spec *Spec, control int) error {
	plan, err := json.Marshal(spec)
	if err != nil {
		return err
	}
	for _, message := range append([][]byte{plan}, spec.Messages...) {
		if err := unix.Send(control, message, unix.MSG_NOSIGNAL|unix.MSG_DONTWAIT); err != nil {
			return fmt.Errorf("send the plan: %w", err)
		}
	}
	return nil
}

// startAndWatch starts the child on a thread that lives as long as the child:
// a death signal that the program asks for is sent when the thread that
// started it ends, and Go may end any other.
func startAndWatch(spec *Spec, pair [2]int) (*Process, error) {
	type started struct {
		process *Process
		err     error
	}
	result := make(chan started)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends here
		p, err := start(spec, pair)
		result <- started{p, err}
		if err == nil {
			p.reap()
		}
	}()
	r := <-result
	return r.process, r.err
}

// start clones the child with its descriptors where they will stay. The
// control socket has its final number from the beginning: to move it there
// later, the kernel would have to enlarge the table of descriptors under the
// child's threads, and wait milliseconds for all processors to agree.
// syscall.StartProcess is enough: os.StartProcess tries out pidfds first, at
// the price of another process.
func start(spec *Spec, pair [2]int) (*Process, error) {
	null, err := unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	trees, err := openTrees(spec.Plan)
	defer func() {
		unix.Close(null)
		for _, fd := range trees {
			unix.Close(fd)
		}
	}()
	if err != nil {
		return nil, err
	}
	spec.Trees = len(trees)
	if err := queue(spec, pair[0]); err != nil {
		return nil, err
	}
	const none = ^uintptr(0)
	files := slices.Repeat([]uintptr{none}, ControlFD+1)
	for i := range firstTree {
		files[i] = uintptr(null)
	}
	for i, fd := range trees {
		files[firstTree+i] = uintptr(fd)
	}
	files[ControlFD] = uintptr(pair[1])
	pid, _, err := syscall.StartProcess("/proc/self/exe", []string{childName}, &syscall.ProcAttr{
		Env: []string{}, Files: files, Sys: attributes(spec.Plan),
	})
	if err != nil {
		return nil, &SetupError{Step: "clone", Cause: cause(err), Namespace: spec.Plan.Namespaces != 0}
	}
	return &Process{Pid: pid, ended: make(chan struct{})}, nil
}

// attributes maps exactly one id, an unprivileged one, into the namespace.
func attributes(p Plan) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setsid: true}
	if p.Namespaces == 0 {
		return attr
	}
	attr.Cloneflags = p.Namespaces
	attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: Nobody, HostID: p.UID, Size: 1}}
	attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: Nobody, HostID: p.GID, Size: 1}}
	attr.GidMappingsEnableSetgroups = p.DropGroups
	attr.AmbientCaps = setupCapabilities
	return attr
}

// openTrees opens the binds of the private root while we are still root: the
// child will be nobody, and the interpreter may live below a folder that
// nobody can enter. Other users have the same rights in the child as here.
func openTrees(p Plan) ([]int, error) {
	if !p.SwitchID || p.Namespaces&CloneNewNS == 0 {
		return nil, nil
	}
	var trees []int
	for _, m := range p.Root {
		if !m.bind() {
			continue
		}
		fd, err := openTree(m.Path)
		if err != nil {
			return trees, &SetupError{Step: "open " + m.Path, Cause: cause(err), Namespace: !errors.Is(err, unix.ENOENT)}
		}
		trees = append(trees, fd)
	}
	return trees, nil
}

func (m Mount) bind() bool {
	return m.Kind == BindDir || m.Kind == BindFile || m.Kind == BindDevice
}

// openTree makes a detached copy of the mount at path. The copy is recursive
// because the kernel refuses to uncover what a submount hides.
func openTree(path string) (int, error) {
	return unix.OpenTree(unix.AT_FDCWD, path, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
}

// ParseFailure reads a SetupError from the first message of the child.
func ParseFailure(message []byte) (*SetupError, bool) {
	var failure struct{ Failure *SetupError }
	if json.Unmarshal(message, &failure) != nil || failure.Failure == nil {
		return nil, false
	}
	return failure.Failure, true
}

func cause(err error) string {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return fmt.Sprintf("%s (%s)", unix.ErrnoName(errno), errno.Error())
	}
	return err.Error()
}
