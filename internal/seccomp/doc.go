// Package seccomp defines which system calls untrusted code may make. The rules are
// typed data, compiled ahead of time into BPF programs that are embedded. [Script] is
// the profile for CPython, without processes and sockets. [Command] is for any program
// in its own namespaces; [Watched] is Command for hosts without a memory cgroup.
//
// Tasks:
//
//   - Install the filter: [Program] returns the bytes for a [Profile], this machine and
//     a [Mode], to be passed to seccomp(2). [Digest] identifies them in a report.
//   - Answer a notification: for scripts, [IsThread] reports whether a clone creates a
//     thread (count it, let it continue). Every other notification is a denial.
//     [Violation] decodes it, with a hint for the author of the code.
//   - Change the rules: common rules are in rules.go, the others in rules_script.go and
//     the rules_command files. Edit, run go generate, and review the difference in
//     testdata/*.golden. Tests fail until the generated files are up to date.
//
// How it is built. [RulesOf] is an allowlist: calls that it does not name are denied,
// including those of future kernels. The compile package compiles it to BPF with
// gVisor's compiler. That takes tens of milliseconds and links many packages, so only
// the generator and the tests do it.
//
// The answers of a program:
//
//	foreign ABI (i386, x32, AArch32)  the process is killed
//	a call the rules allow            the kernel continues
//	a probe for a newer interface     ENOSYS, so that libc uses the older call
//	a script's clone of a thread      Notify: the host decides; Errno: allowed
//	everything else                   Notify: the host decides; Errno: EPERM
//
// What this does not stop. A filter sees numbers, never memory: it cannot judge paths
// (Landlock and the mounts do), nor the use of memory, time or output (limits do), nor
// bugs in allowed calls. PROT_EXEC is allowed, because loading a compiled module needs
// it. The pid namespace or Landlock stops signals to other processes of the same user,
// not this filter.
//
// Script: the rules on sendmsg and recvmsg hold only while no guest can own descriptor
// [ControlFD]. Code that starts a guest must close it first and set RLIMIT_NOFILE, soft
// and hard, at or below it. A guest may set its own limits, so only hard limits without
// CAP_SYS_RESOURCE bind it.
//
// Command: many of its calls are safe only in namespaces. Without a pid namespace,
// kill, F_SETOWN and setpriority reach the host's processes. Without a net namespace,
// sockets reach the host's network. Without an ipc namespace, queues are the host's.
// Without a memory cgroup, memory files and System V segments are unbounded; without
// RLIMIT_NPROC or a pids cgroup, processes are. The memory of a process is also a file,
// /proc/PID/mem: a supervisor that shares the guest's pid namespace and user must not be
// dumpable. The host's user shares its inotify instances and pipe pages with the guest.
package seccomp

//go:generate go run github.com/cordon-sandbox/cordon/internal/seccomp/gen
