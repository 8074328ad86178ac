package backend

import (
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// RefuseStrangers refuses third-party code on systems whose walls are not enough for it:
// what Seatbelt and job objects leave open (mach services, the whole of the system call
// table, other processes' names) is more than a stranger may have.
func RefuseStrangers(system string, p policy.Policy, trust policy.Trust) error {
	if system == "linux" || trust != policy.TrustThirdParty && (trust != "" || p.Trust != policy.TrustThirdParty) {
		return nil
	}
	return run.Errorf(run.Unsupported, "third-party code is refused here: the walls of %s are not strong enough for it. "+
		"A Linux virtual machine is, with cordon inside (deploy/lima.yaml has one for macOS; on Windows, WSL 2 is one); "+
		"Python and modules that you trust like a user's can run on tier wasm, which is the same on every system", systemNames[system])
}

// systemNames are for people.
var systemNames = map[string]string{"darwin": "macOS", "windows": "Windows"}
