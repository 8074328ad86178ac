//go:build !linux

package attack

// plantHost adds nothing here: on other systems the attempts use only files, the
// environment and the limits, and those that need more report it as missing.
func (c *Canaries) plantHost() error { return nil }

func (c *Canaries) awaitEffects() {}
