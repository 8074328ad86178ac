package jail

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// childName is the argv[0] by which a re-executed binary knows that it is
// the child. See RATIONALE.md, "Why does the library re-execute its host?"
const childName = "cordon-jail"

// Process is a program behind its walls, with its control socket.
type Process struct {
	*os.Process
	// Control is our end of a SOCK_SEQPACKET pair; the program has the other
	// as ControlFD.
	Control int
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
	theirs := os.NewFile(uintptr(pair[1]), "control")
	defer theirs.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		unix.Close(pair[0])
		return nil, err
	}
	defer null.Close()

	files := []*os.File{null, null, null, theirs}
	trees, err := openTrees(spec.Plan)
	defer func() {
		for _, t := range trees {
			t.Close()
		}
	}()
	if err != nil {
		unix.Close(pair[0])
		return nil, err
	}
	spec.Trees = len(trees)
	files = append(files, trees...)

	process, err := os.StartProcess("/proc/self/exe", []string{childName}, &os.ProcAttr{
		Env: []string{}, Files: files, Sys: attributes(spec.Plan),
	})
	if err != nil {
		unix.Close(pair[0])
		return nil, &SetupError{Step: "clone", Cause: cause(err), Namespace: spec.Plan.Namespaces != 0}
	}
	message, err := json.Marshal(spec)
	if err == nil {
		err = unix.Send(pair[0], message, unix.MSG_NOSIGNAL)
	}
	if err != nil {
		unix.Close(pair[0])
		_ = process.Kill() // it has nothing to do without a plan
		_, _ = process.Wait()
		return nil, fmt.Errorf("send the plan: %w", err)
	}
	return &Process{Process: process, Control: pair[0]}, nil
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
func openTrees(p Plan) ([]*os.File, error) {
	if !p.SwitchID || p.Namespaces&CloneNewNS == 0 {
		return nil, nil
	}
	var trees []*os.File
	for _, m := range p.Root {
		if !m.bind() {
			continue
		}
		fd, err := openTree(m.Path)
		if err != nil {
			return trees, &SetupError{Step: "open " + m.Path, Cause: cause(err), Namespace: !errors.Is(err, unix.ENOENT)}
		}
		trees = append(trees, os.NewFile(uintptr(fd), m.Path))
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
