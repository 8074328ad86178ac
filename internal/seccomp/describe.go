package seccomp

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// Describe decodes a denied call of this machine for people: its name, and what
// its arguments say ("AF_INET, SOCK_STREAM"), "" where they say nothing. It looks
// at numbers only. Pointers are never followed: they lead into the guest's
// memory, which the guest can change while we read.
func Describe(nr int, args [6]uint64) (op, detail string) {
	op = Name(nr)
	if describe := details()[op]; describe != nil {
		detail = describe(args)
	}
	return op, detail
}

// field decodes one argument.
type field func(arg uint64) string

// in applies a field to an argument.
func in(arg int, f field) func([6]uint64) string {
	return func(args [6]uint64) string { return f(args[arg]) }
}

// list joins what several fields say, without those that say nothing.
func list(parts ...func([6]uint64) string) func([6]uint64) string {
	return func(args [6]uint64) string {
		var said []string
		for _, part := range parts {
			if s := part(args); s != "" {
				said = append(said, s)
			}
		}
		return strings.Join(said, ", ")
	}
}

// details says how to decode the arguments of calls that can be denied.
var details = sync.OnceValue(func() map[string]func([6]uint64) string {
	return map[string]func([6]uint64) string{
		"socket":      socketDetail,
		"socketpair":  socketDetail,
		"connect":     in(0, fd),
		"bind":        in(0, fd),
		"listen":      in(0, fd),
		"accept":      in(0, fd),
		"accept4":     in(0, fd),
		"sendto":      in(0, fd),
		"recvfrom":    in(0, fd),
		"sendmsg":     in(0, fd),
		"recvmsg":     in(0, fd),
		"sendmmsg":    in(0, fd),
		"recvmmsg":    in(0, fd),
		"setsockopt":  list(in(0, fd), socketOption),
		"getsockopt":  list(in(0, fd), socketOption),
		"clone":       in(0, cloneDetail),
		"unshare":     in(0, namespaceFlags),
		"setns":       list(in(0, fd), in(1, namespaceFlags)),
		"execveat":    in(0, fd),
		"ptrace":      list(in(0, one(ptraceRequests)), in(1, pid)),
		"kill":        list(in(0, pid), in(1, signal)),
		"tkill":       list(in(0, pid), in(1, signal)),
		"tgkill":      list(in(0, pid), in(1, numbered("tid ")), in(2, signal)),
		"fcntl":       list(in(0, fd), in(1, one(fcntlCommands))),
		"ioctl":       list(in(0, fd), in(1, one(ioctlRequests))),
		"prctl":       prctlDetail,
		"arch_prctl":  in(0, one(archOptions)),
		"prlimit64":   prlimitDetail,
		"setrlimit":   in(0, one(resources)),
		"mmap":        list(in(2, flags(protections, "PROT_NONE")), in(3, flags(mapFlags, ""))),
		"mprotect":    in(2, flags(protections, "PROT_NONE")),
		"personality": in(0, personalityDetail),
		"open":        in(2, mode),
		"openat":      in(3, mode),
		"creat":       in(1, mode),
		"chmod":       in(1, mode),
		"fchmod":      in(1, mode),
		"fchmodat":    in(2, mode),
		"fchmodat2":   in(2, mode),
		"mknod":       list(in(1, fileType), in(1, unusualMode)),
		"mknodat":     list(in(2, fileType), in(2, unusualMode)),
		"seccomp":     seccompDetail,
		"bpf":         in(0, numbered("command ")),
		"keyctl":      in(0, numbered("operation ")),
		"mount":       in(3, flags(mountFlags, "")),
		"umount2":     in(1, flags(umountFlags, "")),
		"setuid":      in(0, numbered("uid ")),
		"setgid":      in(0, numbered("gid ")),
		"setreuid":    list(in(0, numbered("uid ")), in(1, numbered("euid "))),
		"setregid":    list(in(0, numbered("gid ")), in(1, numbered("egid "))),
		"setresuid":   list(in(0, numbered("uid ")), in(1, numbered("euid ")), in(2, numbered("suid "))),
		"setresgid":   list(in(0, numbered("gid ")), in(1, numbered("egid ")), in(2, numbered("sgid "))),
		"setpgid":     in(0, pid),

		"rt_sigqueueinfo":    list(in(0, pid), in(1, signal)),
		"rt_tgsigqueueinfo":  list(in(0, pid), in(1, numbered("tid ")), in(2, signal)),
		"pidfd_open":         in(0, pid),
		"pidfd_getfd":        list(in(0, fd), in(1, numbered("target "))),
		"pidfd_send_signal":  list(in(0, fd), in(1, signal)),
		"process_vm_readv":   in(0, pid),
		"process_vm_writev":  in(0, pid),
		"perf_event_open":    in(1, pid),
		"memfd_create":       in(1, flags(memfdFlags, "")),
		"io_uring_setup":     in(0, numbered("entries ")),
		"setpriority":        list(in(1, numbered("who ")), in(2, numbered("priority "))),
		"sched_setaffinity":  in(0, pid),
		"sched_setscheduler": list(in(0, pid), in(1, policy)),
		"sched_setparam":     in(0, pid),
		"open_by_handle_at":  in(0, fd),
		"fanotify_init":      in(0, one(nil)),
	}
})

