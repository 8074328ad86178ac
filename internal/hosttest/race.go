//go:build race

package hosttest

// underRace reports whether the race detector is on.
const underRace = true
