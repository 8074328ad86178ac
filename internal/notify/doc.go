// Package notify is how the Runner hears of system calls that the filter denies:
// the kernel stops the caller and asks a descriptor of ours. See
// seccomp_unotify(2).
package notify
