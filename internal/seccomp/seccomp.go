package seccomp

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"runtime"
)

// Mode selects what answers a denied call.
type Mode string

const (
	// Notify passes denied calls, and a script's new threads, to the host through a
	// seccomp listener. It needs Linux 5.0, and 5.5 to let threads continue. The
	// guest waits until the host answers.
	Notify Mode = "notify"
	// Errno answers EPERM in the kernel. Attempts are not reported, and only limits
	// bound threads.
	Errno Mode = "errno"
)

// ControlFD is the only descriptor on which a script's sendmsg and recvmsg are allowed.
// They pass descriptors between processes, which the fork server needs and a guest must
// not be able to do.
const ControlFD = 1020

// MountNSFD and PIDNSFD are the only descriptors that a script's setns may use.
const (
	MountNSFD = 1021
	PIDNSFD   = 1022
)

// instructionSize is sizeof(struct sock_filter).
const instructionSize = 8

// maxInstructions is the kernel's BPF_MAXINSNS.
const maxInstructions = 4096

// Program returns the filter of a profile for this machine: an array of struct
// sock_filter, little-endian, eight bytes each. The caller owns the bytes.
func Program(profile Profile, mode Mode) ([]byte, error) {
	var notify, errno, prog string
	switch profile {
	case Script:
		notify, errno = scriptNotify, scriptErrno
	case Networked:
		notify, errno = networkedNotify, networkedErrno
	case Command:
		notify, errno = commandNotify, commandErrno
	case Watched:
		notify, errno = watchedNotify, watchedErrno
	case Shared:
		notify, errno = sharedNotify, sharedErrno
	case Unscoped:
		notify, errno = unscopedNotify, unscopedErrno
	case GVisor:
		notify, errno = gvisorNotify, gvisorErrno
	default:
		return nil, fmt.Errorf("seccomp: unknown profile %q (want one of %q)", profile, Profiles())
	}
	switch mode {
	case Notify:
		prog = notify
	case Errno:
		prog = errno
	default:
		return nil, fmt.Errorf("seccomp: unknown mode %q (want %q or %q)", mode, Notify, Errno)
	}
	if prog == "" {
		return nil, fmt.Errorf("seccomp: no program for %s/%s, only for linux/amd64 and linux/arm64", runtime.GOOS, runtime.GOARCH)
	}
	if len(prog)%instructionSize != 0 || len(prog)/instructionSize > maxInstructions {
		return nil, fmt.Errorf("seccomp: the embedded program of %d bytes is damaged; run go generate ./internal/seccomp", len(prog))
	}
	return []byte(prog), nil
}

// Digest returns a short hash of a program, which a report shows, and which the host
// compares with that of the planned program.
func Digest(prog []byte) string {
	sum := sha256.Sum256(prog)
	return hex.EncodeToString(sum[:8])
}
