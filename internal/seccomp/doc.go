// Package seccomp is the wall of system calls: what untrusted code may ask of the
// kernel, as typed data, compiled ahead of time into BPF and embedded. There are
// two of them: [Script] is for CPython, which has neither processes nor sockets,
// and [Command] for any program in namespaces of its own.
//
// Tasks:
//
//   - Install the wall: [Program] gives the bytes for a [Profile], this machine
//     and a [Mode]; hand them to whoever calls seccomp(2). [Digest] names them in
//     a report.
//   - Answer a notification: for scripts, [IsThread] says whether a clone is the
//     creation of a thread (count it, let it continue); anything else that
//     arrives is a denial. [Describe] decodes it and [Hint] tells its author what
//     to do.
//   - Change the wall: what both profiles have is in rules.go, what only one has in
//     rules_script.go and the rules_command files. Edit, run go generate, and read
//     the difference of testdata/*.golden. Tests fail until both are done.
//
// How it is built. [RulesOf] is an allowlist; what it does not name is denied,
// including every call that kernels will invent. The compile package turns it
// into BPF with gVisor's compiler. That takes tens of milliseconds and links
// many packages, so only the generator and the tests do it; this package
// imports the standard library alone.
//
// What a program answers:
//
//	foreign ABI (i386, x32, AArch32)  the process is killed
//	a call the rules allow            the kernel goes on
//	a probe for a newer interface     ENOSYS, so that libc takes its older call
//	a script's clone of a thread      Notify: the host decides; Errno: allowed
//	everything else                   Notify: the host decides; Errno: EPERM
//
// What this does not stop. A filter sees numbers, never memory: it cannot judge
// paths (Landlock and the mounts do), nor how much memory, time or output a
// guest uses (limits do), nor bugs in the calls that are allowed. PROT_EXEC
// stays possible, because loading a compiled module needs it. Signals to other
// processes of the same user are stopped by the pid namespace or Landlock, not
// here.
//
// Script: the rules on sendmsg and recvmsg hold only while no guest can own
// descriptor [ControlFD]: whoever starts a guest must keep RLIMIT_NOFILE at or
// below it (the hard limit too), and close it first. A guest may set its own
// limits, so only hard limits without CAP_SYS_RESOURCE bind it.
//
// Command: many of its calls are safe in namespaces only. Without a pid namespace
// kill, F_SETOWN and setpriority reach the host's processes; without a net
// namespace sockets reach the host's network; without an ipc namespace, its
// queues. Without a memory cgroup, memory files and System V segments are
// unbounded; without RLIMIT_NPROC or a pids cgroup, processes. A process's memory
// is also a file, /proc/PID/mem: a supervisor that shares the guest's pid
// namespace and user must not be dumpable. The number of inotify instances and
// pipe pages is counted for the host's user and shared with it.
package seccomp

//go:generate go run github.com/cordon-sandbox/cordon/internal/seccomp/gen
