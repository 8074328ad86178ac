// Package runsc describes sandboxes of gVisor for its program runsc: which program, with
// which arguments, and with which bundle of the Open Container Initiative. It starts
// nothing.
//
// gVisor is a kernel in user space. Its process, the sentry, answers the system calls of
// the guest, and makes few of its own to the host's kernel. Another process, the gofer,
// opens files for it. runsc starts both.
package runsc
