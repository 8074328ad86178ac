package confine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// Start starts a child that builds its walls and executes spec.Argv. The child continues
// after Start returns: the first message on Control is either the report of a failure
// (see Process.Failure) or the program's own.
//
// It returns when the child has its messages, which may wait for its program. If ctx ends
// before, so does the child.
func Start(ctx context.Context, spec Spec) (*Process, error) {
	if spec.Command != nil {
		spec.Plan.Root = slices.Clone(spec.Plan.Root)
		sortMounts(spec.Plan.Root)
	}
	var closing descriptorSet
	defer closing.close()
	have := belongings{}
	translated, err := have.openTrees(spec, &closing)
	if err != nil {
		return nil, err
	}
	spec.Plan.first = translated.owner
	if spec.Command == nil {
		if have.null, err = closing.add(unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0)); err != nil {
			return nil, err
		}
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("control socket: %w", err)
	}
	var theirEnd descriptorSet
	defer theirEnd.close()
	if have.control, err = theirEnd.add(pair[1], nil); err != nil {
		unix.Close(pair[0])
		return nil, err
	}
	if err := have.addCommand(spec.Command, &closing); err != nil {
		unix.Close(pair[0])
		return nil, err
	}
	var messages [][]byte
	var unwritten error
	process, err := cloneAndWatch(spec.Plan.Namespaces, func(parting int) *program {
		have.parting = parting
		return compile(spec, have)
	}, func() {
		if spec.Messages != nil {
			messages, unwritten = spec.Messages()
		}
	})
	if err != nil {
		unix.Close(pair[0])
		return nil, err
	}
	// The child has its own by now. As long as we have one, a message to a child that has died
	// waits for room forever.
	theirEnd.close()
	process.Control, process.late = pair[0], newLateWalls(spec)
	stop := context.AfterFunc(ctx, process.Kill)
	defer stop()
	if err = unwritten; err == nil {
		err = process.release(spec, translated, messages)
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil {
		process.Kill()
		process.Wait()
		unix.Close(process.Control)
		return nil, err
	}
	return process, nil
}

// cloneAndWatch starts a child on a thread that lives as long as the child: the parent
// death signal is sent when the thread that started the child ends, and Go may end any
// other thread. The child makes the calls of the program that build returns, which writes
// to the given pipe when it has none of our descriptors except those it was given.
//
// No other fork may happen until then: a file cannot be executed while it is open for
// writing anywhere. After the lock is released, programs that were written before can be
// executed.
//
// It calls meanwhile before it waits: a clone with namespaces takes about a millisecond.
func cloneAndWatch(namespaces uintptr, build func(parting int) *program, meanwhile func()) (*Process, error) {
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
		return nil, fmt.Errorf("pipe: %w", err)
	}
	defer unix.Close(pipe[0])
	var theirs descriptorSet
	parting, err := theirs.add(pipe[1], nil)
	if err != nil {
		theirs.close()
		return nil, err
	}
	p := build(parting)
	process := &Process{Init: Init{program: p}, ended: make(chan struct{})}
	cloned := make(chan syscall.Errno, 1)
	syscall.ForkLock.Lock()
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with this function
		errno := p.fork(namespaces)
		theirs.close() // ends the pipe if there is no child, or if it died
		cloned <- errno
		if errno == 0 {
			process.reap(int(p.pid))
		}
	}()
	meanwhile()
	for {
		if _, err := unix.Read(pipe[0], make([]byte, 1)); err != unix.EINTR {
			break
		}
	}
	syscall.ForkLock.Unlock()
	if process.Pid = int(p.pid); process.Pid == 0 {
		return nil, setupError("clone", <-cloned, namespaces != 0)
	}
	return process, nil
}

// release maps the child's ids, lets it continue, and queues the messages that the
// program will read.
func (p *Process) release(spec Spec, translated translation, messages [][]byte) error {
	if spec.Command != nil && spec.Command.Join != nil {
		if err := spec.Command.Join(p.Pid); err != nil {
			return err
		}
	}
	if err := p.mapIDs(spec.Plan); err != nil {
		return setupError("clone", err, true)
	}
	if err := translated.apply(p, spec.Plan); err != nil {
		return err
	}
	for _, message := range append([][]byte{{0}}, messages...) {
		if err := unix.Send(p.Control, message, unix.MSG_NOSIGNAL); err != nil {
			return fmt.Errorf("control socket: %w", err)
		}
	}
	return nil
}

