package seccomp

// commandAdvices address the person who runs a program and often cannot change it: they
// name the option of the program that avoids the call.
var commandAdvices = []advice{
	{"the set-user-id and set-group-id bits cannot be set in this sandbox: leave them out of the mode",
		`open openat creat chmod fchmod fchmodat fchmodat2`},
	{"only TCP, UDP and local sockets exist in this sandbox, no raw, packet, ping or other kernel protocols: use curl or a TCP connection to see whether a host answers, and /proc/net to look at connections",
		`socket socketpair`},
	{"this socket option is closed to sandboxed programs (packet filters, netfilter tables, kernel TLS, IPsec and their like): leave the option at its default, or switch off the feature that sets it",
		`setsockopt getsockopt`},
	{"debuggers and tracers cannot be used in this sandbox (gdb, strace, ltrace, perf; the leak check of AddressSanitizer traces too: set ASAN_OPTIONS=detect_leaks=0): use log output, core files of the program itself or sanitizers without the leak check",
		`ptrace process_vm_readv process_vm_writev process_madvise process_mrelease
		pidfd_getfd kcmp get_robust_list perf_event_open`},
	{"nested sandboxes and containers cannot be made in this sandbox (unshare, bwrap, docker, a browser's own sandbox): run the program directly, with its own sandbox switched off (--no-sandbox, --disable-sandbox)",
		`unshare setns clone`},
	{"mounts and roots belong to the host and cannot be changed from this sandbox: unpack an archive instead of mounting it, and work with the files that are there",
		`mount umount2 pivot_root chroot fsopen fsconfig fsmount fspick move_mount open_tree
		open_tree_attr mount_setattr swapon swapoff quotactl quotactl_fd open_by_handle_at`},
	{"devices and set-user-id files cannot be made in this sandbox: use the devices that /dev has, a FIFO, or a plain file, and leave the set-user-id and set-group-id bits out of its mode",
		`mknod mknodat`},
	{"kernel keyrings are shared with the host and not available in this sandbox: keep the secret in a file or in memory, for Kerberos with a FILE: credential cache",
		`keyctl add_key request_key`},
	{"the limits of other processes cannot be read or set in this sandbox: set limits in the process itself before it starts its program (ulimit)",
		`prlimit64`},
	{"real-time scheduling is not available in this sandbox: run with the ordinary priority, or a lower one (nice, chrt --batch 0, chrt --idle 0)",
		`sched_setscheduler`},
	{"only the ordinary Linux personality exists in this sandbox, with or without random addresses (setarch -R): run the program without linux32, --uname-2.6 and other personalities",
		`personality`},
	{"this kind of fallocate is not available in this sandbox: write to the file instead",
		`fallocate`},
	{"huge pages and secret memory are not available in this sandbox: use ordinary memory",
		`memfd_create memfd_secret`},
	{"this device or terminal operation is not allowed in this sandbox: terminals can be used and made but nothing typed into them for others, files copied and read but not given kernel flags, network interfaces listed but not changed",
		`ioctl`},
	{"this descriptor operation is not allowed in this sandbox: leases and directory signals do not exist, use a lock (flock) or inotify",
		`fcntl`},
	{"this process option cannot be changed in this sandbox: leave it as it is, programs work without it",
		`prctl arch_prctl`},
	{"a filter with this operation or flag cannot be installed in this sandbox: install one without a listener, or switch off the program's own sandbox",
		`seccomp`},
	{"watching whole file systems is not available in this sandbox: watch single directories with inotify",
		`fanotify_init fanotify_mark`},
	{"the machine itself cannot be administered from this sandbox: leave its clock, name, log and kernel to whoever runs it",
		`reboot kexec_load kexec_file_load init_module finit_module delete_module
		clock_settime clock_adjtime settimeofday adjtimex sethostname setdomainname
		acct syslog vhangup nfsservctl`},
	{"this kernel feature is closed to sandboxed programs, and ordinary work does not need it: look for an option of the program that does without",
		`bpf userfaultfd modify_ldt iopl ioperm lookup_dcookie remap_file_pages uselib`},
}

// watchedAdvices are for commands whose memory no cgroup counts.
var watchedAdvices = append([]advice{
	{"shared memory segments of a page and more need a memory cgroup, which cordon has none of here (cordon doctor says why): use a file in /dev/shm, or shared memory that is mapped",
		`shmget`},
}, commandAdvices...)

// commandOtherHint is for calls without a family, and for numbers without a name.
const commandOtherHint = "this system call is not on the list of what sandboxed programs may use: look for an option of the program that does without, or for another program"
