//go:build !linux || (!amd64 && !arm64)

package seccomp

// No program: [Program] refuses.
const (
	scriptNotify  = ""
	scriptErrno   = ""
	commandNotify = ""
	commandErrno  = ""
	watchedNotify = ""
	watchedErrno  = ""
	sharedNotify  = ""
	sharedErrno   = ""

	unscopedNotify = ""
	unscopedErrno  = ""
	gvisorNotify   = ""
	gvisorErrno    = ""

	networkedNotify = ""
	networkedErrno  = ""
)
