package hints

import "github.com/cordon-sandbox/cordon/run"

// The codes for system calls of other families than those that internal/seccomp lists.
const (
	ScriptOther  run.HintCode = "script_other"
	CommandOther run.HintCode = "command_other"
)

// OtherKernel is for system calls that gVisor does not have.
const OtherKernel run.HintCode = "other_kernel"

var gvisorCalls = table{
	OtherKernel: everyone("gVisor's kernel does not have this system call: programs that can do without work; for others, use another tier"),
}

// scriptCalls are for system calls that scripts are denied. The reader is the author of
// the script, often a model that will otherwise try the next library with the same need:
// what the denial means, and what to do instead.
var scriptCalls = table{
	"script_network":        everyone("network access is not available in this sandbox: pass the data in as input, and return what should be sent as the result"),
	"socket_pair":           everyone("only plain pairs of local sockets exist in this sandbox: use socket.socketpair() without options, a queue or a pipe between threads"),
	"pass_descriptor":       everyone("descriptors cannot be passed between processes in this sandbox: use read and write, or a queue between threads"),
	"start_process":         everyone("processes and programs cannot be started in this sandbox: do the work in Python itself, and use threads (concurrent.futures.ThreadPoolExecutor) instead of subprocess or multiprocessing"),
	"inspect_process":       everyone("other processes cannot be inspected or controlled from this sandbox: use what Python offers inside its own process (faulthandler, tracemalloc, sys.settrace)"),
	"send_signal":           everyone("signals can only be sent to this process itself: use os.kill(os.getpid(), …) or an event between threads"),
	"script_mount":          everyone("mounts and namespaces belong to the host and cannot be changed from this sandbox: work with the files that are there, and write under /tmp"),
	"change_owner":          everyone("users, groups and owners cannot be changed in this sandbox: leave files and the process with the user they have"),
	"make_special_file":     everyone("devices, FIFOs and extended attributes cannot be created in this sandbox: use plain files under /tmp, or os.pipe()"),
	"change_limits":         everyone("limits and priorities are set by whoever runs this sandbox and cannot be changed from inside: do with what is granted, or ask for more in the request"),
	"share_memory":          everyone("shared memory between processes is not available in this sandbox: threads share memory anyway; use plain objects, mmap of a file under /tmp, or numpy arrays"),
	"lock_file":             everyone("whole-file locks reach other runs through shared files and are not available in this sandbox: use fcntl.lockf, or a lock of the threading module"),
	"watch_files":           everyone("watching files is not available in this sandbox: look at the file again (os.stat) when its state matters"),
	"kernel_io":             everyone("this kernel interface is not available in this sandbox: use ordinary reads, writes and select or asyncio"),
	"script_kernel":         everyone("this kernel feature is closed to sandboxed code, and no library for ordinary work needs it: choose another way that stays inside Python"),
	"script_admin":          everyone("the machine itself cannot be administered from this sandbox: return what should be changed as the result and let the caller do it"),
	"script_descriptor":     everyone("this descriptor operation is not allowed in this sandbox: only flags, duplication, locks and size of a descriptor can be asked or set"),
	"script_device":         everyone("this device operation is not allowed in this sandbox: terminals and devices cannot be controlled, only ordinary files, pipes and sockets read and written"),
	"script_process_option": everyone("this process option cannot be changed in this sandbox: only the name of a thread can be set"),
	ScriptOther:             everyone("this system call is not on the list of what sandboxed Python may use: choose another way that stays inside Python"),
}

