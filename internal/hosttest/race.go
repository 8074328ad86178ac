//go:build race

package hosttest

// UnderRace reports whether the race detector is on. Real programs take long with it, and
// so does the program that makes the attempts; it sees neither walls nor guests.
const UnderRace = true
