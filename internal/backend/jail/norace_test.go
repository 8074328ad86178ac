//go:build !race

package jail

// UnderRace is true with the race detector.
const UnderRace = false
