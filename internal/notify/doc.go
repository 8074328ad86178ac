// Package notify receives the system calls that the filter denies: the kernel stops the
// caller and asks a descriptor of ours. See seccomp_unotify(2).
package notify
