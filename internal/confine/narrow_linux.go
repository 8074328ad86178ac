package confine

import "github.com/cordon-sandbox/cordon/internal/hostfeature"

// Narrower takes away the feature that a host seemed to have, and refused after
// all. It is false if a plan without it would fail in the same way. Whether what is
// left is enough is the policy's decision.
func Narrower(f hostfeature.Features, refused *SetupError) (hostfeature.Features, bool) {
	switch {
	case f.UserNS.OK && refused.Namespace:
		f.UserNS = hostfeature.DeniedUserNS(hostfeature.Refusal{Step: refused.Step, Errno: refused.Errno, Err: refused})
	case f.SeccompNotify.OK && refused.Step == "seccomp":
		// A container that listens to its own filter leaves no room for another
		// listener.
		f.Seccomp = hostfeature.Yes("violations are not observed")
		f.SeccompNotify = hostfeature.No(refused.Error(), "")
	default:
		return f, false
	}
	return f, true
}
