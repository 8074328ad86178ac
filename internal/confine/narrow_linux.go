package confine

import "github.com/cordon-sandbox/cordon/internal/hostfeature"

// Narrower removes a feature that the host seemed to have and then refused. It returns
// false if a plan without it would fail in the same way. Whether the rest is enough is up
// to the policy.
func Narrower(f hostfeature.Features, refused *SetupError) (hostfeature.Features, bool) {
	switch {
	case f.UserNS.OK && refused.Namespace:
		f.UserNS = hostfeature.DeniedUserNS(hostfeature.Refusal{Step: refused.Step, Errno: refused.Errno, Err: refused})
	case f.SeccompNotify.OK && refused.Step == "seccomp":
		// A container whose own filter has a listener leaves no room for another
		// listener.
		f.Seccomp = hostfeature.Yes("violations are not observed")
		f.SeccompNotify = hostfeature.No(refused.Error(), "")
	default:
		return f, false
	}
	return f, true
}
