package jail

import (
	"encoding/json"
	"errors"
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// Start sends the child on its way: it builds its walls and executes
// spec.Argv. That goes on after Start returns: the first message on Control is
// either a SetupError (see ParseFailure) or the program's own.
func (e *Embryo) Start(spec Spec) (*Process, error) {
	trees, err := openTrees(spec.Plan)
	defer func() {
		for _, fd := range trees {
			unix.Close(fd)
		}
	}()
	if err == nil {
		err = e.send(spec, trees)
	}
	if err != nil {
		e.Abort()
		return nil, err
	}
	return e.process, nil
}

// send gives the child its plan with the mount trees, and queues behind it
// what the program will read.
func (e *Embryo) send(spec Spec, trees []int) error {
	plan, err := json.Marshal(spec)
	if err != nil {
		return err
	}
	var rights []byte
	if len(trees) > 0 {
		rights = unix.UnixRights(trees...)
	}
	if err := unix.Sendmsg(e.process.Control, plan, rights, nil, unix.MSG_NOSIGNAL); err != nil {
		return fmt.Errorf("send the plan: %w", err)
	}
	for _, message := range spec.Messages {
		if err := unix.Send(e.process.Control, message, unix.MSG_NOSIGNAL); err != nil {
			return fmt.Errorf("send what follows the plan: %w", err)
		}
	}
	return nil
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