// commandCalls are for system calls that commands are denied. The reader runs a program
// and often cannot change it: they name the option of the program that avoids the call.
var commandCalls = table{
	"set_user_id":            everyone("the set-user-id and set-group-id bits cannot be set in this sandbox: leave them out of the mode"),
	"raw_socket":             everyone("only TCP, UDP and local sockets exist in this sandbox, no raw, packet, ping or other kernel protocols: use curl or a TCP connection to see whether a host answers, and /proc/net to look at connections"),
	"socket_option":          everyone("this socket option is closed to sandboxed programs (packet filters, netfilter tables, kernel TLS, IPsec and their like): leave the option at its default, or switch off the feature that sets it"),
	"debugger":               everyone("debuggers and tracers cannot be used in this sandbox (gdb, strace, ltrace, perf; the leak check of AddressSanitizer traces too: set ASAN_OPTIONS=detect_leaks=0): use log output, core files of the program itself or sanitizers without the leak check"),
	"nested_sandbox":         everyone("nested sandboxes and containers cannot be made in this sandbox (unshare, bwrap, docker, a browser's own sandbox): run the program directly, with its own sandbox switched off (--no-sandbox, --disable-sandbox)"),
	"command_mount":          everyone("mounts and roots belong to the host and cannot be changed from this sandbox: unpack an archive instead of mounting it, and work with the files that are there"),
	"make_device":            everyone("devices and set-user-id files cannot be made in this sandbox: use the devices that /dev has, a FIFO, or a plain file, and leave the set-user-id and set-group-id bits out of its mode"),
	"keyring":                everyone("kernel keyrings are shared with the host and not available in this sandbox: keep the secret in a file or in memory, for Kerberos with a FILE: credential cache"),
	"others_limits":          everyone("the limits of other processes cannot be read or set in this sandbox: set limits in the process itself before it starts its program (ulimit)"),
	"real_time":              everyone("real-time scheduling is not available in this sandbox: run with the ordinary priority, or a lower one (nice, chrt --batch 0, chrt --idle 0)"),
	"personality":            everyone("only the ordinary Linux personality exists in this sandbox, with or without random addresses (setarch -R): run the program without linux32, --uname-2.6 and other personalities"),
	"fallocate":              everyone("this kind of fallocate is not available in this sandbox: write to the file instead"),
	"special_memory":         everyone("huge pages and secret memory are not available in this sandbox: use ordinary memory"),
	"command_device":         everyone("this device or terminal operation is not allowed in this sandbox: terminals can be used and made but nothing typed into them for others, files copied and read but not given kernel flags, network interfaces listed but not changed"),
	"command_descriptor":     everyone("this descriptor operation is not allowed in this sandbox: leases and directory signals do not exist, use a lock (flock) or inotify"),
	"command_process_option": everyone("this process option cannot be changed in this sandbox: leave it as it is, programs work without it"),
	"install_filter":         everyone("a filter with this operation or flag cannot be installed in this sandbox: install one without a listener, or switch off the program's own sandbox"),
	"watch_file_system":      everyone("watching whole file systems is not available in this sandbox: watch single directories with inotify"),
	"command_admin":          everyone("the machine itself cannot be administered from this sandbox: leave its clock, name, log and kernel to whoever runs it"),
	"command_kernel":         everyone("this kernel feature is closed to sandboxed programs, and ordinary work does not need it: look for an option of the program that does without"),
	"cgroup_memory": {
		Embedder:    needsCgroup + " (cordon doctor says why): " + sharedMemory,
		CommandLine: needsCgroup + " (cordon doctor says why): " + sharedMemory,
		Agent:       needsCgroup + ": " + sharedMemory,
	},
	"host_process": everyone("this host gives commands no processes of their own, so signals and priorities reach only the command itself: leave other processes alone"),
	"host_file":    everyone("only files that the command may write can change their mode, owner or times: copy the file to the workspace first"),
	"host_socket":  everyone("this host gives commands no network of their own, so only pairs of local sockets work, and a proxy if hosts are granted: use pipes between processes"),
	"host_ipc":     everyone("message queues, semaphores and shared memory segments would be shared with the host: use pipes, files or shared memory that is mapped"),
	"host_watch":   everyone("watching files would show what happens in directories of the host: look at the files again from time to time (polling)"),
	CommandOther:   everyone("this system call is not on the list of what sandboxed programs may use: look for an option of the program that does without, or for another program"),
}

const (
	needsCgroup  = "shared memory segments of a page and more need a memory cgroup, which cordon has none of here"
	sharedMemory = "use a file in /dev/shm, or shared memory that is mapped"
)
