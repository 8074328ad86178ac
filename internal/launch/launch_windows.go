package launch

import "github.com/cordon-sandbox/cordon/run"

// New refuses until there is a launcher.
func New() (Launcher, error) {
	return nil, run.Errorf(run.Unsupported, "tiers process and jail need Linux or macOS: use tier wasm, or run cordon in a Linux virtual machine")
}
