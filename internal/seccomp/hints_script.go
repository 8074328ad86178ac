package seccomp

// scriptAdvices address the author of a script.
var scriptAdvices = []advice{
	{"script_network",
		`socket connect bind listen accept accept4 sendto recvfrom sendmmsg recvmmsg
		setsockopt getsockopt`},
	{"socket_pair",
		`socketpair`},
	{"pass_descriptor",
		`sendmsg recvmsg pidfd_getfd`},
	{"start_process",
		`clone clone3 fork vfork execve execveat setpgid`},
	{"inspect_process",
		`ptrace process_vm_readv process_vm_writev process_madvise process_mrelease
		pidfd_open pidfd_send_signal kcmp get_robust_list perf_event_open`},
	{"send_signal",
		`kill rt_sigqueueinfo rt_tgsigqueueinfo signalfd signalfd4`},
	{"script_mount",
		`mount umount2 pivot_root chroot unshare setns fsopen fsconfig fsmount fspick
		move_mount open_tree open_tree_attr mount_setattr statmount listmount listns
		swapon swapoff quotactl quotactl_fd name_to_handle_at open_by_handle_at sync syncfs`},
	{"change_owner",
		`setuid setgid setreuid setregid setresuid setresgid setgroups setfsuid setfsgid
		chown fchown lchown fchownat`},
	{"make_special_file",
		`mknod mknodat setxattr lsetxattr fsetxattr setxattrat removexattr lremovexattr
		fremovexattr removexattrat file_setattr`},
	{"change_limits",
		`setrlimit prlimit64 setpriority sched_setscheduler sched_setparam sched_setattr
		sched_setaffinity ioprio_set mlock mlock2 mlockall munlock munlockall
		set_mempolicy set_mempolicy_home_node migrate_pages move_pages`},
	{"share_memory",
		`memfd_create memfd_secret shmget shmat shmctl shmdt semget semop semctl semtimedop
		msgget msgsnd msgrcv msgctl mq_open mq_unlink mq_timedsend mq_timedreceive
		mq_notify mq_getsetattr`},
	{"lock_file",
		`flock`},
	{"watch_files",
		`inotify_init inotify_init1 inotify_add_watch inotify_rm_watch
		fanotify_init fanotify_mark`},
	{"kernel_io",
		`io_uring_setup io_uring_enter io_uring_register io_setup io_submit io_cancel
		io_destroy io_getevents io_pgetevents splice tee vmsplice readahead
		sync_file_range cachestat`},
	{"script_kernel",
		`bpf userfaultfd keyctl add_key request_key seccomp personality modify_ldt iopl
		ioperm arch_prctl lookup_dcookie pkey_alloc pkey_free pkey_mprotect
		remap_file_pages lsm_set_self_attr timer_create uselib`},
	{"script_admin",
		`reboot kexec_load kexec_file_load init_module finit_module delete_module
		clock_settime clock_adjtime settimeofday adjtimex sethostname setdomainname
		acct syslog vhangup nfsservctl`},
	{"script_descriptor",
		`fcntl`},
	{"script_device",
		`ioctl`},
	{"script_process_option",
		`prctl`},
}
