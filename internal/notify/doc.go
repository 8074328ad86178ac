// Package notify receives the system calls that the filter denies. The kernel stops the
// caller and reports the call on a listener descriptor. See seccomp_unotify(2).
package notify
