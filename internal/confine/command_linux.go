package confine

import (
	"fmt"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/landlock"
)

// addCommand adds the descriptors that the child inherits for its command.
func (have *belongings) addCommand(c *Command, closing *descriptorSet) (err error) {
	if c == nil {
		return nil
	}
	if len(c.Kept) > maxKept {
		return fmt.Errorf("%d descriptors to keep, at most %d are possible", len(c.Kept), maxKept)
	}
	for i, fd := range c.Streams {
		if have.streams[i], err = closing.addCopy(fd); err != nil {
			return err
		}
	}
	for _, list := range []struct {
		theirs []int
		copies *[]int
	}{{c.Groups, &have.groups}, {c.Kept, &have.kept}} {
		for _, fd := range list.theirs {
			if fd, err = closing.addCopy(fd); err != nil {
				return err
			}
			*list.copies = append(*list.copies, fd)
		}
	}
	have.init, err = closing.addCopy(c.Init)
	return err
}

func (s *descriptorSet) addCopy(fd int) (int, error) {
	return s.add(unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, firstInherited))
}

// commandDescriptors leaves the standard streams open, and what is needed until the
// command is executed; the rest is closed then.
func (p *program) commandDescriptors(plan Plan, have belongings) {
	p.call(unix.SYS_DUP3, uintptr(have.control), ControlFD, unix.O_CLOEXEC)
	p.call(unix.SYS_DUP3, uintptr(have.init), initFD, unix.O_CLOEXEC)
	for i, fd := range have.streams {
		p.call(unix.SYS_DUP3, uintptr(fd), uintptr(i), 0)
	}
	if plan.Environment {
		p.closeAllBut(3, slices.Concat([]int{ControlFD, initFD, have.control, have.parting}, have.trees, have.groups, have.kept)...)
	}
}

// command adds the calls that follow the finished root.
func (p *program) command(spec Spec, have belongings) {
	c := spec.Command
	var gifts gifts
	p.step("network", true)
	if spec.Plan.Namespaces&CloneNewNet != 0 {
		p.bringUpLoopback()
		if c.ProxyPort != 0 {
			p.listen(c.ProxyPort, gifts.add())
		}
	}
	p.step("open /proc", true)
	p.give("/proc", gifts.add())
	if c.MakeScratch {
		p.step("make "+c.Scratch, false)
		p.call(unix.SYS_MKDIRAT, atCWD, p.text(c.Scratch), 0o700)
	}
	p.step("open "+c.Scratch, true)
	p.give(c.Scratch, gifts.add())
	if c.NewTerminal {
		p.step("new terminal", true)
		p.newTerminal(gifts.add())
	}
	// The cgroup namespace that hides the groups is created inside them.
	p.step("cgroup", false)
	for _, fd := range have.groups {
		p.call(unix.SYS_WRITE, uintptr(fd), p.text("0"), 1)
	}
	if c.CgroupNamespace {
		p.call(unix.SYS_UNSHARE, CloneNewCgroup)
	}
	// Before the user changes: this one may enter the directory.
	p.step("enter "+c.Dir, false)
	p.call(unix.SYS_CHDIR, p.text(c.Dir))

	if spec.Plan.first != nil {
		p.step("own user namespace", true)
		p.enterOwnUserNamespace(spec.Plan)
	}
	p.dropPrivileges(spec)
	late := newLateWalls(spec)
	p.step("landlock", false)
	if spec.Plan.Landlock > 0 {
		p.landlock(c.Landlock, late)
	}
	// The command will have our user.
	if !p.shared {
		p.step("hide", false)
		p.hide()
	}
	// After the last change of the user, which clears it.
	p.step("die with the Runner", false)
	if late != nil {
		p.adoptOrphans(late)
	} else {
		p.call(unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL))
		if c.Terminal {
			p.step("terminal", false)
			p.call(unix.SYS_IOCTL, 0, unix.TIOCSCTTY, 0)
		}
		p.step("seccomp", false)
		p.seccomp(spec.Plan.Seccomp, c.Filter, &gifts)
	}
	// This fails if the Runner died before the death signal was set.
	p.step("hand over", false)
	p.send(gifts, late)
	// The init gets these limits too, and the command inherits them. Not before: the
	// gifts have numbers above what a command may use.
	p.step("limits", false)
	for _, l := range c.Limits {
		p.limit(uintptr(l.Resource), atMost(l))
	}
	p.step("init", false)
	p.call(unix.SYS_DUP3, ControlFD, initControlFD, 0)
	stay := []int{initFD, have.control}
	for i, fd := range have.kept {
		p.call(unix.SYS_DUP3, uintptr(fd), uintptr(FirstKeptFD+i), 0)
		stay = append(stay, FirstKeptFD+i)
	}
	if late != nil && late.ruleset {
		p.call(unix.SYS_DUP3, lateFD, rulesetFD, 0)
		stay = append(stay, rulesetFD)
	}
	p.closeAllBut(FirstKeptFD, stay...)
	p.call(unix.SYS_EXECVEAT, initFD, p.text(""), p.texts(append([]string{"cordon-init"}, late.initArguments()...)), p.texts(nil), unix.AT_EMPTY_PATH)
}

