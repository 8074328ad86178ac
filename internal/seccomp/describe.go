package seccomp

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// Describe decodes a denied call of this machine for a report: its name, and a
// description of its arguments ("AF_INET, SOCK_STREAM"), which may be empty. It uses
// only the numbers. It never follows pointers, because the guest can change its memory
// while we read it.
func Describe(nr int, args [6]uint64) (op, detail string) {
	op = Name(nr)
	if describe := details()[op]; describe != nil {
		detail = describe(args)
	}
	return op, detail
}

// field describes one argument.
type field func(arg uint64) string

// argument applies a field to an argument.
func argument(arg int, f field) func([6]uint64) string {
	return func(args [6]uint64) string { return f(args[arg]) }
}

// list joins the descriptions that are not empty.
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

// details has the decoders for the arguments of calls that can be denied.
var details = sync.OnceValue(func() map[string]func([6]uint64) string {
	return map[string]func([6]uint64) string{
		"socket":      socketDetail,
		"socketpair":  socketDetail,
		"connect":     argument(0, fd),
		"bind":        argument(0, fd),
		"listen":      argument(0, fd),
		"accept":      argument(0, fd),
		"accept4":     argument(0, fd),
		"sendto":      argument(0, fd),
		"recvfrom":    argument(0, fd),
		"sendmsg":     argument(0, fd),
		"recvmsg":     argument(0, fd),
		"sendmmsg":    argument(0, fd),
		"recvmmsg":    argument(0, fd),
		"setsockopt":  list(argument(0, fd), socketOption),
		"getsockopt":  list(argument(0, fd), socketOption),
		"clone":       argument(0, cloneDetail),
		"unshare":     argument(0, namespaceFlags),
		"setns":       list(argument(0, fd), argument(1, namespaceFlags)),
		"execveat":    argument(0, fd),
		"ptrace":      list(argument(0, one(ptraceRequests)), argument(1, pid)),
		"kill":        list(argument(0, pid), argument(1, signal)),
		"tkill":       list(argument(0, pid), argument(1, signal)),
		"tgkill":      list(argument(0, pid), argument(1, numbered("tid ")), argument(2, signal)),
		"fcntl":       list(argument(0, fd), argument(1, one(fcntlCommands))),
		"ioctl":       list(argument(0, fd), argument(1, one(ioctlRequests))),
		"prctl":       prctlDetail,
		"arch_prctl":  argument(0, one(archOptions)),
		"prlimit64":   prlimitDetail,
		"setrlimit":   argument(0, one(resources)),
		"mmap":        list(argument(2, flags(protections, "PROT_NONE")), argument(3, flags(mapFlags, ""))),
		"mprotect":    argument(2, flags(protections, "PROT_NONE")),
		"personality": argument(0, personalityDetail),
		"open":        argument(2, mode),
		"openat":      argument(3, mode),
		"creat":       argument(1, mode),
		"chmod":       argument(1, mode),
		"fchmod":      argument(1, mode),
		"fchmodat":    argument(2, mode),
		"fchmodat2":   argument(2, mode),
		"mknod":       list(argument(1, fileType), argument(1, unusualMode)),
		"mknodat":     list(argument(2, fileType), argument(2, unusualMode)),
		"seccomp":     seccompDetail,
		"bpf":         argument(0, numbered("command ")),
		"keyctl":      argument(0, numbered("operation ")),
		"mount":       argument(3, flags(mountFlags, "")),
		"umount2":     argument(1, flags(umountFlags, "")),
		"setuid":      argument(0, numbered("uid ")),
		"setgid":      argument(0, numbered("gid ")),
		"setreuid":    list(argument(0, numbered("uid ")), argument(1, numbered("euid "))),
		"setregid":    list(argument(0, numbered("gid ")), argument(1, numbered("egid "))),
		"setresuid":   list(argument(0, numbered("uid ")), argument(1, numbered("euid ")), argument(2, numbered("suid "))),
		"setresgid":   list(argument(0, numbered("gid ")), argument(1, numbered("egid ")), argument(2, numbered("sgid "))),
		"setpgid":     argument(0, pid),

		"rt_sigqueueinfo":    list(argument(0, pid), argument(1, signal)),
		"rt_tgsigqueueinfo":  list(argument(0, pid), argument(1, numbered("tid ")), argument(2, signal)),
		"pidfd_open":         argument(0, pid),
		"pidfd_getfd":        list(argument(0, fd), argument(1, numbered("target "))),
		"pidfd_send_signal":  list(argument(0, fd), argument(1, signal)),
		"process_vm_readv":   argument(0, pid),
		"process_vm_writev":  argument(0, pid),
		"perf_event_open":    argument(1, pid),
		"memfd_create":       argument(1, flags(memfdFlags, "")),
		"io_uring_setup":     argument(0, numbered("entries ")),
		"setpriority":        list(argument(1, numbered("who ")), argument(2, numbered("priority "))),
		"sched_setaffinity":  argument(0, pid),
		"sched_setscheduler": list(argument(0, pid), argument(1, schedulingPolicy)),
		"sched_setparam":     argument(0, pid),
		"open_by_handle_at":  argument(0, fd),
		"fanotify_init":      argument(0, one(nil)),
	}
})

// number describes an argument that the kernel reads as an int: the low half, signed.
func number(arg uint64) string { return strconv.Itoa(int(int32(uint32(arg)))) }

func fd(arg uint64) string  { return "fd " + number(arg) }
func pid(arg uint64) string { return "pid " + number(arg) }

func numbered(what string) field {
	return func(arg uint64) string { return what + number(arg) }
}

// one describes a value by its name in the set, or in hexadecimal.
func one(set closedSet) field {
	return func(arg uint64) string {
		if name, ok := set.name(uint32(arg)); ok {
			return name
		}
		return fmt.Sprintf("%#x", uint32(arg))
	}
}

// bit is a flag with its name. Sets of flags are slices, so that they print in order.
type bit struct {
	mask uint64
	name string
}

// flags describes the set bits by their names, and bits without a name as a number.
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

// named describes a value by its name in the set, or as "what N".
func named(set closedSet, what string) field {
	return func(arg uint64) string {
		if name, ok := set.name(uint32(arg)); ok {
			return name
		}
		return what + " " + number(arg)
	}
}

func family(arg uint64) string { return named(families, "family")(arg) }
func schedulingPolicy(arg uint64) string {
	return named(schedPolicies, "policy")(arg &^ schedResetOnFork)
}
func signal(arg uint64) string { return named(signals, "signal")(arg) }

// socketType omits SOCK_CLOEXEC and SOCK_NONBLOCK: every runtime sets them, and they do
// not show what the guest wanted.
func socketType(arg uint64) string {
	if name, ok := socketTypes.name(uint32(arg) & sockTypeMask); ok {
		return name
	}
	return "type " + number(arg)
}

// socketDetail names a protocol by its family. It omits the default protocol, except for
// netlink, which has none: zero is NETLINK_ROUTE.
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

// socketOption names an option by its level.
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

// personalityDetail describes the base personality, in the low byte, and the flags.
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

// cloneDetail describes the flags, and the signal to the parent at the child's end, which
// the kernel expects in the same argument.
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

// unusualMode describes a mode only if it can be the reason of a denial.
func unusualMode(v uint64) string {
	if v&runAsOwner == 0 {
		return ""
	}
	return mode(v)
}

func mode(v uint64) string { return fmt.Sprintf("mode %#o", uint32(v)&0o7777) }