// mapIDs maps exactly one id, an unprivileged one, into the user namespace.
func (p *Process) mapIDs(plan Plan) error {
	if plan.Namespaces == 0 {
		return nil
	}
	inside := plan.building()
	setgroups := "deny" // otherwise only root may write the map
	if plan.DropGroups {
		setgroups = "allow"
	}
	for _, file := range []struct{ name, text string }{
		{"setgroups", setgroups},
		{"uid_map", fmt.Sprintf("%d %d 1\n", inside.uid, plan.UID)},
		{"gid_map", fmt.Sprintf("%d %d 1\n", inside.gid, plan.GID)},
	} {
		fd, err := unix.Open("/proc/"+strconv.Itoa(p.Pid)+"/"+file.name, unix.O_WRONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return err
		}
		_, err = unix.Write(fd, []byte(file.text))
		unix.Close(fd)
		if err != nil {
			return err
		}
	}
	return nil
}

// openTrees opens the binds of the private root while we are still root: the child will
// be nobody, and the interpreter may be below a directory that nobody cannot enter. Other
// users have the same rights in the child as here.
func (have *belongings) openTrees(spec Spec, closing *descriptorSet) (t translation, err error) {
	p := spec.Plan
	if !p.SwitchID || p.Namespaces&CloneNewNS == 0 {
		return t, nil
	}
	for _, m := range p.Root {
		if !m.bind() {
			continue
		}
		fd, err := closing.add(openTree(m))
		if err == nil {
			err = makePrivate(fd)
		}
		if err != nil {
			return t, setupError("open "+m.Path, err, !errors.Is(err, unix.ENOENT))
		}
		if m.MapOwner && spec.Command != nil {
			if err := t.add(fd, m, spec); err != nil {
				return t, err
			}
		}
		have.trees = append(have.trees, fd)
	}
	return t, nil
}

// makePrivate separates a copy of a mount from the host's. On most hosts (systemd) mounts are
// shared: what is mounted below one copy, such as a grant in a workspace, is mounted below
// all of them. A child in a user namespace of its own cannot make such copies.
func makePrivate(fd int) error {
	return unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, &unix.MountAttr{Propagation: unix.MS_PRIVATE})
}

// openTree opens one bind.
func openTree(m Mount) (int, error) {
	if !m.Exact {
		return unix.OpenTree(unix.AT_FDCWD, m.source(), treeFlags)
	}
	fd, err := openExactly(m.source())
	if err != nil {
		return -1, err
	}
	defer unix.Close(fd)
	return unix.OpenTree(fd, "", treeFlags|unix.AT_EMPTY_PATH)
}

// openExactly does the same as the method of program, in this process.
func openExactly(name string) (int, error) {
	fd, err := unix.Open("/", exactDirectory, 0)
	if err != nil {
		return -1, err
	}
	for part, flags := range exactParts(name) {
		next, err := unix.Openat(fd, part, int(flags), 0)
		unix.Close(fd)
		if err != nil {
			return -1, err
		}
		fd = next
	}
	return fd, nil
}

// treeFlags make a detached copy of a mount. The copy is recursive because the kernel
// refuses to uncover what a submount hides.
const treeFlags = unix.OPEN_TREE_CLONE | unix.OPEN_TREE_CLOEXEC | unix.AT_RECURSIVE

func (m Mount) source() string { return cmp.Or(m.Source, m.Path) }

func (m Mount) bind() bool {
	switch m.Kind {
	case BindDir, BindFile, BindDevice, WritableDir, WritableFile:
		return true
	}
	return false
}

// descriptorSet holds descriptors that the child inherits and that are not needed here
// afterwards.
type descriptorSet []int

// add adds a new descriptor. It gets another number if the child will use its number.
func (s *descriptorSet) add(fd int, err error) (int, error) {
	if err != nil {
		return -1, err
	}
	*s = append(*s, fd)
	if fd < firstInherited {
		if fd, err = unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, firstInherited); err != nil {
			return -1, err
		}
		*s = append(*s, fd)
	}
	if fd >= firstReserved && fd <= lastReserved {
		if fd, err = unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, lastReserved+1); err != nil {
			return -1, err
		}
		*s = append(*s, fd)
	}
	return fd, nil
}

func (s *descriptorSet) close() {
	for _, fd := range *s {
		unix.Close(fd)
	}
	*s = nil
}