// number is an argument that the kernel reads as an int: the low half, signed.
func number(arg uint64) string { return strconv.Itoa(int(int32(uint32(arg)))) }

func fd(arg uint64) string  { return "fd " + number(arg) }
func pid(arg uint64) string { return "pid " + number(arg) }

func numbered(what string) field {
	return func(arg uint64) string { return what + number(arg) }
}

// one names a value of a closed set, in hexadecimal if it is not in it.
func one(set closedSet) field {
	return func(arg uint64) string {
		if name, ok := set.of(uint32(arg)); ok {
			return name
		}
		return fmt.Sprintf("%#x", uint32(arg))
	}
}

// bit is a flag with its name. Flags are slices, to be printed in order.
type bit struct {
	mask uint64
	name string
}

// flags names the bits that are set; what has no name stays a number.
func flags(set []bit, none string) field {
	return func(arg uint64) string {
		var said []string
		for _, b := range set {
			if arg&b.mask == b.mask {
				said = append(said, b.name)
				arg &^= b.mask
			}
		}
		if arg != 0 {
			said = append(said, fmt.Sprintf("%#x", arg))
		}
		if len(said) == 0 {
			return none
		}
		return strings.Join(said, "|")
	}
}

// named is a value of a closed set, "what N" if it is not in it.
func named(set closedSet, what string) field {
	return func(arg uint64) string {
		if name, ok := set.of(uint32(arg)); ok {
			return name
		}
		return what + " " + number(arg)
	}
}

func family(arg uint64) string { return named(families, "family")(arg) }
func policy(arg uint64) string { return named(schedPolicies, "policy")(arg &^ schedResetOnFork) }
func signal(arg uint64) string { return named(signals, "signal")(arg) }

// socketType leaves out SOCK_CLOEXEC and SOCK_NONBLOCK: every runtime sets
// them, and they say nothing about what the guest wanted.
func socketType(arg uint64) string {
	if name, ok := socketTypes.of(uint32(arg) & sockTypeMask); ok {
		return name
	}
	return "type " + number(arg)
}

// socketDetail names a protocol by the family that it belongs to. The default
// protocol goes without saying, except for netlink, where there is none: zero is
// the routes.
func socketDetail(args [6]uint64) string {
	said := family(args[0]) + ", " + socketType(args[1])
	set := protocols
	switch {
	case uint32(args[0]) == afNetlink:
		set = netlinkProtocols
	case uint32(args[2]) == 0:
		return said
	}
	return said + ", " + named(set, "protocol")(args[2])
}

// socketOption names an option by the level that it belongs to.
func socketOption(args [6]uint64) string {
	var options closedSet
	for _, of := range socketOptions {
		if of.level == uint32(args[1]) {
			options = of.names
		}
	}
	return named(socketLevels, "level")(args[1]) + ", " + named(options, "option")(args[2])
}

func seccompDetail(args [6]uint64) string {
	said := named(seccompOperations, "operation")(args[0])
	if with := flags(seccompFlags, "")(args[1]); with != "" {
		said += ", " + with
	}
	return said
}

// personalityDetail is a base personality in the low byte, and flags.
func personalityDetail(arg uint64) string {
	const baseMask = 0xff
	arg &= perQuery
	if arg == perQuery {
		return "query"
	}
	said := one(personalities)(arg & baseMask)
	if with := flags(personalityFlags, "")(arg &^ baseMask); with != "" {
		said += "|" + with
	}
	return said
}

// cloneDetail names the flags and then, as the kernel packs it, the signal that
// the parent would get at the child's end.
func cloneDetail(arg uint64) string {
	said := flags(cloneFlags, "")(arg &^ cloneSignalMask)
	if exit := arg & cloneSignalMask; exit != 0 {
		if said != "" {
			said += "|"
		}
		said += signal(exit)
	}
	return said
}

func namespaceFlags(arg uint64) string {
	return flags(append([]bit{{cloneNewTime, "CLONE_NEWTIME"}}, cloneFlags...), "")(arg)
}

func prctlDetail(args [6]uint64) string {
	option := one(prctlOptions)(args[0])
	if uint32(args[0]) == prSetPDeathSig {
		return option + ", " + signal(args[1])
	}
	return option
}

func prlimitDetail(args [6]uint64) string {
	verb := "read"
	if args[2] != 0 {
		verb = "set"
	}
	return fmt.Sprintf("%s %s, %s", verb, one(resources)(args[1]), pid(args[0]))
}

func fileType(arg uint64) string {
	const formatMask = 0o170000
	switch arg & formatMask {
	case 0o010000:
		return "FIFO"
	case 0o020000:
		return "character device"
	case 0o060000:
		return "block device"
	case 0o140000:
		return "socket"
	case 0, 0o100000:
		return "regular file"
	}
	return fmt.Sprintf("mode %#o", uint32(arg))
}

// unusualMode is one that could be the reason of a denial.
func unusualMode(v uint64) string {
	if v&runAsOwner == 0 {
		return ""
	}
	return mode(v)
}

func mode(v uint64) string { return fmt.Sprintf("mode %#o", uint32(v)&0o7777) }
