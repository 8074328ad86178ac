//go:build race

package hosttest

// UnderRace reports whether the race detector is on. Real programs and the program that
// makes the attempts are slow with it, and it checks neither walls nor guests.
const UnderRace = true
