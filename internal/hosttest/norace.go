//go:build !race

package hosttest

// UnderRace reports whether the race detector is on.
const UnderRace = false
