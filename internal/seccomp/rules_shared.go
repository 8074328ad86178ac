package seccomp

import "slices"

// sharedRules returns the allowlist for a command without namespaces: it shares processes,
// network and message queues with the host, often has the Runner's user, and only Landlock
// keeps it from files. The rules are those of a watched command, without what only a
// namespace confines. The Runner answers some calls itself (Ask), because the decision
// depends on which file, process or address they are about.
//
// scoped says that Landlock restricts signals to processes of the command. Otherwise the
// Runner does, and the command cannot leave its process group: the init ends it by that.
//
// Processes are not counted by the Runner: a signal would interrupt a fork that waits for an
// answer, and shells take that for a failure.
func sharedRules(scoped bool) []Group {
	groups := except(commandRules(false), needNamespaces)
	if !scoped {
		groups = except(groups, unscopedCalls)
		groups = append(groups,
			Group{"asked signals", Ask, calls(unscopedCalls...)})
	}
	return append(groups,
		// A priority of the process itself. Those of others might be the host's.
		Group{"own priority", Allow, []Rule{
			{"setpriority", Where{is(0, prioProcess), is(1, 0)}},
			{"ioprio_set", Where{is(0, ioprioProcess), is(1, 0)}},
			{"sched_setaffinity", Where{is(0, 0)}}, {"sched_setparam", Where{is(0, 0)}},
			{"sched_setscheduler", Where{is(0, 0), ignoring(1, schedResetOnFork, schedOther, schedBatch, schedIdle)}},
		}},

		// Landlock does not check these. Only files that the command may write.
		Group{"asked files", Ask, append(changePlainModes().Rules, calls(
			"chown", "fchown", "lchown", "fchownat", "utime", "utimes", "futimesat", "utimensat",
		)...)},
		Group{"attributes", NotSupported, calls(
			"setxattr", "lsetxattr", "fsetxattr", "removexattr", "lremovexattr", "fremovexattr",
		)},

		// Without options that send signals to any process (F_SETOWN).
		Group{"more fcntl", Allow, []Rule{{"fcntl", Where{is(1,
			fGetOwn, fGetSig, fGetOwnEx, fSetPipeSize, fAddSeals, fDupFDQuery, fCreatedQuery, fGetRWHint, fSetRWHint)}}}},

		// A process that hides from the Runner cannot be watched.
		Group{"dumpable", Allow, []Rule{{"prctl", Where{is(0, prSetDumpable), is(1, 1)}}}},

		// Pairs of local sockets. Those with an address need connect or bind, except
		// datagrams, whose address is in memory. A send may have no address either: it
		// would be in a register.
		Group{"local sockets", Allow, []Rule{
			{"socket", Where{is(0, afUnix), connectedType, is(2, 0, afUnix)}},
			{"socketpair", Where{is(0, afUnix), connectedType, is(2, 0, afUnix)}},
			{"sendto", Where{is(4, 0)}},
		}},
		// A TCP socket that is already connected to the proxy, and nothing else.
		Group{"asked sockets", Ask, []Rule{
			{"socket", Where{is(0, afInet, afInet6), ignoring(1, sockNonblock|sockCloexec, sockStream, sockDgram), is(2, 0, protoTCP, protoUDP)}},
			{"connect", Always{}},
		}},
		// The system's log, multipath TCP, and the host's interfaces. Callers can do
		// without.
		Group{"other sockets", NoSys, []Rule{
			{"socket", Where{is(0, afInet, afInet6), ignoring(1, sockNonblock|sockCloexec, sockStream), is(2, protoMPTCP)}},
			{"socket", Where{is(0, afUnix), ignoring(1, sockNonblock|sockCloexec, sockDgram), is(2, 0, afUnix)}},
			{"socket", Where{is(0, afNetlink)}},
		}},
	)
}

// connectedType is the type of a local socket that sends only to where it is connected.
var connectedType = ignoring(1, sockNonblock|sockCloexec, sockStream, sockSeqpacket)

const (
	prioProcess   = 0 // PRIO_PROCESS
	ioprioProcess = 1 // IOPRIO_WHO_PROCESS
)

// needNamespaces are the calls whose rules rely on a namespace or a private root.
var needNamespaces = slices.Concat(
	[]string{"setpriority", "ioprio_set", "sched_setaffinity", "sched_setparam", "sched_setscheduler"},
	[]string{"chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat"},
	[]string{"utime", "utimes", "futimesat", "utimensat"},
	[]string{"setxattr", "lsetxattr", "fsetxattr", "removexattr", "lremovexattr", "fremovexattr"},
	[]string{"inotify_add_watch"}, // shows what happens in any directory
	[]string{"shmget", "shmat", "shmdt", "shmctl", "semget", "semop", "semtimedop", "semctl", "msgget", "msgsnd", "msgrcv", "msgctl"},
	[]string{"mq_open", "mq_unlink", "mq_timedsend", "mq_timedreceive", "mq_notify", "mq_getsetattr"},
	[]string{"socket", "socketpair", "bind", "listen", "connect", "sendto"},
)

// unscopedCalls can send signals to any process of the user, or leave the process group.
var unscopedCalls = []string{
	"kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_open", "pidfd_send_signal",
	"setsid", "setpgid",
}

// except returns the groups without the rules of some calls, and without the groups and
// rules that sharedRules replaces.
func except(groups []Group, names []string) []Group {
	var kept []Group
	for _, g := range groups {
		if g.Name == "more fcntl" || g.Name == "interfaces" {
			continue
		}
		g.Rules = slices.DeleteFunc(slices.Clone(g.Rules), func(r Rule) bool {
			return slices.Contains(names, r.Call) || r.isAbout("prctl", prSetDumpable)
		})
		if len(g.Rules) > 0 {
			kept = append(kept, g)
		}
	}
	return kept
}

// isAbout reports whether a rule is for one value of the first argument of a call.
func (r Rule) isAbout(call string, value uint64) bool {
	where, conditional := r.When.(Where)
	return r.Call == call && conditional && slices.Equal(where[0].Values, []uint64{value}) && where[0].Arg == 0
}
