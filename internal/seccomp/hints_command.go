package seccomp

import (
	"slices"
	"strings"
)

// commandAdvices address the person who runs a program and often cannot change it: they
// name the option of the program that avoids the call.
var commandAdvices = []advice{
	{"set_user_id",
		`open openat creat chmod fchmod fchmodat fchmodat2`},
	{"raw_socket",
		`socket socketpair`},
	{"socket_option",
		`setsockopt getsockopt`},
	{"debugger",
		`ptrace process_vm_readv process_vm_writev process_madvise process_mrelease
		pidfd_getfd kcmp get_robust_list perf_event_open`},
	{"nested_sandbox",
		`unshare setns clone`},
	{"command_mount",
		`mount umount2 pivot_root chroot fsopen fsconfig fsmount fspick move_mount open_tree
		open_tree_attr mount_setattr swapon swapoff quotactl quotactl_fd open_by_handle_at`},
	{"make_device",
		`mknod mknodat`},
	{"keyring",
		`keyctl add_key request_key`},
	{"others_limits",
		`prlimit64`},
	{"real_time",
		`sched_setscheduler`},
	{"personality",
		`personality`},
	{"fallocate",
		`fallocate`},
	{"special_memory",
		`memfd_create memfd_secret`},
	{"command_device",
		`ioctl`},
	{"command_descriptor",
		`fcntl`},
	{"command_process_option",
		`prctl arch_prctl`},
	{"install_filter",
		`seccomp`},
	{"watch_file_system",
		`fanotify_init fanotify_mark`},
	{"command_admin",
		`reboot kexec_load kexec_file_load init_module finit_module delete_module
		clock_settime clock_adjtime settimeofday adjtimex sethostname setdomainname
		acct syslog vhangup nfsservctl`},
	{"command_kernel",
		`bpf userfaultfd modify_ldt iopl ioperm lookup_dcookie remap_file_pages uselib`},
}

// watchedAdvices are for commands whose memory no cgroup counts.
var watchedAdvices = append([]advice{
	{"cgroup_memory",
		`shmget`},
}, commandAdvices...)

// sharedAdvices are for commands without namespaces.
var sharedAdvices = adviceOver(commandAdvices, []advice{
	{"host_process",
		`setpriority ioprio_set sched_setaffinity sched_setparam sched_setscheduler`},
	{"host_file",
		`chown fchown lchown fchownat utime utimes futimesat utimensat`},
	{"host_socket",
		`socket socketpair bind listen connect sendto`},
	{"host_ipc",
		`shmget shmat shmdt shmctl semget semop semtimedop semctl msgget msgsnd msgrcv msgctl
		mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify mq_getsetattr`},
	{"host_watch",
		`inotify_add_watch`},
})

// unscopedAdvices are for those whose signals the Runner checks.
var unscopedAdvices = adviceOver(sharedAdvices, []advice{
	{"host_process",
		`kill tkill tgkill rt_sigqueueinfo rt_tgsigqueueinfo pidfd_open pidfd_send_signal setsid setpgid`},
})

// adviceOver returns advices with those of a more general list for all other calls.
func adviceOver(general, special []advice) []advice {
	has := map[string]bool{}
	for _, a := range special {
		for _, call := range strings.Fields(a.calls) {
			has[call] = true
		}
	}
	for _, a := range general {
		rest := slices.DeleteFunc(strings.Fields(a.calls), func(call string) bool { return has[call] })
		if len(rest) > 0 {
			special = append(special, advice{a.hint, strings.Join(rest, " ")})
		}
	}
	return special
}