// atMost lowers a limit to what may be set: the Runner's own limits cannot be exceeded.
func atMost(l Limit) uint64 {
	var have unix.Rlimit
	if unix.Getrlimit(l.Resource, &have) != nil {
		return l.Value // the child reports the error
	}
	return min(l.Value, have.Max)
}

// gifts are descriptors that are sent to the Runner, in this order.
type gifts int

func (g *gifts) add() (fd uintptr) {
	*g++
	return firstGiftFD + uintptr(*g) - 1
}

// give opens a directory for the Runner.
func (p *program) give(name string, fd uintptr) {
	p.open(name, unix.O_PATH|unix.O_DIRECTORY, 0)
	p.move(p.last(), fd)
}

// move gives the result of an earlier call a fixed descriptor number.
func (p *program) move(lender int, fd uintptr) {
	p.call(unix.SYS_DUP3, 0, fd, unix.O_CLOEXEC).borrow(lender, 0)
	p.call(unix.SYS_CLOSE, 0).borrow(lender, 0)
}

func (p *program) send(g gifts, late *lateWalls) {
	data := &[1]byte{readyMark}
	fds := make([]int, g)
	for i := range fds {
		fds[i] = firstGiftFD + i
	}
	rights := unix.UnixRights(fds...)
	vector := &unix.Iovec{Base: &data[0], Len: 1}
	message := &unix.Msghdr{Iov: vector, Iovlen: 1, Control: &rights[0]}
	message.SetControllen(len(rights))
	sent := p.call(unix.SYS_SENDMSG, ControlFD, keep(p, message), unix.MSG_NOSIGNAL)
	if late != nil {
		sent.accept(unix.EPIPE) // without a Runner, the init cleans up
	}
	p.call(unix.SYS_CLOSE_RANGE, firstGiftFD, firstGiftFD+uintptr(g)-1, 0)
}

// interfaceRequest is struct ifreq of <linux/if.h>.
type interfaceRequest struct {
	name  [unix.IFNAMSIZ]byte
	flags uint16
	_     [22]byte
}

