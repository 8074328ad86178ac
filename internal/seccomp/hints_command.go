package seccomp

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
