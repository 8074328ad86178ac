package seccomp

// scriptAdvices address the author of a script.
var scriptAdvices = []advice{
	{"network access is not available in this sandbox: pass the data in as input, and return what should be sent as the result",
		`socket connect bind listen accept accept4 sendto recvfrom sendmmsg recvmmsg
		setsockopt getsockopt`},
	{"only plain pairs of local sockets exist in this sandbox: use socket.socketpair() without options, a queue or a pipe between threads",
		`socketpair`},
	{"descriptors cannot be passed between processes in this sandbox: use read and write, or a queue between threads",
		`sendmsg recvmsg pidfd_getfd`},
	{"processes and programs cannot be started in this sandbox: do the work in Python itself, and use threads (concurrent.futures.ThreadPoolExecutor) instead of subprocess or multiprocessing",
		`clone clone3 fork vfork execve execveat setpgid`},
	{"other processes cannot be inspected or controlled from this sandbox: use what Python offers inside its own process (faulthandler, tracemalloc, sys.settrace)",
		`ptrace process_vm_readv process_vm_writev process_madvise process_mrelease
		pidfd_open pidfd_send_signal kcmp get_robust_list perf_event_open`},
	{"signals can only be sent to this process itself: use os.kill(os.getpid(), …) or an event between threads",
		`kill rt_sigqueueinfo rt_tgsigqueueinfo signalfd signalfd4`},
	{"mounts and namespaces belong to the host and cannot be changed from this sandbox: work with the files that are there, and write under /tmp",
		`mount umount2 pivot_root chroot unshare setns fsopen fsconfig fsmount fspick
		move_mount open_tree open_tree_attr mount_setattr statmount listmount listns
		swapon swapoff quotactl quotactl_fd name_to_handle_at open_by_handle_at sync syncfs`},
	{"users, groups and owners cannot be changed in this sandbox: leave files and the process with the user they have",
		`setuid setgid setreuid setregid setresuid setresgid setgroups setfsuid setfsgid
		chown fchown lchown fchownat`},
	{"devices, FIFOs and extended attributes cannot be created in this sandbox: use plain files under /tmp, or os.pipe()",
		`mknod mknodat setxattr lsetxattr fsetxattr setxattrat removexattr lremovexattr
		fremovexattr removexattrat file_setattr`},
	{"limits and priorities are set by whoever runs this sandbox and cannot be changed from inside: do with what is granted, or ask for more in the request",
		`setrlimit prlimit64 setpriority sched_setscheduler sched_setparam sched_setattr
		sched_setaffinity ioprio_set mlock mlock2 mlockall munlock munlockall
		set_mempolicy set_mempolicy_home_node migrate_pages move_pages`},
	{"shared memory between processes is not available in this sandbox: threads share memory anyway; use plain objects, mmap of a file under /tmp, or numpy arrays",
		`memfd_create memfd_secret shmget shmat shmctl shmdt semget semop semctl semtimedop
		msgget msgsnd msgrcv msgctl mq_open mq_unlink mq_timedsend mq_timedreceive
		mq_notify mq_getsetattr`},
	{"whole-file locks reach other runs through shared files and are not available in this sandbox: use fcntl.lockf, or a lock of the threading module",
		`flock`},
	{"watching files is not available in this sandbox: look at the file again (os.stat) when its state matters",
		`inotify_init inotify_init1 inotify_add_watch inotify_rm_watch
		fanotify_init fanotify_mark`},
	{"this kernel interface is not available in this sandbox: use ordinary reads, writes and select or asyncio",
		`io_uring_setup io_uring_enter io_uring_register io_setup io_submit io_cancel
		io_destroy io_getevents io_pgetevents splice tee vmsplice readahead
		sync_file_range cachestat`},
	{"this kernel feature is closed to sandboxed code, and no library for ordinary work needs it: choose another way that stays inside Python",
		`bpf userfaultfd keyctl add_key request_key seccomp personality modify_ldt iopl
		ioperm arch_prctl lookup_dcookie pkey_alloc pkey_free pkey_mprotect
		remap_file_pages lsm_set_self_attr timer_create uselib`},
	{"the machine itself cannot be administered from this sandbox: return what should be changed as the result and let the caller do it",
		`reboot kexec_load kexec_file_load init_module finit_module delete_module
		clock_settime clock_adjtime settimeofday adjtimex sethostname setdomainname
		acct syslog vhangup nfsservctl`},
	{"this descriptor operation is not allowed in this sandbox: only flags, duplication, locks and size of a descriptor can be asked or set",
		`fcntl`},
	{"this device operation is not allowed in this sandbox: terminals and devices cannot be controlled, only ordinary files, pipes and sockets read and written",
		`ioctl`},
	{"this process option cannot be changed in this sandbox: only the name of a thread can be set",
		`prctl`},
}

// scriptOtherHint is for calls without a family, and for numbers without a name.
const scriptOtherHint = "this system call is not on the list of what sandboxed Python may use: choose another way that stays inside Python"