// newTerminal makes a terminal inside the sandbox, and gives the Runner its end.
func (p *program) newTerminal(fd uintptr) {
	p.open("/dev/pts/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK, 0)
	ours := p.last()
	p.call(unix.SYS_IOCTL, 0, unix.TIOCSPTLCK, keep(p, new(int32))).borrow(ours, 0)
	p.call(unix.SYS_IOCTL, 0, unix.TIOCGPTPEER, unix.O_RDWR|unix.O_NOCTTY).borrow(ours, 0)
	theirs := p.last()
	for stream := range uintptr(3) {
		p.call(unix.SYS_DUP3, 0, stream, 0).borrow(theirs, 0)
	}
	p.call(unix.SYS_CLOSE, 0).borrow(theirs, 0)
	p.move(ours, fd)
}

func (p *program) bringUpLoopback() {
	lo := &interfaceRequest{flags: unix.IFF_UP | unix.IFF_RUNNING}
	copy(lo.name[:], "lo")
	p.call(unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	socket := p.last()
	p.call(unix.SYS_IOCTL, 0, unix.SIOCSIFFLAGS, keep(p, lo)).borrow(socket, 0)
	p.call(unix.SYS_CLOSE, 0).borrow(socket, 0)
}

// listen makes the socket on which the guest reaches the Runner's proxy. The Runner
// accepts on it from outside: a socket stays in the network namespace in which it was
// made.
func (p *program) listen(port int, fd uintptr) {
	address := &unix.RawSockaddrInet4{Family: unix.AF_INET, Port: uint16(port>>8 | port&0xff<<8), Addr: [4]byte{127, 0, 0, 1}}
	p.call(unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	socket := p.last()
	// The host's default congestion control may pace what it sends, which makes no sense
	// on a loopback: BBR costs a quarter of the throughput. Every kernel has Reno.
	p.call(unix.SYS_SETSOCKOPT, 0, unix.IPPROTO_TCP, unix.TCP_CONGESTION, p.text("reno"), uintptr(len("reno"))).borrow(socket, 0)
	p.call(unix.SYS_BIND, 0, keep(p, address), unix.SizeofSockaddrInet4).borrow(socket, 0)
	p.call(unix.SYS_LISTEN, 0, 1024).borrow(socket, 0)
	p.move(socket, fd)
}

// pathBeneath is struct landlock_path_beneath_attr; the kernel reads only the two fields.
type pathBeneath struct {
	access landlock.Access
	parent int32
}

// landlock makes a ruleset, and applies it unless that is done later.
func (p *program) landlock(set landlock.Ruleset, late *lateWalls) {
	const rulePathBeneath = 1
	attr := append([]uint64{}, set.Handled...)
	p.call(unix.SYS_LANDLOCK_CREATE_RULESET, keep(p, &attr[0]), uintptr(len(attr)*8), 0)
	ruleset := p.last()
	for _, rule := range set.Rules {
		beneath := &pathBeneath{access: rule.Access}
		p.step("landlock: open "+rule.Path, false)
		opened := p.openRule(rule)
		p.calls[opened].store = &beneath.parent
		p.call(unix.SYS_LANDLOCK_ADD_RULE, 0, rulePathBeneath, keep(p, beneath), 0).borrow(ruleset, 0)
		p.call(unix.SYS_CLOSE, 0).borrow(opened, 0)
	}
	p.step("enter landlock", false)
	if late != nil {
		p.move(ruleset, lateFD)
		return
	}
	p.call(unix.SYS_LANDLOCK_RESTRICT_SELF, 0, 0).borrow(ruleset, 0)
	p.call(unix.SYS_CLOSE, 0).borrow(ruleset, 0)
}

// openRule opens the path of a rule. A rule for a symlink itself grants nothing.
func (p *program) openRule(rule landlock.Rule) (opened int) {
	if rule.Exact {
		return p.openExactly(rule.Path)
	}
	p.call(unix.SYS_OPENAT, atCWD, p.text(rule.Path), unix.O_PATH|unix.O_CLOEXEC)
	return p.last()
}

func (p *program) seccomp(mode SeccompMode, filter []byte, g *gifts) {
	const setModeFilter, newListener = 1, 1 << 3
	if mode == SeccompOff {
		return
	}
	code := append([]byte{}, filter...)
	program := &filterProgram{length: uint16(len(code) / 8), code: keep(p, &code[0])}
	if mode == SeccompErrno {
		p.call(unix.SYS_SECCOMP, setModeFilter, 0, keep(p, program))
		return
	}
	p.call(unix.SYS_SECCOMP, setModeFilter, newListener, keep(p, program))
	p.move(p.last(), g.add())
}

// filterProgram is struct sock_fprog.
type filterProgram struct {
	length uint16
	code   uintptr
}
